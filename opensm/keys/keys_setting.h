/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges one SET. Switches have nothing to do with it yet. */
#ifndef OPENSM_KEYS_SETTING_H
#define OPENSM_KEYS_SETTING_H

#include <stdbool.h>

struct setting;

/*
 * Writes the entries into the tables of the batch and proves them, and all mixtures with the entries in force. The tables
 * differ from those in force only in entries for other LIDs. Errors: -EINVAL, -ELOOP it is unsound, or cannot be proved
 * together with those before it, with the reason; -ENOMEM. Then setting_undo() and
 * setting_note_proof() are to be called.
 */
int setting_judge(struct setting *setting);

/* The tables get back the entries that are in force, if they do not have them. */
void setting_undo(struct setting *setting);

/* What the proof has of it is in force, or is not. */
void setting_note_proof(struct setting *setting, bool in_force);

/* It is in force: its LIDs are those of its key. O(LIDs of the key). */
void setting_own(const struct setting *setting);

void setting_release(struct setting *setting);

#endif
