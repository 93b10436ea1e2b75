/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lifetimes.h"
#include "hoq.h"
#include "host.h"
#include "settings.h"

/* One lifetime on its way from heddle.conf to OpenSM. */
struct giving {
	struct lifetime *lifetime;
	int wanted; /* -1: OpenSM's own */
	uint8_t *option;
	const uint8_t *in_file; /* what opensm.conf says by now; NULL: there is none */
	const char *ports;
	const struct host_log *log;
};

static void say(const struct giving *giving)
{
	char text[HOQ_TEXT];

	log_info(giving->log, "head-of-queue lifetime of %s: %s%s", giving->ports,
		 hoq_print(*giving->option, text, sizeof(text)),
		 giving->lifetime->given ? "" : ", as OpenSM has it");
}

static void give(const struct giving *giving)
{
	struct lifetime *lifetime = giving->lifetime;
	uint8_t before = *giving->option;
	bool was_given = lifetime->given;

	if (was_given)
		*giving->option = giving->in_file ? *giving->in_file : lifetime->theirs;
	lifetime->theirs = *giving->option;
	lifetime->given = giving->wanted >= 0;
	if (lifetime->given)
		*giving->option = (uint8_t)giving->wanted;
	if (*giving->option != before || lifetime->given != was_given)
		say(giving);
}

void lifetimes_apply(struct lifetimes *lifetimes, const struct hd_config *config,
		     struct osm_subn_opt *options, const struct host_log *log)
{
	const struct osm_subn_opt *file = options->file_opts;

	give(&(struct giving){.lifetime = &lifetimes->between,
			      .wanted = settings_lifetime(config),
			      .option = &options->head_of_queue_lifetime,
			      .in_file = file ? &file->head_of_queue_lifetime : NULL,
			      .ports = "ports between switches",
			      .log = log});
	give(&(struct giving){.lifetime = &lifetimes->leaf,
			      .wanted = settings_leaf_lifetime(config),
			      .option = &options->leaf_head_of_queue_lifetime,
			      .in_file = file ? &file->leaf_head_of_queue_lifetime : NULL,
			      .ports = "ports to hosts and of routers",
			      .log = log});
}

void lifetimes_say_drop(const struct osm_subn_opt *options, const char *engine,
			struct host_log *log)
{
	struct hd_log remarks = log_sink(log);
	char text[HOQ_TEXT];
	const char *lifetime = hoq_print(options->head_of_queue_lifetime, text, sizeof(text));

	if (hoq_is_infinite(options->head_of_queue_lifetime))
		hd_log(&remarks, HD_LOG_WARNING,
		       "%s: packets that wait for each other are never dropped: the head-of-queue "
		       "lifetime between switches has %s; set hoq_lifetime_us in [heddle]",
		       engine, lifetime);
	else
		hd_log(&remarks, HD_LOG_INFO,
		       "%s: the head-of-queue lifetime between switches is %s", engine, lifetime);
}
