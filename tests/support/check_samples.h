/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics and tables for the checker's tests. Functions abort the test when memory is short. */
#ifndef CHECK_SAMPLES_H
#define CHECK_SAMPLES_H

#include <heddle/fabric.h>

/* Repeatable random numbers: 0 .. bound-1. */
uint32_t sample_random(uint64_t *state, uint32_t bound);

/* Anything goes: up to `switches_max` switches, parallel cables, switches cabled to themselves,
 * pieces without connection, bare switches, adapters of two ports, LMC 0 .. 2. */
struct hd_fabric *sample_random_fabric(uint64_t *state, uint32_t switches_max);

/* Switches in a ring, 1 -> 2 by port 1 and back by port 2, with one host each at port 3. */
struct hd_fabric *sample_ring(uint32_t switches);

/* width x height switches, both ways round, ports 1 .. 4 = +x -x +y -y, one host each at 5. */
struct hd_fabric *sample_torus(uint32_t width, uint32_t height);

/* Two levels: every leaf to every spine once, `hosts` hosts a leaf. */
struct hd_fabric *sample_tree(uint32_t leaves, uint32_t spines, uint32_t hosts);

/* Every LID by a shortest path, chosen among the shortest by chance; what cannot be reached has
 * no entry. */
struct hd_routes *sample_shortest(const struct hd_fabric *fabric, uint64_t *state);

/* Every entry any number that comes. */
struct hd_routes *sample_nonsense(const struct hd_fabric *fabric, uint64_t *state);

/* Gives every pair a service level below `levels`, and the levels lanes by chance. */
void sample_service_levels(struct hd_routes *routes, unsigned levels, uint64_t *state);

#endif
