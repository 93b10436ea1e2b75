/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ROUTING KEYS: heddle-keyd hands over routes for the flows of applications, which replace entries of the engine's
 * tables.
 *
 * THREE THREADS. The part's own thread serves the socket, and proves keys: keys_server.c, keys_batch.c. The writer's
 * thread programs what is proved: keys_send.c. The sweeper thread calls the hooks below. keys_shared.h has what
 * they share: the keys in force, and the news that a sweep or a repair leaves for the part's thread.
 *
 * A KEY IS SET (keys_setting.c): its entries are found; the tables with it are proved, and all mixtures of them with
 * those in force (keys_prove.c); then the writer sends the blocks that change, in the order of the proof. Keys that have
 * come together go together, if they need no order (keys_batch.c). If all switches acknowledge, the routing with the keys
 * is published, and they are in force. If one does not, the others get their old blocks again, in the reverse order, and
 * each key is tried on its own. If another job of the writer or the sweep has changed tables since the
 * proof, all of that is done once more.
 *
 * A SWEEP (computed) judges all keys over its new tables, since they may be unsound there, and heddle-keyd hears which
 * ones are out of force. A REPAIR does the same over what is left (keys_repair.h), and changes no other keys.
 *
 * WHAT IS NOT KNOWN. If it is not known what switches hold of a key, no repair begins before the next sweep; of a
 * repair, no key is set before it. Both ask for that sweep.
 */
#include "adaptive_state.h"
#include "ar_settings.h"
#include "keys_repair.h"
#include "keys_server.h"
#include "keys_shared.h"
#include "monotonic.h"
#include "opensm_headers.h"
#include "part.h"
#include "parts.h"
#include "port_path.h"
#include "routing.h"
#include "settings.h"
#include "socket_path.h"
#include "status_report.h"
#include <heddle/change/keys_proof.h>

#include <errno.h>
#include <inttypes.h>
#include <opensm/osm_ucast_cache.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the report ---- */

/* What the report of the plugin's state says of routing keys. */

struct keys_shared;

struct status_report;

#define NAMED_MOST 10u /* broken keys */

struct figures {
	bool wanted, listening, connected;
	char refusal[HD_CHANNEL_TEXT];
	uint32_t count; /* in force */
	uint32_t lost, named;
	struct keys_broken list[NAMED_MOST]; /* [named] */
};

static struct figures look(struct keys_shared *shared)
{
	struct figures figures;

	pthread_mutex_lock(&shared->lock);
	figures = (struct figures){.wanted = shared->wanted,
				   .listening = shared->listening,
				   .connected = shared->connected,
				   .count = shared->set->count,
				   .lost = shared->lost.count};
	memcpy(figures.refusal, shared->refusal, sizeof(figures.refusal));
	for (; figures.named < figures.lost && figures.named < NAMED_MOST; figures.named++)
		figures.list[figures.named] = shared->lost.list[figures.named];
	pthread_mutex_unlock(&shared->lock);
	return figures;
}

static void add_summary(const struct figures *figures, struct status_report *report)
{
	const char *keyd =
	    figures->connected ? "heddle-keyd is connected" : "heddle-keyd is not connected";
	char lost[64] = "";

	if (figures->lost)
		snprintf(lost, sizeof(lost), ", %" PRIu32 " broken", figures->lost);
	if (!figures->wanted)
		status_report_text(report, "summary", "off");
	else if (!figures->listening)
		status_report_text(report, "summary", "heddle-keyd cannot connect");
	else if (*figures->refusal)
		status_report_text(report, "summary", "none in force%s; %s; %s", lost,
				   figures->refusal, keyd);
	else
		status_report_text(report, "summary", "%" PRIu32 " in force%s; %s", figures->count,
				   lost, keyd);
}

static void add_broken(const struct figures *figures, struct status_report *report)
{
	status_report_list(report, "broken_keys");
	for (uint32_t i = 0; i < figures->named; i++) {
		status_report_item(report);
		status_report_number(report, "key", figures->list[i].key);
		status_report_text(report, "reason", "%s", figures->list[i].reason);
		status_report_item_end(report);
	}
	status_report_list_end(report);
	if (figures->lost)
		status_report_fault(report, "%" PRIu32 " routing key%s out of force; the first: %s",
				    figures->lost, figures->lost == 1 ? " is" : "s are",
				    figures->list[0].reason);
}

