/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * auto is worth what the best of dmodk, updown and spf is, less .005 at most, as `heddle ebb` measures
 * them; and its tables do not depend on the number of threads.
 *
 *	auto_worth [FABRICS]	so many generated fabrics, and the real ones
 *
 * Prints a line for each fabric on which auto is worth less, and for real ones. Exit status 1 if there is
 * such a fabric. Real fabrics are left out if their folder is absent.
 */
#include "ebb_figure.h"
#include "uneven.h"

#include <heddle/engines.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LESS .005
#define NUMBER_DEFAULT 60u

static const char *const entrants[] = {"dmodk", "updown", "spf"};

static const char *const real[] = {"avakas/ibnetdiscover-p.txt", "psmn-x5/X5.topofile",
				   "ib145/topo.ibnet", "chic-like/chic.net"};

/* NULL: refused. */
static struct hd_routes *route(const char *engine, const struct hd_fabric *fabric, unsigned threads)
{
	const struct hd_route_request request = {.fabric = fabric, .threads = threads};
	struct hd_routes *routes = NULL;
	struct hd_error err = {""};
	int rc = hd_engine_route(hd_engine_find(engine), &request, &routes, &err);

	return rc ? NULL : routes;
}

static bool same_with_threads(const struct hd_fabric *fabric, const struct hd_routes *routes)
{
	struct hd_routes *other = route("auto", fabric, 3);
	bool same =
	    other && hd_routes_equal(routes, other) && !strcmp(routes->chosen, other->chosen);

	hd_routes_free(other);
	return same;
}

/* Whether auto is good enough. */
static bool judge(const struct hd_fabric *fabric, const char *name, bool verbose)
{
	struct hd_routes *chosen = route("auto", fabric, 1);
	char line[128] = "";
	double best = 0;

	if (!chosen) {
		printf("%s: auto refuses\n", name);
		return false;
	}
	double worth = ebb_figure(fabric, chosen);
	for (unsigned i = 0; i < sizeof(entrants) / sizeof(*entrants); i++) {
		struct hd_routes *routes = route(entrants[i], fabric, 1);
		double figure = routes ? ebb_figure(fabric, routes) : 0;
		size_t used = strlen(line);
		snprintf(line + used, sizeof(line) - used, ", %s %.4f", entrants[i], figure);
		best = figure > best ? figure : best;
		hd_routes_free(routes);
	}
	bool same = same_with_threads(fabric, chosen), good = worth >= best - LESS && same;
	if (verbose || !good)
		printf("%s: auto %.4f by %s%s%s%s\n", name, worth, chosen->chosen, line,
		       same ? "" : "; other tables with other threads", good ? "" : "; NOT GOOD");
	hd_routes_free(chosen);
	return good;
}

static bool judge_real(const char *folder, const char *file)
{
	struct hd_fabric *read = NULL, *fabric = NULL;
	struct hd_error err = {""};
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	if (access(path, F_OK)) {
		printf("%s: left out, no such file\n", path);
		return true;
	}
	int rc = hd_fabric_read(path, NULL, &read, &err);
	if (!rc && read->lid_count <= 1)
		rc = hd_fabric_assign_lids(read, 0, &fabric, &err);
	if (rc)
		printf("%s: %s\n", path, err.text);
	bool good = !rc && judge(fabric ? fabric : read, file, true);
	hd_fabric_free(fabric);
	hd_fabric_free(read);
	return good;
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : NUMBER_DEFAULT;
	const char *folder = getenv("HEDDLE_FABRICS");
	unsigned bad = 0;

	for (unsigned i = 0; i < sizeof(real) / sizeof(*real); i++)
		bad += !judge_real(folder ? folder : "../shared/fabrics", real[i]);
	for (uint64_t number = 0; number < count; number++) {
		char name[UNEVEN_NAME];
		struct hd_fabric *fabric = uneven_fabric(number, name);
		bad += !judge(fabric, name, false);
		hd_fabric_free(fabric);
	}
	printf("%u of %u fabrics are bad\n", bad, (unsigned)count);
	return bad != 0;
}
