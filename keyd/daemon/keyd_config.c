/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_config.h"

#include <errno.h>
#include <event2/util.h>
#include <heddle/base/parallel.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#define PATH_LONGEST 100u /* bytes of the path of a socket */

static int validate_path(const char *text, struct hd_error *err)
{
	if (*text != '/' || strlen(text) > PATH_LONGEST)
		return hd_error_set(err, -EINVAL, "'%s' is no absolute path of at most %u bytes",
				    text, PATH_LONGEST);
	return 0;
}

static int validate_file(const char *text, struct hd_error *err)
{
	return strcmp(text, "none") ? validate_path(text, err) : 0;
}

static int validate_tcp(const char *text, struct hd_error *err)
{
	struct sockaddr_storage address;
	int length = sizeof(address);

	if (!strcmp(text, "off"))
		return 0;
	if (!strchr(text, ':') ||
	    evutil_parse_sockaddr_port(text, (struct sockaddr *)&address, &length))
		return hd_error_set(err, -EINVAL,
				    "'%s' is neither 'off' nor ADDRESS:PORT, such as "
				    "192.0.2.1:7472 or [2001:db8::1]:7472",
				    text);
	return 0;
}

/* Calls take() for each word of a list with commas. */
static int each_word(const char *text, int (*take)(void *, const char *, struct hd_error *),
		     void *context, struct hd_error *err)
{
	char *copy = strdup(text), *rest = copy, *word;
	int rc = copy ? 0 : hd_error_no_memory(err);

	while (!rc && (word = strsep(&rest, ", \t")))
		if (*word)
			rc = take(context, word, err);
	free(copy);
	return rc;
}

static int take_manager(void *context, const char *word, struct hd_error *err)
{
	struct keyd_config *config = context;
	int rc = validate_path(word, err);

	if (rc)
		return rc;
	if (config->manager_count == KEYD_MANAGERS_MAX)
		return hd_error_set(err, -ERANGE, "more than %u sockets", KEYD_MANAGERS_MAX);
	config->managers[config->manager_count] = strdup(word);
	if (!config->managers[config->manager_count])
		return hd_error_no_memory(err);
	config->manager_count++;
	return 0;
}

static void free_managers(struct keyd_config *config)
{
	for (unsigned i = 0; i < config->manager_count; i++)
		free(config->managers[i]);
	config->manager_count = 0;
}

static int validate_managers(const char *text, struct hd_error *err)
{
	struct keyd_config config = {0};
	int rc = each_word(text, take_manager, &config, err);

	if (!rc && !config.manager_count)
		rc = hd_error_set(err, -EINVAL, "no socket");
	free_managers(&config);
	return rc;
}

static int parse_uid(const char *word, uid_t *uid, struct hd_error *err)
{
	const struct passwd *user;
	char *end;
	unsigned long number = strtoul(word, &end, 10);

	if (*word >= '0' && *word <= '9') {
		if (*end || number >= UINT32_MAX)
			return hd_error_set(err, -EINVAL, "'%s' is no user id", word);
		*uid = (uid_t)number;
		return 0;
	}
	user = getpwnam(word);
	if (!user)
		return hd_error_set(err, -EINVAL,
				    "this machine has no user '%s'; write a number instead", word);
	*uid = user->pw_uid;
	return 0;
}

static int take_scheduler(void *context, const char *word, struct hd_error *err)
{
	struct keyd_config *config = context;

	if (config->scheduler_count == KEYD_SCHEDULERS_MAX)
		return hd_error_set(err, -ERANGE, "more than %u users", KEYD_SCHEDULERS_MAX);
	return parse_uid(word, &config->schedulers[config->scheduler_count++], err);
}

static int validate_schedulers(const char *text, struct hd_error *err)
{
	struct keyd_config config = {0};

	return each_word(text, take_scheduler, &config, err);
}

#define NUMBER(option, text, what, least, most)                                                    \
	{                                                                                          \
		.name = option, .summary = what, .type = HD_OPTION_INT, .fallback = text,          \
		.minimum = least, .maximum = most                                                  \
	}

#define TEXT(option, text, what, check)                                                            \
	{                                                                                          \
		.name = option, .summary = what, .type = HD_OPTION_STRING, .fallback = text,       \
		.validate = check                                                                  \
	}

