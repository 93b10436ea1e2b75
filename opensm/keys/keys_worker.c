/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_worker.h"
#include "keys_entries.h"
#include "master.h"
#include "opensm_headers.h"
#include "part.h"
#include "routing.h"
#include <heddle/ar_manager/pins.h>
#include <heddle/change/keys_proof.h>

#include <errno.h>
#include <heddle/fabric/write.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int keys_worker_init(struct keys_worker *worker, struct keys_shared *shared, struct hd_error *err)
{
	*worker = (struct keys_worker){.shared = shared};
	worker->owner = calloc(HD_LID_LAST + 1u, sizeof(*worker->owner));
	worker->set = keys_shared_set(shared);
	return worker->owner ? 0 : hd_error_no_memory(err);
}

void keys_worker_forget_proof(struct keys_worker *worker)
{
	hd_keys_proof_free(worker->proof);
	routing_release(worker->proved);
	hd_ar_plan_free(worker->proved_plan);
	worker->proved_plan = NULL;
	worker->proof = NULL;
	worker->proved = NULL;
}

void keys_worker_release(struct keys_worker *worker)
{
	hd_smp_queue_free(worker->queue);
	keys_worker_forget_proof(worker);
	adaptive_view_release(&worker->adaptive);
	routing_release(worker->routing);
	hd_routes_free(worker->spare);
	keys_news_release(&worker->news);
	keys_set_release(worker->owned);
	keys_set_release(worker->set);
	free(worker->met);
	free(worker->owner);
	free(worker->netlist);
	free(worker->aside);
}

bool keys_worker_is_master(const struct keys_worker *worker)
{
	return master_is_ours(worker->shared->context->osm);
}

/* A proof without the groups in force, or with others, is void. */
static void check_proof(struct keys_worker *worker)
{
	if (worker->proof && worker->proved_plan != worker->adaptive.plan)
		keys_worker_forget_proof(worker);
}

/* Looks at adaptive routing. False: it is being programmed. */
static bool take_adaptive(struct keys_worker *worker)
{
	struct adaptive *adaptive = worker->shared->context->adaptive;
	struct adaptive_view now;

	check_proof(worker);
	if (adaptive_is(adaptive, &worker->adaptive))
		return true;
	adaptive_look(adaptive, &now);
	if (now.state == ADAPTIVE_CHANGING)
		return false;
	adaptive_view_release(&worker->adaptive);
	worker->adaptive = now;
	worker->unprovable = false;
	check_proof(worker);
	return true;
}

uint64_t keys_worker_begin(struct keys_worker *worker)
{
	uint64_t turn = keys_shared_turn(worker->shared);

	if (turn == worker->canceled_turn || (turn && !take_adaptive(worker)))
		return 0;
	if (turn) {
		keys_set_release(worker->set);
		worker->set = keys_shared_set(worker->shared);
	}
	return turn;
}

const char *keys_worker_waits_for(const struct keys_worker *worker)
{
	const struct part_context *context = worker->shared->context;
	const bool changing = adaptive_state_now(context->adaptive) == ADAPTIVE_CHANGING &&
			      writer_turn(context->writer);

	return changing ? "adaptive routing is being programmed" : "OpenSM sweeps the subnet";
}

/* ---- what keyd gets of the fabric ---- */

static int write_netlist(const struct hd_fabric *fabric, char **text, size_t *length)
{
	FILE *stream = open_memstream(text, length);
	int rc = stream ? hd_fabric_write_netlist(fabric, stream, NULL) : -ENOMEM;

	if (stream && fclose(stream) && !rc)
		rc = -ENOMEM;
	if (rc && stream)
		free(*text);
	return rc;
}

