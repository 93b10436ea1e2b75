/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The quality of the engines' tables on fabrics with known figures. The mean of 1/congestion over
 * all paths of 3,000 random patterns must be within 0.003 of the expected figure (with sanitizers: 300, 0.01). On intact trees
 * that is what OpenSM's ftree reaches; on the dumps of real clusters it is more than any of its
 * engines reaches. Prints a table. Exit status 1 if a figure is wrong.
 */
#include "cases.h"
#include "generated.h"

#include <heddle/analysis.h>
#include <heddle/engines.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATTERNS UNDER_SANITIZERS(300, 3000)
#define SEED 1
#define TOLERANCE UNDER_SANITIZERS(0.01, 0.003)

struct subject {
	const char *name;
	const char *generator; /* NULL: read from `file` below the folder of real fabrics */
	const char *settings;
	const char *file;
	const char *engines[4];
	double bisect, dissemination; /* expected; 0 = no figure is known */
};

static const struct subject subjects[] = {
    {.name = "10-ary 3-tree",
     .generator = "kary-ntree",
     .settings = "k=10 n=3",
     .engines = {"spf", "updown", "dmodk"},
     .bisect = 0.710,
     .dissemination = 0.541},
    {.name = "CHiC-like",
     .generator = "directors",
     .settings = "",
     .engines = {"spf", "updown", "dmodk"},
     .bisect = 0.739,
     .dissemination = 0.571},
    {.name = "avakas",
     .file = "avakas/ibnetdiscover-p.txt",
     .engines = {"spf"},
     .bisect = 0.830,
     .dissemination = 0.696},
    {.name = "psmn-x5", .file = "psmn-x5/X5.topofile", .engines = {"spf"}, .bisect = 0.752},
};

/* ---- fabrics ---- */

/* Dumps without LIDs get them in canonical order. */
static int read_dump(const char *path, struct hd_fabric **out, struct hd_error *err)
{
	struct hd_fabric *read = NULL;
	int rc = hd_fabric_read(path, NULL, &read, err);

	if (rc || read->lid_count > 1) {
		*out = read;
		return rc;
	}
	rc = hd_fabric_assign_lids(read, 0, out, err);
	hd_fabric_free(read);
	return rc;
}

/* Without the file: prints a message, and *out stays NULL. */
static int load(const struct subject *subject, const char *folder, struct hd_fabric **out,
		struct hd_error *err)
{
	char path[4096];

	if (subject->generator)
		return generated_fabric(subject->generator, subject->settings, out, err);
	snprintf(path, sizeof(path), "%s/%s", folder, subject->file);
	if (!access(path, F_OK))
		return read_dump(path, out, err);
	printf("%-14s skipped: no %s (HEDDLE_FABRICS names the folder)\n", subject->name, path);
	return 0;
}

/* ---- figures ---- */

static int route(const struct hd_fabric *fabric, const char *name, struct hd_routes **out,
		 struct hd_error *err)
{
	const struct hd_engine *engine = hd_engine_find(name);
	struct hd_options *options = hd_engine_options(engine);
	const struct hd_route_request request = {
	    .fabric = fabric, .options = options, .threads = hd_parallel_cores()};
	int rc = options ? 0 : hd_error_no_memory(err);

	if (!rc)
		rc = hd_engine_route(engine, &request, out, err);
	hd_options_free(options);
	return rc;
}

static int measure(const struct hd_ranks *ranks, const struct hd_routes *routes, const char *kind,
		   double *mean, struct hd_error *err)
{
	struct hd_pattern *pattern = NULL;
	struct hd_congestion_report *report = NULL;
	int rc = hd_pattern_new(hd_pattern_find(kind), NULL, ranks, &pattern, err);
	const struct hd_congestion_request request = {
	    .fabric = ranks->fabric,
	    .routes = routes,
	    .ranks = ranks,
	    .pattern = pattern,
	    .mapping = HD_MAP_RANDOM,
	    .seed = SEED,
	    .patterns = PATTERNS,
	    .threads = hd_parallel_cores(),
	};

	if (!rc)
		rc = hd_congestion_run(&request, &report, err);
	if (!rc)
		*mean = report->broken ? 0 : report->mean;
	hd_congestion_report_free(report);
	hd_pattern_free(pattern);
	return rc;
}

/* Returns 1 if the figure is wrong, or a negative errno. */
static int compare(const struct subject *subject, const char *engine, const struct hd_ranks *ranks,
		   const struct hd_routes *routes, const char *kind, double expected,
		   struct hd_error *err)
{
	double mean = 0;
	int rc = measure(ranks, routes, kind, &mean, err);

	if (rc)
		return rc;
	bool off = fabs(mean - expected) > TOLERANCE;
	printf("%-14s %-7s %-14s %.4f  expected %.3f%s\n", subject->name, engine, kind, mean,
	       expected, off ? "  OFF" : "");
	return off;
}

/* Returns the number of wrong figures, or a negative errno. */
static int judge_engine(const struct subject *subject, const char *engine,
			const struct hd_ranks *ranks, struct hd_error *err)
{
	struct hd_routes *routes = NULL;
	int rc = route(ranks->fabric, engine, &routes, err), off = 0;

	if (!rc)
		off = rc = compare(subject, engine, ranks, routes, "bisect", subject->bisect, err);
	if (rc >= 0 && subject->dissemination > 0) {
		rc = compare(subject, engine, ranks, routes, "dissemination",
			     subject->dissemination, err);
		off += rc;
	}
	hd_routes_free(routes);
	return rc < 0 ? rc : off;
}

static int judge(const struct subject *subject, const char *folder, struct hd_error *err)
{
	struct hd_fabric *fabric = NULL;
	struct hd_ranks *ranks = NULL;
	int off = 0, rc = load(subject, folder, &fabric, err);

	if (!rc && fabric)
		rc = hd_ranks_new(fabric, false, &ranks, err);
	for (unsigned i = 0; ranks && rc >= 0 && subject->engines[i]; i++) {
		rc = judge_engine(subject, subject->engines[i], ranks, err);
		off += rc;
	}
	hd_ranks_free(ranks);
	hd_fabric_free(fabric);
	return rc < 0 ? rc : off;
}

int main(void)
{
	const char *folder = getenv("HEDDLE_FABRICS");
	int off = 0;

	for (unsigned i = 0; i < sizeof(subjects) / sizeof(*subjects); i++) {
		struct hd_error err = {""};
		int rc = judge(&subjects[i], folder ? folder : "../shared/fabrics", &err);
		if (rc < 0)
			printf("%-14s FAILED: %s\n", subjects[i].name, err.text);
		off += rc != 0;
	}
	return off != 0;
}
