/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a sweep leaves for repairs: all that an engine needs to route what is left after a loss as the next sweep
 * will. The sweeper thread makes it, and the writer's thread owns it. It points into nothing that a sweep changes.
 */
#ifndef OPENSM_REPAIR_START_H
#define OPENSM_REPAIR_START_H

#include <heddle/base/arena.h>
#include <heddle/engines.h>
#include <heddle/mad/queue.h>

struct part_context;
struct routing;

#define REPAIR_REASON_SIZE HD_ERROR_TEXT

/* Settings of the section [repair]. */
struct repair_settings {
	bool enable;
	unsigned settle_ms;
	unsigned window;
	uint32_t timeout_ms; /* of the first try of an SMP */
	uint32_t max_entries;
	int nice; /* added to the nice value of the thread, during a repair */
	unsigned log_ms; /* between two lines about repairs */
	unsigned watch_ms; /* between two rounds of the watcher; 0: it is off */
	unsigned watch_mads; /* of the watcher, a second */
};

struct repair_start {
	struct routing *routing; /* published by the sweep; held; NULL: not ours */
	char refusal[REPAIR_REASON_SIZE]; /* why there is nothing to repair; "": there is */
	struct repair_settings settings;
	struct hd_options *options; /* of the engine */
	struct hd_policy policy; /* arrays in the arena */
	struct hd_routes *baseline; /* in the routing's shape; NULL: none */
	unsigned lanes, threads;
	uint64_t own_port; /* GUID in host byte order */
	uint64_t m_key;
	bool *
	    port_states; /* [switch_count] it has SwitchPortStateTable, as OpenSM knows; in the arena */
	bool multicast; /* OpenSM does multicast */
	bool mft_unknown; /* OpenSM's multicast tables may differ from those in the switches */
	bool mft_top; /* OpenSM sets how many MLIDs a switch looks at */
	struct hd_arena arena;
};

/* For the sweeper thread, when a sweep is complete, without OpenSM's lock. Takes over `routing`, which is
 * published; NULL: none is. To be freed with repair_start_free(). NULL: no memory. */
struct repair_start *repair_start_new(const struct part_context *context,
				      const struct repair_settings *settings,
				      struct routing *routing);

/* NULL is allowed. */
void repair_start_free(struct repair_start *start);

#endif