static int compare_guids(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static uint64_t *list_aside(const struct hd_fabric *fabric, uint32_t *count)
{
	uint64_t *list = malloc((fabric->port_count + (size_t)1) * sizeof(*list));

	*count = 0;
	for (uint32_t port = 0; list && port < fabric->port_count; port++)
		if (fabric->aside[port] && fabric->port_guid[port])
			list[(*count)++] = fabric->port_guid[port];
	if (list)
		qsort(list, *count, sizeof(*list), compare_guids);
	return list;
}

/* Begins an epoch, unless the fabric is as in the one before. */
static bool note_fabric(struct keys_worker *worker, const struct hd_fabric *fabric)
{
	char *text;
	size_t length;
	uint32_t count;
	uint64_t *aside = list_aside(fabric, &count);

	if (!aside || write_netlist(fabric, &text, &length)) {
		free(aside);
		log_error(&worker->shared->context->log, LOG_ERROR_KEYS,
			  "keys: out of memory: heddle-keyd gets no new fabric");
		return false;
	}
	if (worker->epoch && length == worker->netlist_length &&
	    !memcmp(text, worker->netlist, length) && count == worker->aside_count &&
	    !memcmp(aside, worker->aside, count * sizeof(*aside))) {
		free(text);
		free(aside);
		return false;
	}
	free(worker->netlist);
	free(worker->aside);
	worker->netlist = text;
	worker->netlist_length = length;
	worker->aside = aside;
	worker->aside_count = count;
	worker->epoch++;
	return true;
}

/* ---- news ---- */

/* The proof that the sweeper thread has made, or the last one if nothing has changed. */
static void take_proof(struct keys_worker *worker, struct keys_news *news)
{
	if (news->proof) {
		keys_worker_forget_proof(worker);
		worker->proof = news->proof;
		worker->proved = routing_hold(news->routing);
		worker->proved_plan = NULL;
		news->proof = NULL;
	} else if (!news->same) {
		keys_worker_forget_proof(worker);
	}
}

/* Adds the keys in force, but one, to a proof of the tables without keys. They are sound already. */
static int add_keys(struct keys_worker *worker, struct hd_keys_proof *proof, uint64_t but,
		    struct hd_error *err)
{
	const struct keys_set *set = worker->set;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < set->count; i++) {
		const struct keys_key *key = set->keys[i];
		struct keys_entries entries;

		if (key->id == but)
			continue;
		rc = keys_entries_find(worker->routing->fabric, key->entries, key->count, &entries,
				       err);
		if (rc)
			break;
		rc = hd_keys_proof_add(proof, worker->routing->routes, entries.lids,
				       entries.lid_count, err);
		/* the groups were proved with the keys in force, but not with each entry before and after */
		if (rc == -ELOOP && worker->adaptive.plan)
			rc = 0;
		keys_entries_release(&entries);
	}
	return rc;
}

int keys_worker_make_proof(struct keys_worker *worker, uint64_t but, struct hd_error *err)
{
	struct routing *routing = worker->routing;
	struct hd_keys_proof *proof;
	struct hd_ar_plan *plan = worker->adaptive.plan;
	int rc = hd_keys_proof_new_adaptive(routing->fabric, routing_base(routing), plan,
					    worker->news.threads, &proof, err);

	if (rc)
		return rc;
	rc = add_keys(worker, proof, but, err);
	if (rc) {
		hd_keys_proof_free(proof);
		return rc;
	}
	keys_worker_forget_proof(worker);
	worker->proof = proof;
	worker->proved = routing_hold(routing);
	worker->proved_plan = plan ? hd_ar_plan_hold(plan) : NULL;
	return 0;
}

/* Before the first SET needs it, but only when it is known what it has to prove. */
static void prepare_proof(struct keys_worker *worker)
{
	struct hd_error err;

	if (worker->proof || worker->unprovable || !worker->routing ||
	    !keys_shared_turn(worker->shared) || !take_adaptive(worker) ||
	    worker->adaptive.state == ADAPTIVE_UNKNOWN || !keys_worker_make_proof(worker, 0, &err))
		return;
	worker->unprovable = true;
	log_error(&worker->shared->context->log, LOG_ERROR_KEYS, "keys: no key can be in force: %s",
		  err.text);
}

bool keys_worker_take_news(struct keys_worker *worker, struct keys_changes *changes)
{
	struct keys_news news;

	*changes = (struct keys_changes){0};
	keys_shared_take_news(worker->shared, &news);
	if (!news.any) {
		prepare_proof(worker);
		return false;
	}
	worker->unprovable = false;
	changes->broken = news.broken;
	news.broken = (struct keys_broken_list){0};
	take_proof(worker, &news);
	if (worker->proof && changes->broken.count) /* they may still be in it */
		hd_keys_proof_note_removed(worker->proof);
	keys_news_release(&worker->news);
	worker->news = news;
	routing_release(worker->routing);
	worker->routing = news.routing ? routing_hold(news.routing) : NULL;
	hd_routes_free(worker->spare);
	free(worker->met);
	worker->met = NULL;
	worker->spare = worker->routing ? hd_routes_copy(worker->routing->routes) : NULL;
	hd_smp_queue_free(worker->queue);
	worker->queue = NULL;
	keys_set_release(worker->set);
	worker->set = keys_shared_set(worker->shared);
	changes->fabric = worker->routing && note_fabric(worker, worker->routing->fabric);
	prepare_proof(worker);
	return true;
}
