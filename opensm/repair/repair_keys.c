/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_keys.h"
#include "keys_shared.h"
#include "opensm_headers.h"
#include "part.h"
#include "routing.h"
#include <heddle/change/keys_proof.h>

#include <errno.h>

int repair_keys_begin(struct repair_keys *keys, struct keys_shared *shared, struct hd_error *err)
{
	if (!shared)
		return 0;
	int rc = keys_shared_borrow_turn(shared, &keys->turn, err);

	if (!rc)
		keys->shared = shared;
	return rc;
}

static const struct routing *origin_of(const struct routing *routing)
{
	return routing->origin ? routing->origin : routing;
}

static int take_tables(const struct routing *published, struct hd_routes **in_place,
		       struct hd_repair_base **base, unsigned threads, const struct hd_go_on *go_on,
		       struct hd_error *err)
{
	struct hd_routes *tables = hd_routes_copy(published->routes);
	struct hd_repair_base *fresh;
	int rc = tables ? hd_repair_base_take(*base, *in_place, tables, go_on, err)
			: hd_error_no_memory(err);

	/* dependencies of keys that have gone are in the way */
	if (rc == -ELOOP) {
		rc = hd_repair_base_new(published->fabric, tables, threads, go_on, &fresh, err);
		if (!rc) {
			hd_repair_base_free(*base);
			*base = fresh;
		}
	}
	if (rc) {
		hd_routes_free(tables);
		return rc;
	}
	hd_routes_free(*in_place);
	*in_place = tables;
	return 0;
}

int repair_keys_adopt(struct routing *published, struct routing **held, struct hd_routes **in_place,
		      struct hd_repair_base **base, unsigned threads, const struct hd_go_on *go_on,
		      struct hd_error *err)
{
	int rc = 0;

	if (published && published == *held) {
		routing_release(published);
		return 0;
	}
	if (!published || origin_of(published) != origin_of(*held))
		rc = hd_error_set(err, -ECANCELED, "other tables are in force");
	else
		rc = take_tables(published, in_place, base, threads, go_on, err);
	if (rc) {
		routing_release(published);
		return rc;
	}
	routing_release(*held);
	*held = published;
	return 0;
}

int repair_keys_apply(struct repair_keys *keys, const struct hd_fabric *damaged,
		      struct hd_routes *repaired, unsigned threads, struct hd_routes **tables,
		      struct hd_error *err)
{
	*tables = repaired;
	if (!keys->shared || !keys_shared_has_keys(keys->shared))
		return 0;
	struct keys_set *set = keys_shared_set(keys->shared);
	int rc = keys_apply(damaged, repaired, set, threads, &keys->applied, &keys->broken, err);

	keys_set_release(set);
	if (rc)
		return rc;
	keys->any = true;
	if (keys->applied.routes)
		*tables = keys->applied.routes;
	return 0;
}

void repair_keys_give(struct repair_keys *keys, struct routing *routing)
{
	if (keys->applied.routes)
		routing_take_keys(routing, keys->applied.routes);
	keys->applied.routes = NULL;
}

void repair_keys_land(struct repair_keys *keys)
{
	if (!keys->any)
		return;
	/* the former set is released without OpenSM's lock */
	keys->applied.set = keys_shared_replace_set(keys->shared, keys->applied.set, &keys->broken);
}

/* Only a sweep finds out what the switches hold. */
static void demand_sweep(const struct keys_shared *shared)
{
	struct osm_opensm *osm = shared->context->osm;

	osm->subn.force_heavy_sweep = TRUE;
	osm_sm_signal(&osm->sm, OSM_SIGNAL_SWEEP);
}

void repair_keys_end(struct repair_keys *keys, struct routing *published, bool sent)
{
	if (keys->shared && !published && sent && keys->turn) {
		demand_sweep(keys->shared);
	} else if (keys->shared) {
		struct hd_keys_proof *proof = published ? keys->applied.proof : NULL;
		if (proof)
			keys->applied.proof = NULL;
		keys_shared_return_turn(keys->shared, keys->turn,
					published ? routing_hold(published) : NULL, proof);
	}
	hd_keys_proof_free(keys->applied.proof);
	hd_routes_free(keys->applied.routes);
	keys_set_release(keys->applied.set);
	keys_broken_release(&keys->broken);
	*keys = (struct repair_keys){0};
}
