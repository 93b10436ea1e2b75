/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engines' tables and baselines survive OpenSM in a file. For the sweeper thread without
 * OpenSM's lock, and at the end. */
#ifndef OPENSM_ENGINES_STORED_H
#define OPENSM_ENGINES_STORED_H

struct engines;

/* Reads what an earlier run of OpenSM has stored, unless that was done before. */
void engines_stored_load(struct engines *engines);

/* Stores what has changed since the last time. The log reports the first of several failures. */
void engines_stored_save(struct engines *engines);

#endif
