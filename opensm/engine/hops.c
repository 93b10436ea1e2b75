/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM has an array of num_ports bytes for each (switch, LID): the hop counts by each port. The
 * breadth-first searches return rows in the other order: from the switch behind a port to all
 * LIDs. So the matrix of a switch is the transpose of its neighbours' rows. We transpose squares of
 * 8 x 8 bytes in eight words.
 */
#include "hops.h"
#include "opensm_headers.h"

#include <endian.h>
#include <errno.h>
#include <heddle/base/arena.h>
#include <heddle/base/parallel.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NO_PATH OSM_NO_PATH
#define SQUARE 8u

struct matrices {
	const struct hd_fabric *fabric;
	struct osm_switch *const *osm_switches;
	uint32_t stride; /* bytes from row to row, a multiple of SQUARE */
	const uint8_t *distance; /* hops between switches */
	const uint8_t *beyond; /* the same plus one: the hops from a neighbour of the switch */
	const uint8_t *nowhere; /* a row of NO_PATH */
	const uint16_t *lid; /* of each switch; 0 = the switch has no LID */
	atomic_bool no_memory;
};

/* Transposes 8 x 8 bytes: byte i of word j goes to byte j of word i. */
static void transpose(uint64_t square[SQUARE])
{
	static const struct {
		unsigned distance;
		unsigned shift;
		uint64_t mask;
	} steps[] = {{4, 32, UINT64_C(0x00000000ffffffff)},
		     {2, 16, UINT64_C(0x0000ffff0000ffff)},
		     {1, 8, UINT64_C(0x00ff00ff00ff00ff)}};

	for (unsigned step = 0; step < 3; step++)
		for (unsigned i = 0; i < SQUARE; i++) {
			unsigned distance = steps[step].distance, shift = steps[step].shift;
			uint64_t swapped;

			if (i & distance)
				continue;
			swapped = ((square[i] >> shift) ^ square[i + distance]) & steps[step].mask;
			square[i + distance] ^= swapped;
			square[i] ^= swapped << shift;
		}
}

static const uint8_t *row_of(const uint8_t *rows, const struct matrices *matrices, uint32_t sw)
{
	return rows + (size_t)sw * matrices->stride;
}

/* Finds the row of hop counts by each port of a switch. */
static void find_rows(const struct matrices *matrices, uint32_t sw, uint32_t num_ports,
		      const uint8_t **rows)
{
	const struct hd_fabric *fabric = matrices->fabric;

	rows[0] = row_of(matrices->distance, matrices, sw);
	for (uint32_t port = 1; port < num_ports; port++)
		rows[port] = matrices->nowhere;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		rows[fabric->isl_port[link]] =
		    row_of(matrices->beyond, matrices, fabric->isl_to[link]);
}

/* OpenSM's array for a LID. Allocates it if it is missing; OpenSM frees it with free(). */
static uint8_t *entry_of(osm_switch_t *osm_switch, uint32_t lid)
{
	if (!osm_switch->hops[lid])
		osm_switch->hops[lid] = malloc(osm_switch->num_ports);
	return osm_switch->hops[lid];
}

/* Writes ports first .. first+count-1 into the arrays of SQUARE destinations. */
static void write_square(const uint8_t *const *rows, uint32_t destination, uint32_t first,
			 uint32_t count, uint8_t *const *entries)
{
	uint64_t square[SQUARE] = {0};

	for (uint32_t i = 0; i < count; i++) {
		memcpy(&square[i], rows[first + i] + destination, SQUARE);
		square[i] = le64toh(square[i]);
	}
	transpose(square);
	for (uint32_t i = 0; i < SQUARE; i++) {
		uint64_t word = htole64(square[i]);

		if (!entries[i])
			continue;
		if (count == SQUARE)
			memcpy(entries[i] + first, &word, SQUARE);
		else
			memcpy(entries[i] + first, &word, count);
	}
}

static void write_destinations(struct matrices *matrices, osm_switch_t *osm_switch,
			       const uint8_t *const *rows, uint32_t destination)
{
	uint8_t *entries[SQUARE];
	uint32_t ports = osm_switch->num_ports;

	for (uint32_t i = 0; i < SQUARE; i++) {
		uint32_t lid = matrices->lid[destination + i];

		entries[i] = lid ? entry_of(osm_switch, lid) : NULL;
		if (lid && !entries[i])
			atomic_store(&matrices->no_memory, true);
	}
	for (uint32_t first = 0; first < ports; first += SQUARE)
		write_square(rows, destination, first,
			     ports - first < SQUARE ? ports - first : SQUARE, entries);
}

