/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checksums of every engine's tables. They show that a change which should not move an entry moves
 * none.
 *
 *	golden [FILE]	compares with the lines of FILE; without FILE prints the lines
 *
 * A line names a fabric and an engine, and has one checksum for each case: routed afresh; routed
 * with the option `passes` or `method` changed; routed from the tables in place after a cable is
 * lost; and after it is back. A checksum covers entries, service levels and the map to lanes. A
 * refusal counts as its errno. Real fabrics are left out if their folder is absent.
 */
#include "generated.h"
#include "sample.h"
#include "variants.h"

#include <heddle/engines.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAMPLES 180
#define LINE_SIZE 512

struct named {
	const char *name;
	const char *generator; /* NULL: a file below the folder of real fabrics */
	const char *settings; /* or the file */
	unsigned lmc;
};

static const struct named large[] = {
    {"xgft-216", "xgft", "children=6,6,6 parents=1,6,6", 0},
    {"xgft-216-lmc3", "xgft", "children=6,6,6 parents=1,6,6", 3},
    {"xgft-1728", "xgft", "children=12,12,12 parents=1,12,12", 0},
    {"rlft-648", "rlft", "radix=36 levels=2", 1},
    {"directors", "directors", "", 0},
    {"torus-4", "torus", "dims=4,4,4 hosts=2", 2},
    {"irregular-100", "irregular", "switches=100 radix=16 seed=1", 0},
    {"dragonfly-plus", "dragonfly-plus", "islands=4 leaves=4 spines=4 hosts=4", 0},
    {"interconnect-2", "interconnect", "subnets=2 switches=yes", 0},
    {"interconnect-3", "interconnect", "subnets=3 switches=yes", 0},
    {"interconnect-6", "interconnect", "subnets=6 switches=yes", 0},
    {"interconnect-part", "interconnect", "subnets=6 part=3", 0},
    {"avakas", NULL, "avakas/ibnetdiscover-p.txt", 0},
    {"psmn-x5", NULL, "psmn-x5/X5.topofile", 0},
    {"ib145", NULL, "ib145/topo.ibnet", 0},
    {"chic-like", NULL, "chic-like/chic.net", 0},
};

/* ---- checksums ---- */

static uint64_t add_bytes(uint64_t sum, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sum = (sum ^ bytes[i]) * UINT64_C(0x100000001B3);
	return sum;
}

static uint64_t checksum(const struct hd_routes *routes)
{
	uint64_t sum = UINT64_C(0xCBF29CE484222325);

	for (uint32_t sw = 0; sw < routes->switch_count; sw++)
		sum = add_bytes(sum, hd_routes_row(routes, sw), routes->lid_count);
	for (uint32_t sw = 0; routes->sl && sw < routes->switch_count; sw++)
		sum = add_bytes(sum, routes->sl + (size_t)sw * routes->stride, routes->lid_count);
	return add_bytes(sum, routes->sl2vl, sizeof(routes->sl2vl));
}

/* Routes, and adds the checksum or the errno to the line. *out may be NULL afterwards. */
static void take_case(const struct hd_engine *engine, const struct hd_route_request *request,
		      char *line, struct hd_routes **out)
{
	size_t length = strlen(line);
	struct hd_error err = {""};
	struct hd_routes *routes = NULL;
	int rc = hd_engine_route(engine, request, &routes, &err);

	if (rc)
		snprintf(line + length, LINE_SIZE - length, " refused(%d)", rc);
	else
		snprintf(line + length, LINE_SIZE - length, " %016" PRIx64, checksum(routes));
	*out = rc ? NULL : routes;
}

/* ---- cases ---- */

static void take_option(const struct hd_engine *engine, struct hd_route_request request, char *line)
{
	struct hd_options *options = hd_engine_options(engine);
	struct hd_routes *routes = NULL;

	request.options = options;
	if (hd_options_set(options, "method", "balanced", NULL))
		hd_options_set(options, "passes", "1", NULL);
	take_case(engine, &request, line, &routes);
	hd_routes_free(routes);
	hd_options_free(options);
}

/* The link in the middle of the fabric's list. */
static uint32_t middle_link(const struct hd_fabric *fabric)
{
	return fabric->isl_count / 2;
}

/* With a cable lost, and with the cable back again. */
static int take_flap(const struct hd_engine *engine, const struct hd_fabric *fabric,
		     const struct hd_routes *intact, char *line, struct hd_error *err)
{
	struct hd_fabric *cut = NULL;
	struct hd_routes *previous = NULL, *damaged = NULL, *back = NULL;
	int rc = variants_without_link(fabric, middle_link(fabric), &cut, err);

	if (!rc)
		rc = hd_routes_rebase(fabric, intact, cut, &previous, err);
	if (!rc) {
		struct hd_route_request request = {
		    .fabric = cut, .previous = previous, .baseline = previous, .threads = 2};
		take_case(engine, &request, line, &damaged);
	}
	hd_routes_free(previous);
	previous = NULL;
	if (!rc && damaged)
		rc = hd_routes_rebase(cut, damaged, fabric, &previous, err);
	if (!rc && damaged) {
		struct hd_route_request request = {
		    .fabric = fabric, .previous = previous, .baseline = intact, .threads = 2};
		take_case(engine, &request, line, &back);
	}
	hd_routes_free(previous);
	hd_routes_free(damaged);
	hd_routes_free(back);
	hd_fabric_free(cut);
	return rc;
}