static void add_metrics(const struct figures *figures, struct status_report *report)
{
	static const struct status_metric
	    count = {"heddle_keys", "gauge", "Routing keys in force"},
	    broken = {"heddle_keys_broken", "gauge",
		      "Routing keys that are out of force and were not replaced"},
	    connected = {"heddle_keyd_connected", "gauge", "1: heddle-keyd is connected"};

	status_report_metric(report, &count, figures->count);
	status_report_metric(report, &broken, figures->lost);
	status_report_metric(report, &connected, figures->connected);
}

/* Adds the section `keys`. For the thread of the status part. */
static void keys_report_add(struct keys_shared *shared, struct status_report *report)
{
	const struct figures figures = look(shared);

	status_report_section(report, "keys");
	add_summary(&figures, report);
	status_report_flag(report, "listening", figures.listening);
	status_report_flag(report, "connected", figures.connected);
	status_report_text(report, "refusal", "%s", figures.refusal);
	status_report_number(report, "count", figures.count);
	status_report_number(report, "broken", figures.lost);
	add_broken(&figures, report);
	if (figures.wanted && !figures.listening)
		status_report_fault(report, "heddle-keyd cannot connect; OpenSM's log says why");
	if (figures.listening)
		add_metrics(&figures, report);
}

/* ---- the part ---- */

#define RETRIES_MOST 3

/* Only the hooks of the sweeper thread use what is not `shared`. */
struct keys_state {
	struct part_context *context;
	struct keys_shared shared;
	struct keys_server *server; /* NULL: nobody can connect */
	char socket[HD_ERROR_TEXT], group[HD_ERROR_TEXT]; /* tried last */
	struct routing *given; /* which the thread has got last; held; NULL: none */
	bool same; /* the present routing has the fabric and the tables of that one */
	struct hd_keys_proof *proof; /* of the present routing, for the thread; NULL: none */
	struct keys_repair repair; /* for the writer's thread */
};

static int create(struct part_context *context, void **out, struct hd_error *err)
{
	struct keys_state *state = calloc(1, sizeof(*state));
	int rc;

	if (!state)
		return hd_error_no_memory(err);
	state->context = context;
	rc = keys_shared_init(&state->shared, context, err);
	if (rc) {
		free(state);
		return rc;
	}
	/* a SET may wait for adaptive routing, and the proof needs its groups */
	adaptive_watch(context->adaptive, ADAPTIVE_KEYS, state->shared.wake);
	*out = state;
	return 0;
}

static void ends(void *data)
{
	struct keys_state *state = data;

	adaptive_watch(state->context->adaptive, ADAPTIVE_KEYS, -1);
	keys_server_end(state->server);
	state->server = NULL;
}

static void destroy(void *data)
{
	struct keys_state *state = data;

	routing_release(state->given);
	hd_keys_proof_free(state->proof);
	keys_shared_release(&state->shared);
	free(state);
}

/* ---- the server ---- */

static const char *option(const struct keys_state *state, const char *name)
{
	return hd_options_get(hd_config_options(state->context->config, "keys"), name)->text;
}

static int start_server(struct keys_state *state, const char *path, const char *group,
			struct hd_error *err)
{
	int rc = writer_add(state->context->writer, &state->shared.client, err);

	return rc ? rc : keys_server_start(&state->shared, path, group, &state->server, err);
}

/* Starts, ends or moves the server if its settings have changed. */
static void keep_server(struct keys_state *state)
{
	const char *group = option(state, "group");
	char path[sizeof(state->socket)];
	struct hd_error err = {""};

	port_path_expand(port_path_guid(state->context->osm), option(state, "socket"), path,
			 sizeof(path));
	if (!strcmp(path, state->socket) && !strcmp(group, state->group))
		return;
	keys_server_end(state->server);
	state->server = NULL;
	snprintf(state->socket, sizeof(state->socket), "%s", path);
	snprintf(state->group, sizeof(state->group), "%s", group);
	keys_shared_note_listening(&state->shared, *path != 0, false);
	if (*path && start_server(state, path, group, &err))
		state->server = NULL;
	if (*err.text)
		log_error(&state->context->log, LOG_ERROR_KEYS,
			  "keys: heddle-keyd cannot connect: %s", err.text);
}

static void sweep_begins(void *data)
{
	struct keys_state *state = data;

	keep_server(state);
}

/* ---- keys in a sweep ---- */

/* A cache of tables would bring entries back without asking us. */
static void discovered(void *data)
{
	struct keys_state *state = data;
	struct osm_opensm *osm = state->context->osm;

	if (state->server && state->given && osm->subn.opt.use_ucast_cache)
		osm_ucast_cache_invalidate(&osm->sm.ucast_mgr);
}

