/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "part.h"
#include "opensm_headers.h"
#include "routing.h"
#include "writer.h"

#include <complib/cl_passivelock.h>
#include <stdlib.h>

/* Visits each part that is alive and has the hook. */
#define FOREACH_WITH(hook_, instance, context)                                                     \
	for (struct part_instance *instance = (context)->instances;                                \
	     (instance) && (instance) < (context)->instances + (context)->count; (instance)++)     \
		if ((instance)->part->hook_ && (instance)->alive)

int part_create_all(struct part_context *context, const struct part *const *parts, unsigned count,
		    struct hd_error *err)
{
	context->instances = calloc(count, sizeof(*context->instances));
	if (!context->instances)
		return hd_error_no_memory(err);
	for (; context->count < count; context->count++) {
		const struct part *part = parts[context->count];
		struct part_instance *instance = &context->instances[context->count];
		int rc = part->create(context, &instance->state, err);

		instance->part = part;
		instance->alive = !rc;
		if (rc && part->essential) {
			part_destroy_all(context);
			return hd_error_prefix(err, rc, "part %s", part->name);
		}
		if (rc)
			log_error(&context->log, LOG_ERROR_LOAD,
				  "part %s: %s; Heddle runs without this part", part->name,
				  err->text);
	}
	return 0;
}

void part_destroy_all(struct part_context *context)
{
	for (unsigned i = context->count; i-- > 0;) {
		const struct part_instance *instance = &context->instances[i];

		if (instance->alive && instance->part->ends)
			instance->part->ends(instance->state);
	}
	for (unsigned i = context->count; i-- > 0;) {
		struct part_instance *instance = &context->instances[i];

		if (instance->alive && instance->part->destroy)
			instance->part->destroy(instance->state);
		instance->alive = false;
	}
	context->count = 0;
	free(context->instances);
	context->instances = NULL;
	routing_release(context->begun);
	context->begun = NULL;
}

void part_started(struct part_context *context)
{
	FOREACH_WITH(started, instance, context)
	instance->part->started(instance->state);
}

/* Repairs may replace the published routing meanwhile. */
static void note_begun(struct part_context *context)
{
	struct routing *published;

	routing_release(context->begun);
	context->begun = NULL;
	if (!context->writer)
		return;
	cl_plock_acquire(&context->osm->lock);
	published = context->published;
	/* the fabric is all that is needed, and other keys do not change it */
	if (published)
		context->begun = routing_hold(published->origin ? published->origin : published);
	cl_plock_release(&context->osm->lock);
}

struct routing *part_hold_published(const struct part_context *context)
{
	cl_plock_acquire(&context->osm->lock);
	struct routing *published = context->published ? routing_hold(context->published) : NULL;
	cl_plock_release(&context->osm->lock);
	return published;
}

void part_sweep_begins(struct part_context *context)
{
	/* another OpenSM may have written other tables since this one was the master */
	if (context->writer && context->osm->subn.coming_out_of_standby)
		writer_stop(context->writer);
	if (context->writer)
		writer_note_sweep(context->writer);
	note_begun(context);
	FOREACH_WITH(sweep_begins, instance, context)
	instance->part->sweep_begins(instance->state);
}

/*
 * `sweeping` never stays set by mistake. OpenSM abandons a sweep either before this hook, or after
 * it because OpenSM is no longer the master or no engine could route. In the last two cases the
 * next sweep is a heavy one again.
 */
void part_discovered(struct part_context *context)
{
	context->sweeping = true;
	FOREACH_WITH(discovered, instance, context)
	instance->part->discovered(instance->state);
	FOREACH_WITH(turn_ends, instance, context)
	instance->part->turn_ends(instance->state);
	if (context->writer)
		writer_stop(context->writer);
}

/* For the command `reroute`, which has no hook before. With OpenSM's lock held exclusively. */
static void take_turn(struct part_context *context)
{
	if (context->writer)
		writer_take_turn(context->writer);
}

void part_refused(struct part_context *context)
{
	take_turn(context);
	FOREACH_WITH(refused, instance, context)
	instance->part->refused(instance->state);
}

void part_computed(struct part_context *context, struct routing *routing)
{
	take_turn(context);
	FOREACH_WITH(computed, instance, context)
	instance->part->computed(instance->state, routing);
}

