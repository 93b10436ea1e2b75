/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends changed blocks of forwarding tables to switches, and takes them back if one fails. */
#ifndef OPENSM_KEYS_PROGRAM_H
#define OPENSM_KEYS_PROGRAM_H

#include <heddle/fabric/routes.h>
#include <heddle/mad/queue.h>

struct keys_entries;

/* What a switch holds of a block, as far as is known. */
enum keys_held { KEYS_HELD_OLD, KEYS_HELD_NEW, KEYS_HELD_UNKNOWN };

struct keys_block {
	uint32_t sw; /* row of the tables, and destination of the queue */
	uint32_t number;
	const uint8_t *before, *after; /* [HD_LFT_BLOCK] in the tables */
	enum keys_held held;
};

struct keys_blocks {
	uint32_t count;
	struct keys_block *list; /* [count] by switch, then number */
	uint32_t changed; /* entries that differ */
};

/*
 * The blocks in which two tables differ, if they differ only in entries of `old` and `fresh`. *out
 * points into the tables, and is released with keys_blocks_release(). Errors: -ENOMEM. O(entries log
 * entries).
 */
int keys_blocks_find(const struct hd_routes *before, const struct hd_routes *after,
		     const struct keys_entries *old, const struct keys_entries *fresh,
		     struct keys_blocks *out);

void keys_blocks_release(struct keys_blocks *blocks);

/*
 * Runs hd_smp_queue_work() once, if the thread may still send: OpenSM has not begun to change tables
 * itself. Returns what it returned, or -ECANCELED.
 */
typedef int keys_program_work(void *context, struct hd_smp_queue *queue);

struct keys_program {
	struct hd_smp_queue *queue;
	const struct hd_smp_port *port; /* of the queue */
	keys_program_work *work;
	void *context;
	/* ---- results ---- */
	uint32_t failed; /* the switch that failed; HD_NONE: none */
	int rc; /* how its request ended, and the status of its answer */
	uint16_t status;
};

/*
 * Sets all blocks that are not held new; on the first failure the others are canceled. `held` says
 * what became of each. Returns 0; -EREMOTEIO, -ETIMEDOUT and others of a switch, which `failed`
 * names; -ECANCELED; or the errno of the port.
 */
int keys_program_send(struct keys_program *program, struct keys_blocks *blocks);

/* Sets the old content of all blocks that are not held old, and goes on if a switch fails: its
 * blocks stay unknown. Returns 0, -ECANCELED or the errno of the port. */
int keys_program_take_back(struct keys_program *program, struct keys_blocks *blocks);

#endif
