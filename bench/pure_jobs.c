/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pure_jobs.h"

#include <errno.h>
#include <heddle/engines.h>
#include <stdlib.h>
#include <string.h>

/* Tables of more bytes than this make hundreds of megabytes of text. */
#define DUMP_TABLES_MAX ((size_t)4 << 20)

/* Makes the compiler assume that the memory is read. */
static void keep(const void *memory)
{
	__asm__ volatile("" : : "r"(memory) : "memory");
}

static int fill_tables(const struct pure_job *job, const struct pure_input *input, unsigned threads,
		       struct hd_error *err)
{
	void *tables = aligned_alloc(HD_LFT_BLOCK, input->table_bytes);

	(void)job;
	(void)threads;
	if (!tables)
		return hd_error_no_memory(err);
	memset(tables, HD_NO_PORT, input->table_bytes);
	keep(tables);
	free(tables);
	return 0;
}

static int make_routes(const char *name, const char *option, const struct hd_fabric *fabric,
		       unsigned threads, struct hd_routes **out, struct hd_error *err)
{
	const struct hd_engine *engine = hd_engine_find(name);
	struct hd_route_request request = {.fabric = fabric, .threads = threads};
	struct hd_options *options;
	int rc;

	if (!engine)
		return hd_error_set(err, -ENOENT, "unknown engine '%s'", name);
	options = hd_engine_options(engine);
	if (!options)
		return hd_error_no_memory(err);
	request.options = options;
	rc = option ? hd_options_set_pair(options, option, err) : 0;
	if (!rc)
		rc = hd_engine_route(engine, &request, out, err);
	hd_options_free(options);
	return rc;
}

static int route(const struct pure_job *job, const struct pure_input *input, unsigned threads,
		 struct hd_error *err)
{
	struct hd_routes *routes;
	int rc = make_routes(job->engine, job->option, input->fabric, threads, &routes, err);

	if (!rc)
		hd_routes_free(routes);
	return rc;
}

static int distances(const struct pure_job *job, const struct pure_input *input, unsigned threads,
		     struct hd_error *err)
{
	size_t count = input->fabric->switch_count;
	uint8_t *hops = malloc(count * count);
	int rc;

	(void)job;
	if (!hops)
		return hd_error_no_memory(err);
	rc = hd_fabric_distances(input->fabric, threads, hops, err);
	free(hops);
	return rc;
}

static int check(const struct pure_job *job, const struct pure_input *input, unsigned threads,
		 struct hd_error *err)
{
	struct hd_check_options options = {.threads = threads};
	struct hd_check_report *report;
	bool clean;
	int rc = hd_check(input->fabric, input->routes, &options, &report, err);

	(void)job;
	if (rc)
		return rc;
	clean = hd_check_clean(report);
	hd_check_report_free(report);
	return clean ? 0 : hd_error_set(err, -EINVAL, "the checked tables have faults");
}

static int read_netlist(const struct pure_job *job, const struct pure_input *input,
			unsigned threads, struct hd_error *err)
{
	struct hd_fabric *fabric;
	int rc =
	    hd_fabric_parse(input->netlist, input->netlist_length, "netlist", NULL, &fabric, err);

	(void)job;
	(void)threads;
	if (!rc)
		hd_fabric_free(fabric);
	return rc;
}

static int read_dump(const struct pure_job *job, const struct pure_input *input, unsigned threads,
		     struct hd_error *err)
{
	struct hd_routes *routes;
	int rc = hd_routes_parse(input->dump, input->dump_length, "dump", input->fabric, NULL,
				 &routes, err);

	(void)job;
	(void)threads;
	if (!rc)
		hd_routes_free(routes);
	return rc;
}

const struct pure_job pure_jobs[] = {
    {.name = "memset of the tables", .run = fill_tables},
    {.name = "dmodk", .engine = "dmodk", .threaded = true, .run = route},
    {.name = "dmodk method=balanced",
     .engine = "dmodk",
     .option = "method=balanced",
     .threaded = true,
     .run = route},
    {.name = "spf", .engine = "spf", .threaded = true, .run = route},
    {.name = "spf passes=1", .engine = "spf", .option = "passes=1", .threaded = true, .run = route},
    {.name = "updown", .engine = "updown", .threaded = true, .run = route},
    {.name = "updown passes=1",
     .engine = "updown",
     .option = "passes=1",
     .threaded = true,
     .run = route},
    {.name = "distances between switches", .threaded = true, .run = distances},
    {.name = "check of dmodk's tables", .threaded = true, .run = check},
    {.name = "read the netlist", .run = read_netlist},
    {.name = "read the dumped tables", .on_dump = true, .run = read_dump},
};

const unsigned pure_job_count = sizeof(pure_jobs) / sizeof(pure_jobs[0]);

static int write_netlist(struct pure_input *input, struct hd_error *err)
{
	FILE *stream = open_memstream(&input->netlist, &input->netlist_length);
	int rc;

	if (!stream)
		return hd_error_no_memory(err);
	rc = hd_fabric_write_netlist(input->fabric, stream, err);
	fclose(stream);
	return rc;
}

static int write_dump(struct pure_input *input, struct hd_error *err)
{
	FILE *stream;
	int rc;

	if (input->table_bytes > DUMP_TABLES_MAX)
		return 0;
	stream = open_memstream(&input->dump, &input->dump_length);
	if (!stream)
		return hd_error_no_memory(err);
	rc = hd_routes_write_dump(input->fabric, input->routes, stream, err);
	fclose(stream);
	return rc;
}

int pure_input_make(struct hd_fabric *fabric, size_t fabric_bytes, struct pure_input *out,
		    struct hd_error *err)
{
	struct pure_input input = {.fabric = fabric, .fabric_bytes = fabric_bytes};
	int rc = make_routes("dmodk", NULL, fabric, 1, &input.routes, err);

	if (!rc) {
		input.table_bytes = (size_t)input.routes->switch_count * input.routes->stride;
		rc = write_netlist(&input, err);
	}
	if (!rc)
		rc = write_dump(&input, err);
	if (rc)
		pure_input_release(&input);
	else
		*out = input;
	return rc;
}

void pure_input_release(struct pure_input *input)
{
	free(input->dump);
	free(input->netlist);
	hd_routes_free(input->routes);
	hd_fabric_free(input->fabric);
}