static int take_engine(const char *name, const struct hd_engine *engine,
		       const struct hd_fabric *fabric, char *line, struct hd_error *err)
{
	struct hd_route_request request = {.fabric = fabric, .threads = 2};
	struct hd_routes *routes = NULL;
	int rc = 0;

	snprintf(line, LINE_SIZE, "%s %s", name, engine->name);
	take_case(engine, &request, line, &routes);
	take_option(engine, request, line);
	if (routes && fabric->isl_count)
		rc = take_flap(engine, fabric, routes, line, err);
	hd_routes_free(routes);
	return rc;
}

/* ---- the lines, printed or compared ---- */

struct golden {
	FILE *expected; /* NULL: print */
	unsigned lines, differ;
};

/* The expected line that begins with the first `length` bytes of `line`, "" without one. */
static void find_expected(FILE *expected, const char *line, size_t length, char found[LINE_SIZE])
{
	rewind(expected);
	while (fgets(found, LINE_SIZE, expected))
		if (!strncmp(found, line, length)) {
			found[strcspn(found, "\n")] = '\0';
			return;
		}
	found[0] = '\0';
}

/* Prints the line, or compares it with the expected one of the same fabric and engine. */
static void settle_line(struct golden *golden, const char *line)
{
	const char *blank = strchr(line, ' ');
	size_t name = (size_t)(strchr(blank + 1, ' ') - line) + 1;
	char expected[LINE_SIZE];

	golden->lines++;
	if (!golden->expected) {
		puts(line);
		return;
	}
	find_expected(golden->expected, line, name, expected);
	if (strcmp(expected, line) != 0) {
		golden->differ++;
		printf("expected %s\n     got %s\n", *expected ? expected : "(no line)", line);
	}
}

static int take_fabric(struct golden *golden, const char *name, const struct hd_fabric *fabric,
		       struct hd_error *err)
{
	unsigned count;
	const struct hd_engine *const *engines = hd_engines(&count);
	int rc = 0;

	for (unsigned i = 0; !rc && i < count; i++) {
		char line[LINE_SIZE];
		rc = take_engine(name, engines[i], fabric, line, err);
		if (!rc)
			settle_line(golden, line);
	}
	return rc;
}

static int take_named(struct golden *golden, const struct named *named, struct hd_error *err)
{
	const char *folder = getenv("HEDDLE_FABRICS");
	struct hd_fabric *read = NULL, *fabric = NULL;
	char path[4096];
	int rc;

	snprintf(path, sizeof(path), "%s/%s", folder ? folder : "../shared/fabrics",
		 named->settings);
	if (named->generator)
		rc = generated_fabric(named->generator, named->settings, &read, err);
	else if (access(path, F_OK))
		return 0;
	else
		rc = hd_fabric_read(path, NULL, &read, err);
	if (!rc)
		rc = hd_fabric_assign_lids(read, named->lmc, &fabric, err);
	if (!rc)
		rc = take_fabric(golden, named->name, fabric, err);
	hd_fabric_free(read);
	hd_fabric_free(fabric);
	return rc;
}

static int take_sample(struct golden *golden, uint64_t number, struct hd_error *err)
{
	struct sample sample;
	char name[32];
	int rc = sample_draw(number, &sample, err);

	if (rc)
		return rc;
	snprintf(name, sizeof(name), "sample-%" PRIu64, number);
	rc = take_fabric(golden, name, sample.fabric, err);
	sample_release(&sample);
	return rc;
}

static int take_all(struct golden *golden, struct hd_error *err)
{
	int rc = 0;

	for (uint64_t number = 0; !rc && number < SAMPLES; number++)
		rc = take_sample(golden, number, err);
	for (size_t i = 0; !rc && i < sizeof(large) / sizeof(large[0]); i++)
		rc = take_named(golden, &large[i], err);
	return rc;
}

int main(int argc, char **argv)
{
	struct golden golden = {.expected = argc > 1 ? fopen(argv[1], "r") : NULL};
	struct hd_error err = {""};

	if (argc > 1 && !golden.expected) {
		perror(argv[1]);
		return 2;
	}
	int rc = take_all(&golden, &err);
	if (golden.expected)
		fclose(golden.expected);
	if (rc) {
		fprintf(stderr, "golden: %s\n", err.text);
		return 2;
	}
	if (argc > 1)
		printf("%u lines, %u differ\n", golden.lines, golden.differ);
	return golden.differ ? 1 : 0;
}
