/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sweep tries sets from the most to the least: what is wanted, if that is more than what is accepted; what is accepted,
 * first afresh if people ask for that; nothing. try() routes without a set and checks the result; the first set that passes gives the tables. Only what is new is
 * checked for missing entries and for an order of the changes: what was accepted before has passed, and somebody relies on it.
 */
#include "engine_drained.h"
#include "engines_state.h"
#include "part.h"
#include "routing.h"
#include "settings.h"

#include <errno.h>
#include <heddle/change/sweep.h>
#include <heddle/fabric/pull.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trial {
	struct engine_binding *binding;
	struct hd_fabric *found;
	engine_route_fn *route;
	struct drained_set wanted, accepted, out;
	uint64_t number;
	bool unproved_too, afresh;
	struct hd_error reason; /* why a set is not left out */
};

static int copy_sets(struct drained *drained, struct trial *trial)
{
	pthread_mutex_lock(&drained->lock);
	trial->number = drained->number;
	trial->unproved_too = drained->unproved_too;
	trial->afresh = drained->afresh && drained->afresh == drained->number &&
			drained->afresh > drained->routed && drained->afresh > drained->refused;
	int rc = drained_set_copy(&drained->wanted, &trial->wanted);
	if (!rc)
		rc = drained_set_copy(&drained->accepted, &trial->accepted);
	if (!rc)
		rc = drained_set_copy(&drained->out, &trial->out);
	pthread_mutex_unlock(&drained->lock);
	return rc;
}

static void release_sets(struct trial *trial)
{
	drained_set_release(&trial->wanted);
	drained_set_release(&trial->accepted);
	drained_set_release(&trial->out);
}

/* The fabric without the set; NULL: it has nothing of it. Errors: -ENETUNREACH hosts would be cut off, -ENOMEM. */
static int leave_out(const struct hd_fabric *found, const struct drained_set *set,
		     struct hd_fabric **out, struct hd_error *err)
{
	struct hd_fabric_change *changes = calloc(set->count + 1u, sizeof(*changes));
	struct hd_pull_cut cut = {0};

	*out = NULL;
	if (!changes)
		return hd_error_no_memory(err);
	const uint32_t count = drained_set_locate(set, found, changes);
	int rc = count ? hd_pull_cut(found, changes, count, NULL, &cut, err) : 0;
	if (!rc && cut.hosts)
		rc = hd_error_set(err, -ENETUNREACH, "%" PRIu32 " host%s would be cut off",
				  cut.hosts, cut.hosts == 1 ? "" : "s");
	if (!rc && count)
		rc = hd_fabric_without(found, changes, count, HD_NONE, out, err);
	free(changes);
	return rc;
}

/* Entries that switches would lack, though they have them now. */
static int check_missing(const struct trial *trial, struct hd_error *err)
{
	const struct engines *engines = trial->binding->engines;
	const struct routing *before = engines->context->published, *now = engines->pending;
	const uint64_t missing = hd_routes_count_missing(now->fabric, now->routes);
	const uint64_t lacked =
	    before ? hd_routes_count_missing(before->fabric, routing_base(before)) : missing;

	return missing <= lacked
		   ? 0
		   : hd_error_set(err, -ENETUNREACH,
				  "switches would lack %" PRIu64
				  " entries that they have: no path is free of credit loops",
				  missing - lacked);
}

/* Entries that are not moved in proved steps: on the subnet with what is drained, since packets go there until the last
 * entry has left it. */
static int count_unproved(const struct hd_fabric *alive, struct hd_routes *held,
			  const struct hd_routes *wanted, unsigned threads, uint64_t *count,
			  struct hd_error *err)
{
	const struct hd_sweep_request request = {
	    .fabric = alive, .held = held, .wanted = wanted, .threads = threads};
	struct hd_sweep_part part = {.plan = NULL};
	struct hd_sweep *sweep = NULL;
	int rc = hd_sweep_new(&request, &sweep, err);

