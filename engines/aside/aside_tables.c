/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "aside_tables.h"

#include <stdlib.h>
#include <string.h>

void aside_tables_release(struct aside_tables *tables)
{
	free(tables->lft);
	free(tables->sl);
}

int aside_tables_copy(const struct hd_routes *routes, struct aside_tables *out,
		      struct hd_error *err)
{
	size_t bytes = (size_t)routes->switch_count * routes->stride;

	*out = (struct aside_tables){
	    bytes, malloc(bytes + 1), routes->sl ? malloc(bytes + 1) : NULL, {0}};
	if (!out->lft || (routes->sl && !out->sl)) {
		aside_tables_release(out);
		return hd_error_no_memory(err);
	}
	memcpy(out->lft, routes->lft, bytes);
	if (out->sl)
		memcpy(out->sl, routes->sl, bytes);
	memcpy(out->sl2vl, routes->sl2vl, sizeof(out->sl2vl));
	return 0;
}

int aside_tables_put_back(struct hd_routes *routes, const struct aside_tables *tables,
			  struct hd_error *err)
{
	if (!tables->sl) {
		free(routes->sl);
		routes->sl = NULL;
	} else if (!routes->sl && !(routes->sl = malloc(tables->bytes + 1))) {
		return hd_error_no_memory(err);
	}
	memcpy(routes->lft, tables->lft, tables->bytes);
	if (tables->sl)
		memcpy(routes->sl, tables->sl, tables->bytes);
	memcpy(routes->sl2vl, tables->sl2vl, sizeof(tables->sl2vl));
	return 0;
}

int aside_result_save(const struct aside_job *job, struct aside_result *out, struct hd_error *err)
{
	out->unserved = job->unserved;
	out->lost = job->lost;
	return aside_tables_copy(job->routes, &out->tables, err);
}

int aside_result_take_back(struct aside_job *job, const struct aside_result *result,
			   struct hd_error *err)
{
	job->unserved = result->unserved;
	job->lost = result->lost;
	return aside_tables_put_back(job->routes, &result->tables, err);
}
