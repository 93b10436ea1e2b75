/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registry of generators. */
#include "generate_internal.h"

#include <string.h>

static const struct hd_generator *const generators[] = {
    &generate_xgft,	 &generate_kary_ntree,	 &generate_rlft,      &generate_torus,
    &generate_mesh,	 &generate_hypercube,	 &generate_irregular, &generate_dragonfly_plus,
    &generate_directors, &generate_interconnect,
};

const struct hd_generator *const *hd_generators(unsigned *count)
{
	*count = sizeof(generators) / sizeof(generators[0]);
	return generators;
}

const struct hd_generator *hd_generator_find(const char *name)
{
	for (size_t i = 0; i < sizeof(generators) / sizeof(generators[0]); i++)
		if (!strcmp(generators[i]->name, name))
			return generators[i];
	return NULL;
}
