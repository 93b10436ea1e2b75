/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "measure_prediction.h"
#include "fabric_source.h"

#include <errno.h>
#include <heddle/fabric/resolve.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of a rank's host as the fabric has it: in full, or up to the first dot. */
static void write_name(const struct hd_fabric *fabric, const char *name, FILE *text)
{
	uint32_t port;
	int length = (int)strcspn(name, ".");

	if (!hd_fabric_resolve(fabric, name, HD_RESOLVE_HOSTS, &port, NULL))
		length = (int)strlen(name);
	fprintf(text, "\"%.*s\"\n", length, name);
}

/* A host file of the names that MPI gives. */
static int find_hosts(const struct measure_prediction_request *request,
		      struct measure_prediction *prediction, struct hd_error *err)
{
	char *bytes = NULL;
	size_t length = 0;
	FILE *text = open_memstream(&bytes, &length);

	if (!text)
		return hd_error_no_memory(err);
	for (uint32_t rank = 0; rank < request->ranks; rank++)
		write_name(prediction->fabric, request->names + (size_t)rank * request->name_size,
			   text);
	int rc = fclose(text) ? hd_error_no_memory(err)
			      : hd_ranks_parse(prediction->fabric, bytes, length,
					       "hosts of the ranks", &prediction->ranks, err);
	free(bytes);
	return rc;
}

static int place_ranks(const struct measure_prediction_request *request,
		       struct measure_prediction *prediction, struct hd_error *err)
{
	if (!request->host_file)
		return find_hosts(request, prediction, err);
	int rc = hd_ranks_read(prediction->fabric, request->host_file, &prediction->ranks, err);
	if (rc || prediction->ranks->count == request->ranks)
		return rc;
	return hd_error_set(err, -EINVAL, "%s: %" PRIu32 " hosts, but there are %" PRIu32 " ranks",
			    request->host_file, prediction->ranks->count, request->ranks);
}

static int count_flows(const struct measure_prediction_request *request,
		       struct measure_prediction *prediction, struct hd_error *err)
{
	struct hd_pattern *pattern = NULL;
	int rc = hd_pattern_new(hd_pattern_find("bisect"), NULL, prediction->ranks, &pattern, err);

	if (rc)
		return rc;
	prediction->means = calloc(request->patterns, sizeof(*prediction->means));
	const struct hd_congestion_request congestion = {.fabric = prediction->ranks->fabric,
							 .routes = prediction->routes,
							 .ranks = prediction->ranks,
							 .pattern = pattern,
							 .mapping = HD_MAP_IDENTITY,
							 .seed = request->seed,
							 .patterns = request->patterns,
							 .means = prediction->means};
	rc = prediction->means ? hd_congestion_run(&congestion, &prediction->report, err)
			       : hd_error_no_memory(err);
	hd_pattern_free(pattern);
	return rc;
}

int measure_prediction_make(const struct measure_prediction_request *request,
			    struct measure_prediction *prediction, struct hd_error *err)
{
	const struct fabric_source source = {request->path, request->name_map, request->lmc};
	int rc = fabric_source_load(&source, request->log, &prediction->fabric, err);

	if (rc)
		return rc;
	const struct table_request tables = {
	    .fabric = prediction->fabric, .threads = 1, .log = request->log};
	rc = place_ranks(request, prediction, err);
	if (!rc)
		rc = table_source_make(request->tables, &tables, &prediction->routes, err);
	return rc ? rc : count_flows(request, prediction, err);
}

void measure_prediction_free(struct measure_prediction *prediction)
{
	free(prediction->means);
	hd_congestion_report_free(prediction->report);
	hd_ranks_free(prediction->ranks);
	hd_routes_free(prediction->routes);
	hd_fabric_free(prediction->fabric);
}
