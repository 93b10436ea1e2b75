/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of pairs as users write them: "A>B, C>D@5s, E>F@1s-2s", or a file with a pair a line. */
#ifndef TRAFFIC_PAIRS_H
#define TRAFFIC_PAIRS_H

#include "traffic.h"

struct traffic_pair {
	uint32_t source, destination; /* endpoints, never the same */
	uint64_t from, to; /* ps; 0 and HD_SIM_NEVER if not given */
};

/* Reads a text, or "file:PATH" with lines "SOURCE DESTINATION [FROM-TO]". Times are refused unless
 * `timed`. *pairs is freed with free(), also after an error. Errors: -EINVAL with the pair or the
 * line, the errno of the file, -ENOMEM. */
int pairs_read(const struct hd_traffic *traffic, const char *text, bool timed,
	       struct traffic_pair **pairs, uint32_t *count, struct hd_error *err);

#endif
