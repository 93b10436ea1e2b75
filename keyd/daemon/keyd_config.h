/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What heddle.conf says to heddle-keyd: the section [keyd]. */
#ifndef KEYD_CONFIG_H
#define KEYD_CONFIG_H

#include <heddle/config.h>
#include <heddle/config/sections.h>
#include <sys/types.h>

enum keyd_shift { KEYD_SHIFT_AUTO, KEYD_SHIFT_LINKS, KEYD_SHIFT_PAPER, KEYD_SHIFT_NONE };

/* Texts are valid as long as the configuration. */
struct keyd_config {
	struct hd_config_sections *sections;
	struct hd_config *values;
	const char *socket; /* path */
	const char *tcp; /* ADDRESS:PORT; NULL: off */
	const char *state; /* folder */
	const char *hosts_file; /* NULL: none */
	const char *munge_socket; /* NULL: the default of MUNGE */
	const char *scheduler_hosts; /* see keyd_origins.h */
	char *managers[HD_KEYD_MANAGERS_MAX]; /* sockets of subnet managers; owned */
	unsigned manager_count;
	uid_t schedulers[HD_KEYD_SCHEDULERS_MAX];
	unsigned scheduler_count;
	enum keyd_shift shift;
	unsigned threads;
	uint32_t max_jobs, max_connections, max_flows;
	uint32_t user_memory_mb, idle_keys_mb;
	uint32_t max_user_connections, max_address_connections;
	uint32_t max_large_answers;
	uint32_t proposal_ms; /* how long a proposal may take */
	uint32_t answer_ms; /* how long a request waits for the switches */
	uint32_t token_s;
	uint32_t patience_s; /* with slow clients */
};

/* Reads the file; if it is missing and need not exist, all values are the defaults. *config is
 * released with keyd_config_release(). Errors: as hd_config_read(). */
int keyd_config_read(const char *path, bool must_exist, struct keyd_config *config,
		     struct hd_error *err);

void keyd_config_release(struct keyd_config *config);

bool keyd_config_is_scheduler(const struct keyd_config *config, uid_t uid);

#endif
