/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The switches that send to the LID of a column, until each has a path on a lane. */
#ifndef ENGINES_ASIDE_SOURCES_H
#define ENGINES_ASIDE_SOURCES_H

#include "aside_job.h"

/* Gives the waiting sources that have a path in the column its first lane. Errors: -ENOMEM. */
int aside_sources_settle(struct aside_job *job);

/* The graphs get the paths of the waiting sources, on the lanes that these have in the job's routes. All
 * of them are whole or missing, and free of credit loops together. */
void aside_sources_note(struct aside_job *job);

/* Looks for other next hops for the waiting sources on a lane; some may wait on. Errors: -ENOMEM. */
int aside_sources_grow(struct aside_job *job, unsigned lane);

/* Finds the others next hops on lane `first` or later ones, also new ones; the rest gets none.
 * Errors: -ENOSPC, -ENOMEM. */
int aside_sources_finish(struct aside_job *job, unsigned first, struct hd_error *err);

/* Whether tables in place have no entry for the source, though they have paths to the switch: then
 * it may stay so. */
bool aside_sources_is_spared(const struct aside_job *job, uint32_t source);

/* The waiting sources get no next hop, and are counted. Errors: -ENOSPC others use the entry. */
int aside_sources_give_up(struct aside_job *job, struct hd_error *err);

/* A source that was given up waits again. */
void aside_sources_take_back(struct aside_job *job, uint32_t source);

#endif
