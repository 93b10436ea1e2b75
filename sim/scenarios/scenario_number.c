/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario_number.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

int scenario_number(const char *text, double *out, struct hd_error *err)
{
	char *end;
	double number = strtod(text, &end);
	bool begun = end != text;

	if (begun && *end == '/') {
		const char *below = end + 1;
		double divisor = strtod(below, &end);
		begun = end != below && divisor != 0;
		number /= divisor;
	}
	while (begun && *end == ' ')
		end++;
	if (begun && *end == '%') {
		number /= 100;
		end++;
	}
	if (!begun || *end || !isfinite(number))
		return hd_error_set(err, -EINVAL, "'%s' is no number, fraction or percentage",
				    text);
	*out = number;
	return 0;
}

int scenario_number_check(const char *text, struct hd_error *err)
{
	double value;

	return scenario_number(text, &value, err);
}
