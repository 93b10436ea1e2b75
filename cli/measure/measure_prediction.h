/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What heddle ebb says of the bisections that were measured. */
#ifndef CLI_MEASURE_PREDICTION_H
#define CLI_MEASURE_PREDICTION_H

#include "table_source.h"

#include <heddle/analysis.h>

struct measure_prediction_request {
	const char *path; /* of the fabric */
	const char *name_map; /* NULL: none */
	int lmc; /* as in struct fabric_source */
	const struct table_source *tables;
	const char *host_file; /* the host of each rank; NULL: by `names` */
	const char *names; /* [ranks * name_size] names of the ranks' hosts */
	uint32_t ranks, name_size;
	uint64_t seed, patterns;
	const struct hd_log *log;
};

struct measure_prediction {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ranks *ranks;
	struct hd_congestion_report *report;
	uint64_t *means; /* [patterns], in units of 1 / HD_SHARE_ONE */
};

/*
 * Reads fabric and tables, finds the host of each rank, and counts the flows of the bisections with
 * these numbers. A host's name is looked up as it is, then up to its first dot. The prediction is
 * freed with measure_prediction_free(), after an error too. Errors: -EINVAL a name that the fabric
 * does not have, two ranks on one host, or a host file with another number of hosts than ranks;
 * those of the readers, of the engine and of hd_congestion_run().
 */
int measure_prediction_make(const struct measure_prediction_request *request,
			    struct measure_prediction *prediction, struct hd_error *err);

void measure_prediction_free(struct measure_prediction *prediction);

#endif