static const struct hd_option keyd_options[] = {
    TEXT("socket", KEYD_SOCKET, "where clients connect", validate_path),
    TEXT("tcp", "off", "ADDRESS:PORT for clients on other machines", validate_tcp),
    TEXT("sm_sockets", KEYD_MANAGER, "sockets of the subnet managers, separated by commas",
	 validate_managers),
    TEXT("state", KEYD_STATE, "folder of the database", validate_path),
    TEXT("scheduler_uids", "0", "users who may place and release jobs, separated by commas",
	 validate_schedulers),
    TEXT("scheduler_hosts", "local",
	 "hosts from which schedulers call over the network, separated by commas; local: this "
	 "machine; any: all that have MUNGE's key",
	 NULL),
    TEXT("hosts_file", "none", "lines 'NAME GUID': the port GUIDs of the scheduler's node names",
	 validate_file),
    TEXT("munge_socket", "none", "socket of munged; none: MUNGE's default", validate_file),
    {.name = "shift",
     .summary = "how keys are moved to links with little load; auto: by the engine",
     .type = HD_OPTION_CHOICE,
     .fallback = "auto",
     .choices = "auto|links|paper|none"},
    NUMBER("threads", "0", "threads that make keys; 0: one for each core", 0, HD_THREADS_MAX),
    NUMBER("max_jobs", "4096", "jobs at the same time", 1, 1000000),
    NUMBER("max_connections", "4096", "connections at the same time", 1, 100000),
    NUMBER("max_user_connections", "256", "connections of one user of the socket", 1, 100000),
    NUMBER("max_address_connections", "256", "connections of one address over TCP", 1, 100000),
    NUMBER("max_large_answers", "4", "answers above 64 KiB at the same time", 1, 1000),
    NUMBER("max_flows", "1048576", "flows of one job, in all phases together", 1, 4194304),
    NUMBER("user_memory_mb", "1024", "MB that the jobs of one user may take, with steps and keys",
	   1, 1048576),
    NUMBER("idle_keys_mb", "64", "MB of keys of a user that stay although their phases have ended",
	   0, 1048576),
    NUMBER("answer_ms", "1500", "how long a request waits for the switches", 10, 60000),
    NUMBER("proposal_ms", "2000", "how long hosts for a job are searched", 10, 60000),
    NUMBER("patience_s", "30", "how long a client may take for a request, or be silent", 1, 3600),
    NUMBER("token_s", "86400", "how long a token is valid", 1, 2592000),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct hd_config_section sections[] = {
    {.name = "keyd", .options = keyd_options, .option_count = COUNT(keyd_options)},
    {.name = HD_CONFIG_ANY_OTHER, .kind = HD_CONFIG_OTHER_PROGRAM},
};

static uint32_t number(const struct hd_options *options, const char *name)
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
	int rc;

	config->socket = hd_options_get(options, "socket")->text;
	config->tcp = text_unless(options, "tcp", "off");
	config->state = hd_options_get(options, "state")->text;
	config->hosts_file = text_unless(options, "hosts_file", "none");
	config->munge_socket = text_unless(options, "munge_socket", "none");
	config->scheduler_hosts = hd_options_get(options, "scheduler_hosts")->text;
	config->shift = (enum keyd_shift)number(options, "shift");
	config->threads = number(options, "threads");
	if (!config->threads)
		config->threads = hd_parallel_cores();
	config->max_jobs = number(options, "max_jobs");
	config->max_connections = number(options, "max_connections");
	config->max_user_connections = number(options, "max_user_connections");
	config->max_address_connections = number(options, "max_address_connections");
	config->max_large_answers = number(options, "max_large_answers");
	config->max_flows = number(options, "max_flows");
	config->user_memory_mb = number(options, "user_memory_mb");
	config->idle_keys_mb = number(options, "idle_keys_mb");
	config->proposal_ms = number(options, "proposal_ms");
	config->answer_ms = number(options, "answer_ms");
	config->token_s = number(options, "token_s");
	config->patience_s = number(options, "patience_s");
	rc = each_word(hd_options_get(options, "sm_sockets")->text, take_manager, config, err);
	if (!rc)
		rc = each_word(hd_options_get(options, "scheduler_uids")->text, take_scheduler,
			       config, err);
	return rc;
}

int keyd_config_read(const char *path, bool must_exist, struct keyd_config *config,
		     struct hd_error *err)
{
	int rc = 0;

	*config = (struct keyd_config){.sections = hd_config_sections_new()};
	if (!config->sections)
		return hd_error_no_memory(err);
	for (unsigned i = 0; !rc && i < COUNT(sections); i++)
		rc = hd_config_sections_add(config->sections, &sections[i], err);
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
	free_managers(config);
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
