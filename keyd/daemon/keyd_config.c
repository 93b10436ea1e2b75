/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_config.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <heddle/config/section_values.h>
#include <stdlib.h>
#include <string.h>

static int take_manager(void *context, const char *word, struct hd_error *err)
{
	struct keyd_config *config = context;

	if (config->manager_count == HD_KEYD_MANAGERS_MAX)
		return hd_error_set(err, -ERANGE, "more than %u sockets", HD_KEYD_MANAGERS_MAX);
	config->managers[config->manager_count] = strdup(word);
	if (!config->managers[config->manager_count])
		return hd_error_no_memory(err);
	config->manager_count++;
	return 0;
}

static int take_scheduler(void *context, const char *word, struct hd_error *err)
{
	struct keyd_config *config = context;

	if (config->scheduler_count == HD_KEYD_SCHEDULERS_MAX)
		return hd_error_set(err, -ERANGE, "more than %u users", HD_KEYD_SCHEDULERS_MAX);
	return hd_value_uid(word, &config->schedulers[config->scheduler_count++], err);
}

static uint32_t config_number(const struct hd_options *options, const char *name)
{
	return (uint32_t)hd_options_get(options, name)->number;
}

/* NULL for the word that stands for nothing. */
static const char *text_unless(const struct hd_options *options, const char *name,
			       const char *nothing)
{
	const char *text = hd_options_get(options, name)->text;

	return strcmp(text, nothing) ? text : NULL;
}

static int take_values(struct keyd_config *config, struct hd_error *err)
{
	const struct hd_options *options = hd_config_options(config->values, "keyd");

	config->socket = hd_options_get(options, "socket")->text;
	config->tcp = text_unless(options, "tcp", "off");
	config->state = hd_options_get(options, "state")->text;
	config->hosts_file = text_unless(options, "hosts_file", "none");
	config->munge_socket = text_unless(options, "munge_socket", "none");
	config->scheduler_hosts = hd_options_get(options, "scheduler_hosts")->text;
	config->shift = (enum keyd_shift)config_number(options, "shift");
	config->threads = config_number(options, "threads");
	if (!config->threads)
		config->threads = hd_parallel_cores();
	config->max_jobs = config_number(options, "max_jobs");
	config->max_connections = config_number(options, "max_connections");
	config->max_user_connections = config_number(options, "max_user_connections");
	config->max_address_connections = config_number(options, "max_address_connections");
	config->max_large_answers = config_number(options, "max_large_answers");
	config->max_flows = config_number(options, "max_flows");
	config->user_memory_mb = config_number(options, "user_memory_mb");
	config->idle_keys_mb = config_number(options, "idle_keys_mb");
	config->proposal_ms = config_number(options, "proposal_ms");
	config->answer_ms = config_number(options, "answer_ms");
	config->token_s = config_number(options, "token_s");
	config->patience_s = config_number(options, "patience_s");
	int rc = hd_value_each_word(hd_options_get(options, "sm_sockets")->text, take_manager,
				    config, err);
	return rc ? rc
		  : hd_value_each_word(hd_options_get(options, "scheduler_uids")->text,
				       take_scheduler, config, err);
}

int keyd_config_read(const char *path, bool must_exist, struct keyd_config *config,
		     struct hd_error *err)
{
	int rc = 0;

	*config = (struct keyd_config){.sections = hd_config_sections_new()};
	if (!config->sections)
		return hd_error_no_memory(err);
	rc = hd_config_sections_add_keyd(config->sections, err);
	if (!rc)
		rc = hd_config_read(config->sections, path, must_exist, &config->values, err);
	if (!rc)
		rc = take_values(config, err);
	if (rc)
		keyd_config_release(config);
	return rc;
}

void keyd_config_release(struct keyd_config *config)
{
	for (unsigned i = 0; i < config->manager_count; i++)
		free(config->managers[i]);
	config->manager_count = 0;
	hd_config_free(config->values);
	hd_config_sections_free(config->sections);
	*config = (struct keyd_config){0};
}

bool keyd_config_is_scheduler(const struct keyd_config *config, uid_t uid)
{
	for (unsigned i = 0; i < config->scheduler_count; i++)
		if (config->schedulers[i] == uid)
			return true;
	return false;
}