/* With private tables a switch has several entries for a LID, and packets change their lanes. */
static bool is_private(const struct keys_state *state, const struct routing *routing)
{
	return ar_settings_may_be_private(state->context->config, routing->adaptive);
}

static void refuse_keys(const struct keys_state *state, const struct routing *routing, char *text,
			size_t size)
{
	const struct osm_routing_engine *used = state->context->osm->routing_engine_used;

	*text = '\0';
	if (!routing)
		snprintf(text, size, "the routing engine %s takes no keys",
			 used && used->name ? used->name : "in force");
	else if (!routing->engine->takes_keys)
		snprintf(text, size, "the routing engine %s takes no keys", routing->engine->name);
	else if (is_private(state, routing))
		snprintf(text, size,
			 "adaptive routing has private tables (ar.algorithm is dfp), which do not "
			 "go with keys");
}

/* Without memory for the list the keys are out all the same; HELD shows it. */
static void drop_all(struct keys_state *state, const char *reason)
{
	struct keys_set *empty = keys_shared_has_keys(&state->shared) ? keys_set_new() : NULL;
	struct keys_set *set;
	struct keys_broken_list broken = {0};

	if (!empty)
		return;
	set = keys_shared_set(&state->shared);
	for (uint32_t i = 0; i < set->count; i++)
		keys_broken_add(&broken, set->keys[i]->id, reason);
	keys_set_release(set);
	keys_shared_say_broken(&state->shared, &broken);
	keys_set_release(keys_shared_replace_set(&state->shared, empty, &broken));
	keys_broken_release(&broken);
}

/* Gives the routing the tables with the keys of the set, and their entries. */
static int take_keys(struct routing *routing, struct hd_routes *routes, const struct keys_set *set,
		     struct hd_error *err)
{
	struct hd_ar_pins pins = {0};
	int rc = keys_apply_pins(routing->fabric, set, &pins, err);

	if (rc) {
		hd_routes_free(routes);
		return rc;
	}
	routing_take_keys(routing, routes);
	routing_take_pins(routing, &pins);
	return 0;
}

/* The same keys over the same tables. */
static int apply_again(struct keys_state *state, struct routing *routing, struct hd_error *err)
{
	struct keys_set *set = keys_shared_set(&state->shared);
	struct hd_routes *routes;
	int rc = keys_apply_again(routing->fabric, routing->routes, set, &routes, err);

	if (!rc)
		rc = take_keys(routing, routes, set, err);
	keys_set_release(set);
	return rc;
}

static int apply_afresh(struct keys_state *state, struct routing *routing, struct hd_error *err)
{
	struct keys_set *set = keys_shared_set(&state->shared);
	struct keys_broken_list broken = {0};
	struct keys_applied applied;
	const double begun = monotonic_ms();
	int rc = state->given
		     ? keys_apply_drop_moved(routing->fabric, state->given->fabric, &set, &broken)
		     : 0;

	rc = rc ? hd_error_no_memory(err)
		: keys_apply(routing->fabric, routing->routes, set,
			     settings_threads(state->context->config), &applied, &broken, err);
	keys_set_release(set);
	if (rc) {
		keys_broken_release(&broken);
		return rc;
	}
	keys_shared_say_broken(&state->shared, &broken);
	log_info(&state->context->log,
		 "keys: %" PRIu32 " keys are sound over the new tables; proofs took %.1f ms",
		 applied.set->count, monotonic_ms() - begun);
	if (applied.routes)
		rc = take_keys(routing, applied.routes, applied.set, err);
	if (rc) {
		keys_set_release(applied.set);
		hd_keys_proof_free(applied.proof);
		keys_broken_release(&broken);
		return rc;
	}
	keys_set_release(keys_shared_replace_set(&state->shared, applied.set, &broken));
	keys_broken_release(&broken);
	state->proof = applied.proof;
	return 0;
}

static void apply(struct keys_state *state, struct routing *routing)
{
	struct hd_error err;
	int rc = 0;

	state->same =
	    state->given && keys_apply_is_same(state->given->fabric, routing_base(state->given),
					       routing->fabric, routing->routes);
	if (keys_shared_has_keys(&state->shared))
		rc = state->same ? apply_again(state, routing, &err)
				 : apply_afresh(state, routing, &err);
	if (rc)
		drop_all(state, err.text);
}

