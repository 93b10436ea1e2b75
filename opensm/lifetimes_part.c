/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lifetimes_part.h"
#include "hoq.h"
#include "opensm_headers.h"
#include "routing.h"
#include "settings.h"

#include <stdlib.h>

/* One of OpenSM's options that we may have overwritten. */
struct lifetime {
	bool given; /* by us */
	uint8_t theirs; /* what it was before */
};

/* Used by the sweeper thread's hooks alone. */
struct lifetimes {
	struct part_context *context;
	struct lifetime between; /* switches: head_of_queue_lifetime */
	struct lifetime leaf; /* switches and hosts: leaf_head_of_queue_lifetime */
};

/* One lifetime on its way from heddle.conf to OpenSM. */
struct giving {
	struct lifetime *lifetime;
	int wanted; /* -1: OpenSM's own */
	uint8_t *option;
	const uint8_t *in_file; /* what opensm.conf says by now; NULL: there is none */
	const char *ports;
	const struct opensm_log *log;
};

static void say(const struct giving *giving)
{
	char text[HOQ_TEXT];

	log_info(giving->log, "head-of-queue lifetime of %s: %s%s", giving->ports,
		 hoq_print(*giving->option, text, sizeof(text)),
		 giving->lifetime->given ? "" : ", OpenSM's own value");
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

/* Before the link manager runs, and after OpenSM has read its own configuration. */
static void discovered(void *state)
{
	struct lifetimes *lifetimes = state;
	const struct part_context *context = lifetimes->context;
	struct osm_subn_opt *options = &lifetimes->context->osm->subn.opt;
	const struct osm_subn_opt *file = options->file_opts;

	give(&(struct giving){.lifetime = &lifetimes->between,
			      .wanted = settings_lifetime(context->config),
			      .option = &options->head_of_queue_lifetime,
			      .in_file = file ? &file->head_of_queue_lifetime : NULL,
			      .ports = "ports between switches",
			      .log = &context->log});
	give(&(struct giving){.lifetime = &lifetimes->leaf,
			      .wanted = settings_leaf_lifetime(context->config),
			      .option = &options->leaf_head_of_queue_lifetime,
			      .in_file = file ? &file->leaf_head_of_queue_lifetime : NULL,
			      .ports = "ports to hosts and of routers",
			      .log = &context->log});
}

/* What an engine with `deadlock=drop` relies on. */
static void say_drop(struct part_context *context, const char *engine)
{
	unsigned lifetime = context->osm->subn.opt.head_of_queue_lifetime;
	struct hd_log remarks = log_sink(&context->log);
	char text[HOQ_TEXT];

	hoq_print(lifetime, text, sizeof(text));
	if (hoq_is_infinite(lifetime))
		hd_log(&remarks, HD_LOG_WARNING,
		       "%s: packets that wait for each other are never dropped: the head-of-queue "
		       "lifetime between switches has %s; set hoq_lifetime_us in [heddle]",
		       engine, text);
	else
		hd_log(&remarks, HD_LOG_INFO,
		       "%s: the head-of-queue lifetime between switches is %s", engine, text);
}

static void published(void *state)
{
	struct lifetimes *lifetimes = state;
	struct part_context *context = lifetimes->context;
	const struct routing *routing = context->published;

	if (routing && settings_deadlock(context->config, routing->engine) == HD_DEADLOCK_DROP)
		say_drop(context, routing->engine->name);
}

static int create(struct part_context *context, void **state, struct hd_error *err)
{
	struct lifetimes *lifetimes = calloc(1, sizeof(*lifetimes));

	if (!lifetimes)
		return hd_error_no_memory(err);
	lifetimes->context = context;
	*state = lifetimes;
	return 0;
}

const struct part lifetimes_part = {
    .name = "lifetimes",
    .create = create,
    .discovered = discovered,
    .published = published,
    .destroy = free,
};
