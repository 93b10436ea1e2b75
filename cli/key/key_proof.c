/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_proof.h"
#include "need.h"

#include <errno.h>
#include <heddle/change/keys_proof.h>
#include <stdlib.h>

static int renew(struct key_proof *proof, struct hd_error *err)
{
	hd_keys_proof_free(proof->proof);
	proof->proof = NULL;
	return hd_keys_proof_new(proof->fabric, proof->base, proof->threads, &proof->proof, err);
}

void key_proof_begin(struct key_proof *proof, const struct hd_log *log)
{
	struct hd_error why = {""};

	if (!proof->base)
		return;
	proof->laid = need(hd_routes_copy(proof->base));
	proof->lids = need(calloc((size_t)proof->fabric->lid_count + 1, sizeof(*proof->lids)));
	proof->seen = need(calloc((size_t)proof->fabric->lid_count + 1, sizeof(*proof->seen)));
	if (need_enough(renew(proof, &why)))
		hd_log(log, HD_LOG_WARNING, "no key is proved to be free of deadlock: %s",
		       why.text);
}

static uint8_t *entry_of(const struct key_proof *proof, struct hd_routes *routes,
			 const struct hd_key_entry *entry)
{
	return hd_routes_row(routes, hd_fabric_find_node(proof->fabric, entry->switch_guid)) +
	       entry->lid;
}

static int compare_lids(const void *left, const void *right)
{
	uint16_t a = *(const uint16_t *)left, b = *(const uint16_t *)right;

	return (a > b) - (a < b);
}

/* The LIDs of the entries, each once. Returns their number. */
static uint32_t list_lids(const struct key_proof *proof, const struct hd_key_overlay *overlay)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < overlay->count; i++) {
		uint16_t lid = overlay->entries[i].lid;
		if (!proof->seen[lid])
			proof->lids[count++] = lid;
		proof->seen[lid] = true;
	}
	for (uint32_t i = 0; i < count; i++)
		proof->seen[proof->lids[i]] = false;
	qsort(proof->lids, count, sizeof(*proof->lids), compare_lids);
	return count;
}

static int prove(struct key_proof *proof, uint32_t lids, struct hd_error *err)
{
	int rc = hd_keys_proof_add(proof->proof, proof->laid, proof->lids, lids, err);

	if (rc != -ELOOP || !hd_keys_proof_is_stale(proof->proof))
		return rc;
	rc = renew(proof, err);
	return rc ? rc : hd_keys_proof_add(proof->proof, proof->laid, proof->lids, lids, err);
}

int key_proof_try(struct key_proof *proof, const struct hd_key_overlay *overlay,
		  struct hd_error *err)
{
	if (!proof->proof)
		return 0;
	uint32_t lids = list_lids(proof, overlay);
	for (uint32_t i = 0; i < overlay->count; i++)
		*entry_of(proof, proof->laid, &overlay->entries[i]) = overlay->entries[i].port;
	int rc = prove(proof, lids, err);
	for (uint32_t i = 0; i < overlay->count; i++)
		*entry_of(proof, proof->laid, &overlay->entries[i]) = hd_routes_port(
		    proof->base,
		    hd_fabric_find_node(proof->fabric, overlay->entries[i].switch_guid),
		    overlay->entries[i].lid);
	if (!rc && proof->alone)
		hd_keys_proof_note_removed(proof->proof);
	return rc;
}

void key_proof_release(struct key_proof *proof)
{
	hd_keys_proof_free(proof->proof);
	hd_routes_free(proof->laid);
	free(proof->lids);
	free(proof->seen);
}
