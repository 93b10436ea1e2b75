/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "builder_store.h"

#include <stdio.h>

const char *builder_place_text(struct place place, char *buffer, size_t size)
{
	buffer[0] = '\0';
	if (place.file && place.line)
		snprintf(buffer, size, "%s:%u: ", place.file, place.line);
	else if (place.file)
		snprintf(buffer, size, "%s: ", place.file);
	return buffer;
}
