/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The messages of one file of a Chakra execution trace. */
#ifndef CHAKRA_FILE_H
#define CHAKRA_FILE_H

#include <chakra_node.pb-c.h>
#include <heddle/base/text.h>

/* Types of nodes, and of collective operations. */
enum chakra_type {
	CHAKRA_METADATA = 1,
	CHAKRA_LOAD,
	CHAKRA_STORE,
	CHAKRA_COMPUTE,
	CHAKRA_SEND,
	CHAKRA_RECEIVE,
	CHAKRA_COLLECTIVE,
	CHAKRA_TYPE_END
};

enum chakra_collective {
	CHAKRA_ALL_REDUCE,
	CHAKRA_REDUCE,
	CHAKRA_ALL_GATHER,
	CHAKRA_GATHER,
	CHAKRA_SCATTER,
	CHAKRA_BROADCAST,
	CHAKRA_ALL_TO_ALL,
	CHAKRA_REDUCE_SCATTER,
	CHAKRA_REDUCE_SCATTER_BLOCK,
	CHAKRA_BARRIER,
	CHAKRA_COLLECTIVE_END
};

struct chakra_file {
	struct hd_text text;
	size_t at;
	uint32_t messages; /* that have been read */
};

typedef int chakra_visit(void *context, const Chakra__Node *node, struct hd_error *err);

/*
 * Gives the nodes of a file to `visit`, in their order, until it returns an error. A file may be
 * packed by gzip. Errors: -EINVAL with the file and the number of the message: one that is cut off
 * or is none; -EFBIG one of more than 1 MiB; with the number of the node: an unknown type; -ENODATA no message; those of `visit`, to
 * which file and node are added; errno of open and read; -ENOMEM.
 */
int chakra_file_nodes(const char *path, chakra_visit *visit, void *context, struct hd_error *err);

/* The same from memory; `name` stands for the file in messages. */
int chakra_file_parse(const char *bytes, size_t length, const char *name, chakra_visit *visit,
		      void *context, struct hd_error *err);

/* An attribute as a whole number. 1; 0: the node has no attribute of this name. Errors: -EINVAL it is
 * negative, or no number. */
int chakra_file_number(const Chakra__Node *node, const char *name, uint64_t *number,
		       struct hd_error *err);

/* An attribute as a text, or "". */
const char *chakra_file_text(const Chakra__Node *node, const char *name);

#endif
