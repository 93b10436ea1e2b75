/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle-bench-map [DESTINATIONS]
 *
 * Times how long a map of so many GIDs (default 100,000) takes to load, and to resolve a GID: known
 * ones in random order, and others by a block and by `*` lines. Prints medians of several runs, in
 * processor time.
 */
#include "stopwatch.h"

#include <heddle/base/random.h>
#include <heddle/ir_router.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RUNS 11u
#define LOOKUPS 1000000u
#define ROUTER_PORTS 72u
#define GUID(i) (UINT64_C(0x0002c90300000000) + 16 * (uint64_t)(i))

static char *make_text(uint32_t count, size_t *size)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, size);

	if (!stream)
		return NULL;
	for (uint32_t i = 0; i < count; i++) {
		struct hd_gid gid = {UINT64_C(0xfec0000000000002), GUID(i)};
		char buffer[HD_GID_TEXT];
		fprintf(stream, "%s 0x%016x 0x%016x 0x%016x\n", hd_gid_print(&gid, buffer),
			i % ROUTER_PORTS + 1, (i + 1) % ROUTER_PORTS + 1,
			(i + 2) % ROUTER_PORTS + 1);
	}
	fputs("fec0:0:0:3::/64 1\n", stream);
	for (uint32_t port = 1; port <= ROUTER_PORTS; port++)
		fprintf(stream, "* 0x%016x\n", port);
	return fclose(stream) ? NULL : text;
}

/* Milliseconds of processor time, so that other programs on the machine count little. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static double time_load(const struct hd_text *text, struct hd_map **out)
{
	double times[RUNS];

	for (unsigned run = 0; run < RUNS; run++) {
		struct hd_error err;
		hd_map_free(*out);
		*out = NULL;
		double begin = now();
		if (hd_map_parse(text, out, &err)) {
			fprintf(stderr, "heddle-bench-map: %s\n", err.text);
			exit(1);
		}
		times[run] = now() - begin;
	}
	return stopwatch_median(times, RUNS);
}

/* Nanoseconds for each GID. */
static double time_lookup(const struct hd_map *map, uint64_t prefix, uint32_t count)
{
	double times[RUNS];
	uint64_t found = 0;

	for (unsigned run = 0; run < RUNS; run++) {
		uint64_t random = run;
		double begin = now();
		for (uint32_t i = 0; i < LOOKUPS; i++) {
			struct hd_gid gid = {prefix,
					     GUID((hd_random_next(&random) >> 32) * count >> 32)};
			struct hd_map_answer answer;
			found += hd_map_resolve(map, &gid, NULL, &answer);
		}
		times[run] = (now() - begin) * 1e6 / LOOKUPS;
	}
	if (found != (uint64_t)RUNS * LOOKUPS)
		fprintf(stderr, "heddle-bench-map: %" PRIu64 " GIDs found\n", found);
	return stopwatch_median(times, RUNS);
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100000;
	size_t size = 0;
	char *bytes = make_text(count, &size);
	struct hd_text text = {.bytes = bytes, .length = size, .name = "map"};
	struct hd_map *map = NULL;

	if (!bytes || !count)
		return 1;
	printf("%-34s %10.1f ms\n", "load", time_load(&text, &map));
	printf("%-34s %10.1f ns\n", "resolve a GID of the map",
	       time_lookup(map, UINT64_C(0xfec0000000000002), count));
	printf("%-34s %10.1f ns\n", "resolve a GID of a block",
	       time_lookup(map, UINT64_C(0xfec0000000000003), count));
	printf("%-34s %10.1f ns\n", "resolve another GID, by a * line",
	       time_lookup(map, UINT64_C(0xfec0000000000004), count));
	hd_map_free(map);
	free(bytes);
	return 0;
}
