/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random fabrics of every generator, intact and damaged. Each is a function of its number. */
#ifndef CONFORMANCE_SAMPLE_H
#define CONFORMANCE_SAMPLE_H

#include <heddle/fabric.h>

struct sample {
	struct hd_fabric *fabric;
	const char *kind; /* generator */
	char recipe[400]; /* options of the generator, and what was done to the result */
	bool tree; /* a fat tree before it was damaged */
	bool intact; /* nothing was taken away or added */
	bool aggregation; /* an aggregation node in every switch */
	bool upper_hosts; /* hosts were added above the leaves */
	uint8_t *level; /* trees: [switch_count] level in the undamaged tree, 0 = leaf */
	unsigned lmc;
};

/* Number of kinds, and the generator's name of each. */
unsigned sample_kinds(void);
const char *sample_kind(unsigned kind);

/* From this number on the fabrics are HyperX, Slim Fly, Dragonfly and Jellyfish, before it the others. */
#define SAMPLE_DIRECT UINT64_C(5000000)

/* Which kind the fabric of that number has, 0 .. sample_kinds() - 1. */
unsigned sample_kind_of(uint64_t number);

/* From this number on the fabrics are those from 0 on with an aggregation node in every switch. */
#define SAMPLE_AGGREGATION UINT64_C(9000000)

/* The fabric of that number. 0, or a negative errno with a reason. */
int sample_draw(uint64_t number, struct sample *out, struct hd_error *err);
void sample_release(struct sample *sample);

#endif
