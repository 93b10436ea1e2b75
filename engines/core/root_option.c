/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "root_option.h"

#include <errno.h>
#include <stdlib.h>

bool root_option_guid(const char *text, uint64_t *guid)
{
	char *end;

	errno = 0;
	*guid = strtoull(text, &end, 16);
	return end != text && !*end && !errno && text[0] != '-';
}
