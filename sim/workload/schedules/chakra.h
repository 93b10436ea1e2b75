/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chakra execution traces as schedules. Source: the schema of github.com/mlcommons/chakra; sizes of
 * collective operations are as in the simulator ASTRA-sim, which reads these traces.
 */
#ifndef CHAKRA_H
#define CHAKRA_H

#include <chakra_node.pb-c.h>
#include <heddle/base/text.h>

#include <heddle/analysis/schedule.h>

/* Cpus of a rank: what calculates one thing at a time, and what only sends and receives. */
enum chakra_cpu { CHAKRA_GPU, CHAKRA_MESSAGES, CHAKRA_HOST, CHAKRA_MEMORY };

/*
 * Reads PREFIX.0.et, PREFIX.1.et ... up to the first number without a file, each twice. *out is freed
 * with hd_schedule_free(). A unit of time is 1 ns. Errors, with file and node: those of
 * chakra_file_nodes(); -EINVAL an attribute that is missing, two nodes of one id, a node that waits
 * for one that does not exist, nodes that wait for each other; -ERANGE a message of 4 GiB or more,
 * more than operations_most operations, to which a few bytes of a collective operation lead, and other limits; -ENODATA;
 * -ENOMEM.
 */
int chakra_read(const char *prefix, uint32_t operations_most, struct hd_schedule **out,
		struct hd_error *err);

/* The same from memory, one file a rank. */
struct chakra_bytes {
	const char *bytes;
	size_t length;
};
int chakra_parse(const struct chakra_bytes *files, uint32_t count, const char *prefix,
		 uint32_t operations_most, struct hd_schedule **out, struct hd_error *err);

#endif
