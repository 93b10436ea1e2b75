/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part that replaces OpenSM's head-of-queue lifetimes by those of heddle.conf. OpenSM's link
 * manager then sets them at the ports. If heddle.conf has no lifetime any more, the part restores
 * OpenSM's own.
 */
#include "hoq.h"
#include "opensm_headers.h"
#include "parts.h"
#include "routing.h"
#include "settings.h"

#include <stdlib.h>

/* A lifetime among OpenSM's options, which we may have replaced. */
struct lifetime {
	bool replaced; /* by us */
	uint8_t original; /* OpenSM's own value */
};

/* Only the hooks of the sweeper thread use it. */
struct lifetimes {
	struct part_context *context;
	struct lifetime between; /* switches: head_of_queue_lifetime */
	struct lifetime leaf; /* switches and hosts: leaf_head_of_queue_lifetime */
};

/* What is needed to set one lifetime. */
struct setting {
	struct lifetime *lifetime;
	int wanted; /* in heddle.conf; -1: OpenSM's own */
	uint8_t *option;
	const uint8_t *in_file; /* the value in opensm.conf now; NULL: OpenSM has read no file */
	const char *ports;
	const struct opensm_log *log;
};

static void say(const struct setting *setting)
{
	char text[HOQ_TEXT];

	log_info(setting->log, "head-of-queue lifetime of %s: %s%s", setting->ports,
		 hoq_print(*setting->option, text, sizeof(text)),
		 setting->lifetime->replaced ? "" : ", OpenSM's own value");
}

static void set(const struct setting *setting)
{
	struct lifetime *lifetime = setting->lifetime;
	uint8_t before = *setting->option;
	bool was_replaced = lifetime->replaced;

	if (was_replaced)
		*setting->option = setting->in_file ? *setting->in_file : lifetime->original;
	lifetime->original = *setting->option;
	lifetime->replaced = setting->wanted >= 0;
	if (lifetime->replaced)
		*setting->option = (uint8_t)setting->wanted;
	if (*setting->option != before || lifetime->replaced != was_replaced)
		say(setting);
}

/* The right time: OpenSM has read opensm.conf again, and its link manager runs later. */
static void discovered(void *state)
{
	struct lifetimes *lifetimes = state;
	const struct part_context *context = lifetimes->context;
	struct osm_subn_opt *options = &lifetimes->context->osm->subn.opt;
	const struct osm_subn_opt *file = options->file_opts;

	set(&(struct setting){.lifetime = &lifetimes->between,
			      .wanted = settings_lifetime(context->config),
			      .option = &options->head_of_queue_lifetime,
			      .in_file = file ? &file->head_of_queue_lifetime : NULL,
			      .ports = "ports between switches",
			      .log = &context->log});
	set(&(struct setting){.lifetime = &lifetimes->leaf,
			      .wanted = settings_leaf_lifetime(context->config),
			      .option = &options->leaf_head_of_queue_lifetime,
			      .in_file = file ? &file->leaf_head_of_queue_lifetime : NULL,
			      .ports = "ports to hosts and of routers",
			      .log = &context->log});
}

/* Logs the lifetime on which an engine with `deadlock=drop` relies. */
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
