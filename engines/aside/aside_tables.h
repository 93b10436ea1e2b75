/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A copy of the entries and service levels of routes, to try something and take it back. */
#ifndef ENGINES_ASIDE_TABLES_H
#define ENGINES_ASIDE_TABLES_H

#include "aside_job.h"

struct aside_tables {
	size_t bytes; /* of lft, and of sl if it is not NULL */
	uint8_t *lft, *sl, sl2vl[16]; /* as in struct hd_routes */
};

/* *out is released with aside_tables_release(), on success only. Errors: -ENOMEM. */
int aside_tables_copy(const struct hd_routes *routes, struct aside_tables *out,
		      struct hd_error *err);

/* The routes, from which the copy was made, get its content again. Errors: -ENOMEM, for service
 * levels that the routes lack by now. */
int aside_tables_put_back(struct hd_routes *routes, const struct aside_tables *tables,
			  struct hd_error *err);

void aside_tables_release(struct aside_tables *tables);

/* What a job has made, and left out. */
struct aside_result {
	struct aside_tables tables;
	uint64_t unserved, lost;
};

/* Errors: -ENOMEM. Released with aside_tables_release(&out->tables), on success only. */
int aside_result_save(const struct aside_job *job, struct aside_result *out, struct hd_error *err);

/* The job has made this, and nothing since. Errors: -ENOMEM. */
int aside_result_take_back(struct aside_job *job, const struct aside_result *result,
			   struct hd_error *err);

#endif
