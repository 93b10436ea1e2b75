/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers that the fuzz targets share. */
#ifndef FUZZING_H
#define FUZZING_H

#include <heddle/fabric.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reports a finding unless the condition is true. */
static inline void demand(bool holds)
{
	if (!holds)
		abort();
}

/* The fabric in `text`, read at the first call. Each call must pass the same text. */
static inline const struct hd_fabric *fabric_of(const char *topology)
{
	static struct hd_fabric *fabric;

	if (!fabric)
		demand(hd_fabric_parse(topology, strlen(topology), "topo", NULL, &fabric, NULL) ==
		       0);
	return fabric;
}

#endif
