/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "section_tables.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <heddle/config/section_values.h>
#include <heddle/config/sections.h>
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
	if (!strcmp(text, "off") || hd_value_is_address(text))
		return 0;
	return hd_error_set(err, -EINVAL,
			    "'%s' is neither 'off' nor ADDRESS:PORT, such as "
			    "192.0.2.1:7472 or [2001:db8::1]:7472",
			    text);
}

static int take_manager(void *context, const char *word, struct hd_error *err)
{
	unsigned *count = context;

	if (++*count > HD_KEYD_MANAGERS_MAX)
		return hd_error_set(err, -ERANGE, "more than %u sockets", HD_KEYD_MANAGERS_MAX);
	return validate_path(word, err);
}

static int validate_managers(const char *text, struct hd_error *err)
{
	unsigned count = 0;
	int rc = hd_value_each_word(text, take_manager, &count, err);

	return rc || count ? rc : hd_error_set(err, -EINVAL, "no socket");
}

static int take_scheduler(void *context, const char *word, struct hd_error *err)
{
	unsigned *count = context;
	uid_t unused;

	if (++*count > HD_KEYD_SCHEDULERS_MAX)
		return hd_error_set(err, -ERANGE, "more than %u users", HD_KEYD_SCHEDULERS_MAX);
	return hd_value_uid(word, &unused, err);
}

static int validate_schedulers(const char *text, struct hd_error *err)
{
	unsigned count = 0;

	return hd_value_each_word(text, take_scheduler, &count, err);
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
    TEXT("socket", HD_KEYD_SOCKET, "where clients connect", validate_path),
    TEXT("tcp", "off", "ADDRESS:PORT for clients on other machines", validate_tcp),
    TEXT("sm_sockets", HD_KEYD_MANAGER, "sockets of the subnet managers, separated by commas",
	 validate_managers),
    TEXT("state", HD_KEYD_STATE, "folder of the database", validate_path),
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

const struct hd_config_section section_keyd = {.name = "keyd",
					       .options = keyd_options,
					       .option_count =
						   sizeof(keyd_options) / sizeof(keyd_options[0])};
