/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `heddle engines --json` says of engines beyond their names and options. */
#ifndef CLI_ENGINE_FACTS_H
#define CLI_ENGINE_FACTS_H

#include <jansson.h>

/*
 * Adds to each engine of a catalogue_json() list: description, needs_tree, one_lane,
 * shortest_paths, keeps_entries, policies: [{name, summary, used}]. Takes over the list; NULL: no
 * memory.
 */
json_t *engine_facts_add(json_t *list);

#endif