/* The sweeper thread changes tables now, in a sweep or for the command `reroute`. */
static void take_tables(struct keys_state *state)
{
	hd_keys_proof_free(state->proof);
	state->proof = NULL;
	state->same = false;
}

static void computed(void *data, struct routing *routing)
{
	struct keys_state *state = data;
	char refusal[HD_CHANNEL_TEXT];

	take_tables(state);
	refuse_keys(state, routing, refusal, sizeof(refusal));
	if (*refusal) {
		drop_all(state, refusal);
		return;
	}
	if (state->context->osm->subn.coming_out_of_standby)
		drop_all(state, "this OpenSM has not been the master of the subnet");
	apply(state, routing);
}

static void refused(void *data)
{
	take_tables(data);
}

/* Tables that are not ours have replaced those with keys. */
static void published(void *data)
{
	struct keys_state *state = data;
	char refusal[HD_CHANNEL_TEXT];

	if (state->context->published || osm_exit_flag)
		return;
	take_tables(state);
	refuse_keys(state, NULL, refusal, sizeof(refusal));
	drop_all(state, refusal);
}

/* ---- after a sweep ---- */

/* As HELLO says it. */
static void print_engine(const struct keys_state *state, const struct routing *routing, char *name)
{
	const struct osm_routing_engine *used = state->context->osm->routing_engine_used;

	if (routing)
		snprintf(name, KEYS_ENGINE_SIZE, "%s%s", is_private(state, routing) ? "ar_" : "",
			 routing->engine->name);
	else
		snprintf(name, KEYS_ENGINE_SIZE, "%s", used && used->name ? used->name : "none");
}

static void read_transport(const struct keys_state *state, struct keys_news *news)
{
	const osm_subn_t *subn = &state->context->osm->subn;

	news->limits = (struct hd_smp_limits)HD_SMP_LIMITS_DEFAULT;
	if (subn->opt.transaction_timeout)
		news->limits.timeout_ms = subn->opt.transaction_timeout;
	if (subn->opt.transaction_retries < RETRIES_MOST)
		news->limits.retries = subn->opt.transaction_retries;
	news->port_guid = cl_ntoh64(subn->sm_port_guid);
}

static void note_given(struct keys_state *state, struct routing *routing)
{
	if (routing)
		routing_hold(routing);
	routing_release(state->given);
	state->given = routing;
}

/* The thread may change the tables now. */
static void settled(void *data)
{
	struct keys_state *state = data;
	struct routing *routing = state->context->published;
	struct keys_news news = {.same = state->same,
				 .proof = state->proof,
				 .threads = settings_threads(state->context->config)};

	print_engine(state, routing, news.engine);
	refuse_keys(state, routing, news.refusal, sizeof(news.refusal));
	read_transport(state, &news);
	if (*news.refusal)
		routing = NULL;
	note_given(state, routing);
	news.routing = routing ? routing_hold(routing) : NULL;
	state->proof = NULL;
	keys_shared_give(&state->shared, &news);
}

/* A SET may wait for the turn. */
static void turn_given(void *data)
{
	struct keys_state *state = data;

	keys_shared_wake(&state->shared);
}

/* ---- repairs ---- */

static int repair_begins(void *data, struct repair_change *change, struct hd_error *err)
{
	struct keys_state *state = data;

	(void)change;
	return keys_repair_begin(&state->repair, &state->shared, err);
}

static int repair_routed(void *data, struct repair_change *change, struct hd_error *err)
{
	struct keys_state *state = data;

	return keys_repair_apply(&state->repair, &state->shared, change, err);
}

static void repair_lands(void *data, struct repair_change *change)
{
	struct keys_state *state = data;

	keys_repair_land(&state->repair, &state->shared, change);
}

static void repair_ends(void *data, struct repair_change *change)
{
	struct keys_state *state = data;

	keys_repair_end(&state->repair, &state->shared, change);
}

static void status(void *data, struct status_report *report)
{
	struct keys_state *state = data;

	keys_report_add(&state->shared, report);
}

const struct part keys_part = {
    .name = "keys",
    .create = create,
    .sweep_begins = sweep_begins,
    .discovered = discovered,
    .refused = refused,
    .computed = computed,
    .published = published,
    .settled = settled,
    .turn_given = turn_given,
    .repair_begins = repair_begins,
    .repair_routed = repair_routed,
    .repair_lands = repair_lands,
    .repair_ends = repair_ends,
    .status = status,
    .ends = ends,
    .destroy = destroy,
};
