/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario_interval.h"

#include <math.h>

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))

double scenario_interval_t(uint32_t freedom)
{
	static const double quantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
					   2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
					   2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
					   2.060,  2.056, 2.052, 2.048, 2.045, 2.042};

	/* the beginning of the expansion in 1 / freedom is good to 0.001 from there on */
	return freedom <= COUNT(quantiles) ? quantiles[freedom - 1]
					   : 1.95996 + 2.3722 / freedom + 2.82 / freedom / freedom;
}

/* The standard deviation of the largest of n draws from a standard normal distribution. */
static double deviation_of_extreme(uint32_t count)
{
	static const double exact[] = {1,     .8256, .7480, .7012, .6690,
				       .6449, .6260, .6107, .5978, .5868};

	/* beyond, a fit within 1%: exact are .5251 for 20, .4929 for 30, .4294 for 100 */
	return count <= COUNT(exact) ? exact[count - 1] : .5868 * pow(log(10) / log(count), .4525);
}

double scenario_interval_half(enum hd_statistic statistic, uint32_t count, double deviation)
{
	if (count < 2)
		return 0;
	double share =
	    statistic == HD_STATISTIC_MEAN ? 1 / sqrt(count) : deviation_of_extreme(count);
	return scenario_interval_t(count - 1) * deviation * share;
}