static void write_switches(void *context, uint32_t begin, uint32_t end, unsigned worker)
{
	struct matrices *matrices = context;
	const uint8_t *rows[UINT8_MAX + 1];

	(void)worker;
	for (uint32_t sw = begin; sw < end; sw++) {
		osm_switch_t *osm_switch = matrices->osm_switches[sw];

		if (!osm_switch)
			continue;
		find_rows(matrices, sw, osm_switch->num_ports, rows);
		for (uint32_t destination = 0; destination < matrices->fabric->switch_count;
		     destination += SQUARE)
			write_destinations(matrices, osm_switch, rows, destination);
	}
}

/* Copies distances to rows of `stride` bytes, unchanged and plus one hop. */
static void spread(const uint8_t *hops, uint32_t count, uint32_t stride, uint8_t *distance,
		   uint8_t *beyond)
{
	for (uint32_t sw = 0; sw < count; sw++) {
		const uint8_t *from = hops + (size_t)sw * count;
		uint8_t *row = distance + (size_t)sw * stride;
		uint8_t *row_beyond = beyond + (size_t)sw * stride;

		for (uint32_t i = 0; i < count; i++) {
			row[i] = from[i];
			row_beyond[i] = (uint8_t)(from[i] + (from[i] != NO_PATH));
		}
	}
}

static int check_room(const struct hd_fabric *fabric, struct osm_switch *const *osm_switches,
		      struct hd_error *err)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const osm_switch_t *osm_switch = osm_switches[sw];

		if (osm_switch && (!osm_switch->hops || osm_switch->num_hops < fabric->lid_count ||
				   osm_switch->num_ports > hd_node_ports(fabric, sw) + 1))
			return hd_error_set(
			    err, -EINVAL,
			    "OpenSM has hop counts for LIDs below %u and %u ports "
			    "at switch 0x%016" PRIx64 ", the fabric needs %u and %u",
			    osm_switch->num_hops, osm_switch->num_ports, fabric->node_guid[sw],
			    fabric->lid_count, hd_node_ports(fabric, sw) + 1);
	}
	return 0;
}

static int write_all(struct matrices *matrices, struct hd_arena *arena, unsigned threads,
		     struct hd_error *err)
{
	const struct hd_fabric *fabric = matrices->fabric;
	uint32_t count = fabric->switch_count;
	uint8_t *hops = hd_arena_alloc(arena, (size_t)count * count, 1);
	uint8_t *distance = hd_arena_alloc(arena, (size_t)count, matrices->stride);
	uint8_t *beyond = hd_arena_alloc(arena, (size_t)count, matrices->stride);
	uint8_t *nowhere = hd_arena_alloc(arena, matrices->stride, 1);
	uint16_t *lid = hd_arena_alloc(arena, matrices->stride, sizeof(*lid));
	int rc;

	if (hd_arena_check(arena))
		return hd_error_no_memory(err);
	rc = hd_fabric_distances(fabric, threads, hops, err);
	if (rc)
		return rc;
	spread(hops, count, matrices->stride, distance, beyond);
	memset(nowhere, NO_PATH, matrices->stride);
	for (uint32_t sw = 0; sw < count; sw++)
		lid[sw] = fabric->lid[hd_port_index(fabric, sw, 0)];
	matrices->distance = distance;
	matrices->beyond = beyond;
	matrices->nowhere = nowhere;
	matrices->lid = lid;
	hd_parallel_for(threads, count, SQUARE, write_switches, matrices);
	return atomic_load(&matrices->no_memory) ? hd_error_no_memory(err) : 0;
}

int hops_write(const struct hd_fabric *fabric, struct osm_switch *const *osm_switches,
	       unsigned threads, struct hd_error *err)
{
	struct matrices matrices = {.fabric = fabric,
				    .osm_switches = osm_switches,
				    .stride = (fabric->switch_count + SQUARE - 1) & ~(SQUARE - 1)};
	struct hd_arena arena = {0};
	int rc = check_room(fabric, osm_switches, err);

	if (!rc)
		rc = write_all(&matrices, &arena, threads, err);
	hd_arena_release(&arena);
	return rc;
}
