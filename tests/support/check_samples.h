/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics and tables for the tests of the checker. The functions abort the test if memory is short.
 */
#ifndef CHECK_SAMPLES_H
#define CHECK_SAMPLES_H

#include <heddle/fabric.h>

/* Repeatable random numbers: 0 .. bound-1. */
uint32_t sample_random(uint64_t *state, uint32_t bound);

/* A random fabric of up to `switches_max` switches, with parallel cables, switches cabled to
 * themselves, several components, switches without hosts, adapters with two ports, LMC 0 .. 2. */
struct hd_fabric *sample_random_fabric(uint64_t *state, uint32_t switches_max);

/* Switches in a ring, 1 -> 2 by port 1 and back by port 2, with one host each at port 3. */
struct hd_fabric *sample_ring(uint32_t switches);

/* A torus of width x height switches. Ports 1 .. 4 are +x -x +y -y, and port 5 has a host. */
struct hd_fabric *sample_torus(uint32_t width, uint32_t height);

/* Two levels: a cable from every leaf to every spine, and `hosts` hosts on each leaf. */
struct hd_fabric *sample_tree(uint32_t leaves, uint32_t spines, uint32_t hosts);

/* Every LID by a random shortest path. A LID without a path has no entry. */
struct hd_routes *sample_shortest(const struct hd_fabric *fabric, uint64_t *state);

/* Every entry is a random number. */
struct hd_routes *sample_nonsense(const struct hd_fabric *fabric, uint64_t *state);

/* Gives every pair a random service level below `levels`, and every level a random lane. */
void sample_service_levels(struct hd_routes *routes, unsigned levels, uint64_t *state);

#endif