	while (!rc && !(rc = hd_sweep_next(sweep, &part, err)) && part.plan) {
		*count += part.proved ? 0 : part.plan->entries;
		for (uint32_t i = 0; i < part.plan->write_count; i++) {
			const struct hd_repair_write *write = &part.plan->writes[i];
			memcpy(hd_routes_row(held, write->sw) + (size_t)write->block * HD_LFT_BLOCK,
			       write->ports, HD_LFT_BLOCK);
		}
	}
	hd_sweep_free(sweep);
	return rc;
}

static int check_order(const struct trial *trial, const struct hd_fabric *alive,
		       struct hd_error *err)
{
	const struct engines *engines = trial->binding->engines;
	const struct routing *before = engines->context->published, *now = engines->pending;
	struct hd_routes *held = NULL, *wanted = NULL;
	uint64_t unproved = 0;

	if (!before || trial->unproved_too)
		return 0;
	int rc = hd_routes_rebase(before->fabric, before->routes, alive, &held, err);
	if (!rc)
		rc = hd_routes_rebase(now->fabric, now->routes, alive, &wanted, err);
	const struct hd_options *sweep = hd_config_options(engines->context->config, "sweep");
	const uint64_t most = (uint64_t)hd_options_get(sweep, "max_entries")->number;
	const uint64_t changes = rc ? 0 : hd_routes_count_changes(held, wanted);
	if (!rc && engines->afresh && most && changes > most)
		rc = hd_error_set(err, -E2BIG,
				  "%" PRIu64 " entries would change, and a sweep orders at most "
				  "max_entries = %" PRIu64 " of [sweep] in heddle.conf",
				  changes, most);
	if (!rc)
		rc = count_unproved(alive, held, wanted, settings_threads(engines->context->config),
				    &unproved, err);
	if (!rc && unproved)
		rc = hd_error_set(err, -ELOOP,
				  "no order of the changes is proved: %" PRIu64
				  " entries could close a credit loop meanwhile",
				  unproved);
	hd_routes_free(held);
	hd_routes_free(wanted);
	return rc;
}

static void note_in_routing(const struct trial *trial, const struct drained_set *set,
			    struct hd_fabric *alive)
{
	struct routing *pending = trial->binding->engines->pending;

	pending->alive = alive;
	const bool other = !drained_set_equal(set, &trial->out);
	pending->ordered = other || trial->binding->engines->afresh;
	pending->drains = alive && other;
}

static void drop_pending(struct engines *engines)
{
	routing_release(engines->pending);
	engines->pending = NULL;
}

/* On success `found` is not the caller's any more. */
static int try(struct trial *trial, const struct drained_set *set, bool is_new,
	       struct hd_error *err)
{
	struct engines *engines = trial->binding->engines;
	struct hd_fabric *rest, *alive = trial->found;
	int rc = leave_out(trial->found, set, &rest, err);
	const bool copied = !rc && !rest && engines->afresh; /* checks can fail after the routing */

	if (copied)
		rc = hd_fabric_without(trial->found, NULL, 0, HD_NONE, &rest, err);
	if (rc)
		return rc;
	if (!rest) {
		rest = trial->found;
		alive = NULL;
	}
	rc = trial->route(trial->binding, rest, err);
	if (rc && alive)
		hd_fabric_free(rest);
	if (rc)
		return rc;
	rc = is_new && alive ? check_missing(trial, err) : 0;
	if (!rc && is_new && alive)
		rc = check_order(trial, alive, err);
	if (rc) {
		drop_pending(engines); /* with the rest */
		return rc;
	}
	note_in_routing(trial, set, copied ? NULL : alive);
	if (copied)
		hd_fabric_free(trial->found);
	return 0;
}

static void say(const struct trial *trial, const char *what)
{
	const struct part_context *context = trial->binding->engines->context;

	log_error(&context->log, LOG_ERROR_DRAIN, "%s: %s", what, trial->reason.text);
}

