/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keys_repair.h"
#include "part.h"
#include "routing.h"
#include <heddle/change/keys_proof.h>

#include <errno.h>

int keys_repair_begin(struct keys_repair *repair, struct keys_shared *shared, struct hd_error *err)
{
	*repair = (struct keys_repair){0};
	pthread_mutex_lock(&shared->lock);
	const bool unsure = shared->unsure_of_set;
	pthread_mutex_unlock(&shared->lock);
	return unsure ? hd_error_set(err, -EAGAIN, "a routing key is being put in force") : 0;
}

int keys_repair_apply(struct keys_repair *repair, struct keys_shared *shared,
		      struct repair_change *change, struct hd_error *err)
{
	if (!keys_shared_has_keys(shared))
		return 0;
	struct keys_set *set = keys_shared_set(shared);
	int rc = keys_apply(change->damaged, change->repaired, set, change->threads,
			    &repair->applied, &repair->broken, err);

	keys_set_release(set);
	if (rc)
		return rc;
	repair->any = true;
	rc = keys_apply_pins(change->damaged, repair->applied.set, &change->pins, err);
	if (rc) {
		hd_routes_free(repair->applied.routes);
		repair->applied.routes = NULL;
		return rc;
	}
	change->strict = "routing keys are in force";
	change->keyed = repair->applied.routes;
	repair->applied.routes = NULL;
	return 0;
}

void keys_repair_land(struct keys_repair *repair, struct keys_shared *shared,
		      const struct repair_change *change)
{
	if (repair->any) /* the former set is released without OpenSM's lock */
		repair->applied.set =
		    keys_shared_replace_set(shared, repair->applied.set, &repair->broken);
	if (*shared->last.refusal)
		return;
	keys_shared_note_repaired(shared, routing_hold(change->routing), repair->applied.proof,
				  &repair->old);
	repair->applied.proof = NULL;
}

void keys_repair_end(struct keys_repair *repair, struct keys_shared *shared,
		     struct repair_change *change)
{
	if (!change->published && change->sent) {
		keys_shared_note_unsure(shared, change->turn, &shared->unsure_of_repair);
		writer_demand_sweep(shared->context->writer);
	}
	for (uint32_t i = 0; change->published && i < repair->broken.count; i++)
		change->note_broken(change, repair->broken.list[i].key,
				    repair->broken.list[i].reason);
	if (change->published)
		keys_shared_wake(shared);
	keys_news_release(&repair->old);
	hd_keys_proof_free(repair->applied.proof);
	keys_set_release(repair->applied.set);
	keys_broken_release(&repair->broken);
	*repair = (struct keys_repair){0};
}
