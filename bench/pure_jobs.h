/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Computations without OpenSM, each as one job that can be timed. */
#ifndef BENCH_PURE_JOBS_H
#define BENCH_PURE_JOBS_H

#include <heddle/fabric.h>
#include <stdbool.h>
#include <stddef.h>

/* What jobs work on. */
struct pure_input {
	struct hd_fabric *fabric;
	size_t fabric_bytes; /* what the fabric holds in memory */
	struct hd_routes *routes; /* tables of the fabric, made by dmodk */
	size_t table_bytes; /* of these tables: switches times stride */
	char *netlist; /* the fabric as text */
	size_t netlist_length;
	char *dump; /* the tables as text; NULL if that would be too long */
	size_t dump_length;
};

struct pure_job {
	const char *name;
	const char *engine; /* jobs that route */
	const char *option; /* "name=value" of the engine, or NULL */
	bool threaded; /* worth a second thread */
	bool on_dump; /* needs input->dump */
	int (*run)(const struct pure_job *job, const struct pure_input *input, unsigned threads,
		   struct hd_error *err);
};

extern const struct pure_job pure_jobs[];
extern const unsigned pure_job_count;

/* Takes over the fabric, also on failure. Errors: those of routing and of writing. */
int pure_input_make(struct hd_fabric *fabric, size_t fabric_bytes, struct pure_input *out,
		    struct hd_error *err);

void pure_input_release(struct pure_input *input);

#endif