/* Leaves out nothing, if what is accepted cannot be. */
static int route_accepted(struct trial *trial, struct drained_decision *decision,
			  struct hd_error *err)
{
	static const struct drained_set nothing = {0};
	int rc = try(trial, &trial->accepted, false, &trial->reason);

	decision->left_out = !rc;
	if (!rc || !trial->accepted.count) {
		if (rc)
			*err = trial->reason;
		return rc;
	}
	snprintf(decision->suspended, sizeof(decision->suspended), "%s", trial->reason.text);
	rc = try(trial, &nothing, false, err);
	if (!rc)
		say(trial, "what is drained is used again until that does no harm");
	return rc;
}

static int route_wanted(struct trial *trial, struct drained_decision *decision,
			struct hd_error *err)
{
	if (!try(trial, &trial->wanted, true, &trial->reason)) {
		decision->left_out = true;
		decision->set = trial->wanted;
		trial->wanted = (struct drained_set){0};
		return 0;
	}
	struct trial refused = {.binding = trial->binding, .reason = trial->reason};
	int rc = route_accepted(trial, decision, err);
	if (rc)
		return rc;
	snprintf(decision->refusal, sizeof(decision->refusal), "%s", refused.reason.text);
	say(&refused, "a drain is refused");
	return 0;
}

/* What is accepted is left out, and no entry is kept. If that fails, all stays as it was. */
static int route_afresh(struct trial *trial, struct drained_decision *decision,
			struct hd_error *err)
{
	struct engines *engines = trial->binding->engines;

	engines->afresh = true;
	int rc = try(trial, &trial->accepted, true, &trial->reason);
	engines->afresh = false;
	if (!rc) {
		decision->left_out = true;
		decision->set = trial->accepted;
		trial->accepted = (struct drained_set){0};
		return 0;
	}
	snprintf(decision->refusal, sizeof(decision->refusal), "%s", trial->reason.text);
	say(trial, "nothing is routed afresh");
	return route_accepted(trial, decision, err);
}

int engine_drained_route(struct engine_binding *binding, struct hd_fabric *found,
			 engine_route_fn *route, struct drained_decision *decision,
			 struct hd_error *err)
{
	struct drained *drained = binding->engines->context->drained;
	struct trial trial = {.binding = binding, .found = found, .route = route};
	int rc;

	*decision = (struct drained_decision){.number = 0};
	if (!drained)
		return route(binding, found, err);
	rc = copy_sets(drained, &trial) ? hd_error_no_memory(err) : 0;
	decision->number = trial.number;
	drained_set_mark_shared(&trial.wanted, found, &trial.wanted);
	if (!rc && trial.afresh) {
		rc = route_afresh(&trial, decision, err);
	} else if (!rc && !drained_set_has_all(&trial.accepted, &trial.wanted)) {
		rc = route_wanted(&trial, decision, err);
	} else if (!rc) {
		/* the same as before, or less, which is never worse: nothing refuses it */
		drained_set_release(&trial.accepted);
		trial.accepted = trial.wanted;
		trial.wanted = (struct drained_set){0};
		rc = route_accepted(&trial, decision, err);
		decision->set = trial.accepted;
		trial.accepted = (struct drained_set){0};
	}
	release_sets(&trial);
	if (rc)
		drained_set_release(&decision->set);
	return rc;
}

void engine_drained_leave_out(const struct part_context *context, struct hd_fabric **fabric)
{
	struct drained *drained = context->drained;
	struct drained_set out = {0};
	struct hd_fabric *rest = NULL;

	if (!drained)
		return;
	pthread_mutex_lock(&drained->lock);
	int rc = drained_set_copy(&drained->out, &out);
	pthread_mutex_unlock(&drained->lock);
	if (!rc)
		rc = leave_out(*fabric, &out, &rest, NULL);
	drained_set_release(&out);
	if (rc || !rest)
		return;
	hd_fabric_free(*fabric);
	*fabric = rest;
}
