/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The proof that forwarding tables with the entries of keys are free of deadlock, as the subnet manager makes it. */
#ifndef CLI_KEY_PROOF_H
#define CLI_KEY_PROOF_H

#include <heddle/fabric.h>
#include <heddle/keyd.h>

struct hd_keys_proof;

struct key_proof {
	const struct hd_fabric *fabric;
	const struct hd_routes *base; /* the tables without keys; NULL: nothing can be proved */
	struct hd_routes *laid; /* the same with entries of a key, while it is proved */
	struct hd_keys_proof *proof; /* NULL: nothing can be proved */
	uint16_t *lids; /* room for those of a key */
	bool *seen; /* [lid_count] all false between proofs */
	unsigned threads;
	bool alone; /* the entries of one key at a time: those of the one before are gone */
};

/*
 * Fabric and tables must outlive the proof. If the tables have a credit loop of their own, a remark says so, and all
 * keys pass. Released with key_proof_release().
 */
void key_proof_begin(struct key_proof *proof, const struct hd_log *log);

/* Proves the entries. Errors: -ELOOP, -EINVAL with the reason; -ENOMEM. */
int key_proof_try(struct key_proof *proof, const struct hd_key_overlay *overlay,
		  struct hd_error *err);

void key_proof_release(struct key_proof *proof);

#endif