static void call_settled(struct part_context *context)
{
	routing_release(context->begun);
	context->begun = NULL;
	FOREACH_WITH(settled, instance, context)
	instance->part->settled(instance->state);
	if (context->writer)
		writer_give_turn(context->writer);
	FOREACH_WITH(turn_given, instance, context)
	instance->part->turn_given(instance->state);
}

void part_routed(struct part_context *context)
{
	FOREACH_WITH(routed, instance, context)
	instance->part->routed(instance->state);
	if (!context->sweeping)
		call_settled(context);
}

void part_idle(struct part_context *context)
{
	FOREACH_WITH(idle, instance, context)
	instance->part->idle(instance->state);
	context->sweeping = false;
	call_settled(context);
}

void part_trap(struct part_context *context, const struct _ib_mad_notice_attr *notice)
{
	FOREACH_WITH(trap, instance, context)
	instance->part->trap(instance->state, notice);
}

void part_status(const struct part_context *context, struct status_report *report)
{
	FOREACH_WITH(status, instance, context)
	instance->part->status(instance->state, report);
}

const char *part_forbids_repairs(const struct part_context *context, const struct routing *routing)
{
	const char *reason = NULL;

	FOREACH_WITH(forbids_repairs, instance, context)
	reason = reason ? reason : instance->part->forbids_repairs(instance->state, routing);
	return reason;
}

/* ---- repairs ---- */

int part_repair_begins(struct part_context *context, struct repair_change *change,
		       struct hd_error *err)
{
	int rc = 0;

	FOREACH_WITH(repair_begins, instance, context)
	rc = rc ? rc : instance->part->repair_begins(instance->state, change, err);
	return rc;
}

int part_repair_routed(struct part_context *context, struct repair_change *change,
		       struct hd_error *err)
{
	int rc = 0;

	FOREACH_WITH(repair_routed, instance, context)
	rc = rc ? rc : instance->part->repair_routed(instance->state, change, err);
	return rc;
}

int part_repair_programs(struct part_context *context, struct repair_change *change, bool *done,
			 struct hd_error *err)
{
	int rc = 0;

	*done = false;
	FOREACH_WITH(repair_programs, instance, context)
	rc = rc || *done ? rc : instance->part->repair_programs(instance->state, change, done, err);
	return rc;
}

void part_repair_lands(struct part_context *context, struct repair_change *change)
{
	FOREACH_WITH(repair_lands, instance, context)
	instance->part->repair_lands(instance->state, change);
}

void part_repair_ends(struct part_context *context, struct repair_change *change)
{
	FOREACH_WITH(repair_ends, instance, context)
	instance->part->repair_ends(instance->state, change);
}

/* ---- routing keys ---- */

void part_key_begins(struct part_context *context)
{
	FOREACH_WITH(key_begins, instance, context)
	instance->part->key_begins(instance->state);
}

int part_key_programs(struct part_context *context, struct key_change *change, struct hd_error *err)
{
	int rc = 0;

	FOREACH_WITH(key_programs, instance, context)
	rc = rc ? rc : instance->part->key_programs(instance->state, change, err);
	return rc;
}

void part_key_ends(struct part_context *context, struct key_change *change)
{
	FOREACH_WITH(key_ends, instance, context)
	instance->part->key_ends(instance->state, change);
}

bool part_multicast_tree(struct part_context *context, struct osm_mgrp_box *box)
{
	bool made = false;

	FOREACH_WITH(multicast_tree, instance, context)
	made = instance->part->multicast_tree(instance->state, box);
	FOREACH_WITH(multicast_built, instance, context)
	instance->part->multicast_built(instance->state, box);
	return made;
}

void part_publish(struct part_context *context, struct routing *routing)
{
	if (!routing && !osm_exit_flag)
		take_turn(context);
	routing_release(context->published);
	context->published = routing;
	FOREACH_WITH(published, instance, context)
	instance->part->published(instance->state);
}

void part_sweep_programs(struct part_context *context, struct sweep_change *change)
{
	FOREACH_WITH(sweep_programs, instance, context)
	instance->part->sweep_programs(instance->state, change);
}

void part_replace(struct part_context *context, struct routing *routing)
{
	routing_release(context->published);
	context->published = routing;
}
