/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_job.h"
#include "message.h"
#include "need.h"
#include "progress.h"

#include <errno.h>
#include <heddle/mad/queue.h>
#include <heddle/mad/umad_port.h>
#include <inttypes.h>
#include <stdlib.h>

/* Makes the plan; capabilities [switch_count]. 0 and errors as ar_job_make(). */
static int ar_job_plan(struct ar_job *job, const struct hd_ar_capability *capabilities,
		       struct hd_error *err)
{
	const struct hd_ar_config *config = &job->site.config;
	struct hd_log log = message_log(job->verbose);
	const struct hd_ar_request request = {.fabric = job->fabric,
					      .routes = job->routes,
					      .capabilities = capabilities,
					      .algorithm = config->algorithm,
					      .mode = config->mode,
					      .group_cap = config->group_cap,
					      .threads = job->threads,
					      .log = &log,
					      .notes = &job->notes};

	progress_begin("planning");
	int rc = hd_ar_plan_new(&request, &job->plan, &job->loop, err);
	progress_end();
	if (rc != -ELOOP)
		return rc;
	job->refusal = *err;
	return 0;
}

/* What was typed replaces what the file says. */
static int configure(struct ar_job *job, const struct hd_log *log, struct hd_error *err)
{
	struct hd_ar_config *config = &job->site.config;
	int rc = hd_ar_site_read(job->config_path, log, &job->site, err);

	if (rc)
		return rc;
	if (job->algorithm != AR_JOB_CONFIGURED)
		config->algorithm = (enum hd_ar_algorithm)job->algorithm;
	if (job->mode != AR_JOB_CONFIGURED)
		config->mode = (enum hd_ar_state)job->mode;
	if (job->group_cap)
		config->group_cap = job->group_cap;
	return 0;
}

/* Reads the configuration, the fabric and its tables. Errors: those of the readers and the engine. */
static int ar_job_load(struct ar_job *job, struct hd_error *err)
{
	const struct fabric_source source = {job->fabric_path, job->name_map, job->lmc, NULL};
	struct hd_log log = message_log(job->verbose);
	int rc = configure(job, &log, err);

	if (!rc)
		rc = fabric_source_load(&source, &log, &job->fabric, err);
	if (!rc) {
		const struct table_request request = {
		    .fabric = job->fabric, .threads = job->threads, .log = &log};
		rc = table_source_make(&job->tables, &request, &job->routes, err);
	}
	return rc;
}

/* Nobody was asked: all switches that are to have AR can do all of it. */
static int plan_for_all(struct ar_job *job, struct hd_error *err)
{
	const struct hd_fabric *fabric = job->fabric;
	struct hd_ar_capability *all = need(calloc(fabric->switch_count + 1u, sizeof(*all)));

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (hd_ar_config_enabled(&job->site.config, fabric->node_guid[sw]))
			all[sw] = hd_ar_capability_full;
	int rc = ar_job_plan(job, all, err);
	free(all);
	return rc;
}

int ar_job_make(struct ar_job *job, struct hd_error *err)
{
	int rc = ar_job_load(job, err);

	return rc ? rc : plan_for_all(job, err);
}

void ar_job_release(struct ar_job *job)
{
	ar_recovery_release(&job->recovery);
	hd_ar_loop_free(job->loop);
	hd_ar_plan_free(job->plan);
	hd_routes_free(job->routes);
	hd_fabric_free(job->fabric);
	table_source_release(&job->tables);
	hd_ar_site_release(&job->site);
}

#ifdef HEDDLE_MAD
static int open_port(struct ar_live *live, struct hd_error *err)
{
	const struct hd_umad_choice choice = {.device = live->device, .number = live->port_number};
	struct hd_smp_limits limits = HD_SMP_LIMITS_DEFAULT;
	int rc = hd_umad_port_open(&choice, &live->port, err);

	if (rc)
		return rc;
	limits.timeout_ms = (uint32_t)live->timeout_ms;
	live->link = hd_ar_link_new(hd_umad_port_smp(live->port), &limits);
	if (!live->link || hd_ar_program_configure(hd_ar_link_program(live->link),
						   &live->job.site.config, &live->job.site.quirks))
		need(NULL);
	return 0;
}

static void close_port(struct ar_live *live)
{
	hd_umad_port_close(live->port);
}
#else
static int open_port(struct ar_live *live, struct hd_error *err)
{
	(void)live;
	return hd_error_set(err, -ENOTSUP,
			    "this heddle was built without libibumad, so it cannot ask switches");
}

static void close_port(struct ar_live *live)
{
	(void)live;
}
#endif

static int run(struct ar_live *live, struct hd_error *err)
{
	int rc = hd_ar_link_run(live->link, NULL, NULL);

	return rc ? hd_error_set(err, rc, "the port is broken") : 0;
}

static int plan(struct ar_live *live, struct hd_error *err)
{
	struct hd_ar_capability *all = need(hd_ar_program_capabilities(
	    hd_ar_link_program(live->link), live->job.fabric->lid_count));
	int rc = ar_job_plan(&live->job, all, err);

	free(all);
	return rc;
}

static int read_tables(struct ar_live *live, struct hd_error *err)
{
	struct hd_ar_program *program = hd_ar_link_program(live->link);

	progress_begin("asking the switches");
	hd_ar_program_detect(program);
	int rc = run(live, err);
	if (!rc)
		rc = plan(live, err);
	if (!rc && live->job.plan) {
		hd_ar_program_read(program, live->job.plan);
		rc = run(live, err);
	}
	progress_end();
	return rc;
}

int ar_live_read(struct ar_live *live, struct hd_error *err)
{
	int rc = ar_job_load(&live->job, err);

	if (!rc)
		rc = open_port(live, err);
	if (!rc) {
		/* By the LIDs of the fabric file. */
		const struct hd_fabric *fabric = live->job.fabric;
		struct hd_smp_address *addresses =
		    need(calloc(fabric->switch_count + 1u, sizeof(*addresses)));
		for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++) {
			addresses[sw].lid = (uint16_t)fabric->lid[hd_port_index(fabric, sw, 0)];
			if (!addresses[sw].lid)
				rc = hd_error_set(err, -EINVAL,
						  "%s: switch 0x%016" PRIx64
						  " has no LID; use the output of ibnetdiscover",
						  live->job.fabric_path, fabric->node_guid[sw]);
		}
		if (!rc && hd_ar_link_aim_fabric(live->link, fabric, addresses))
			need(NULL);
		free(addresses);
	}
	return rc ? rc : read_tables(live, err);
}

void ar_live_release(struct ar_live *live)
{
	hd_ar_link_free(live->link);
	close_port(live);
	ar_job_release(&live->job);
}

struct hd_ar_switch_report ar_live_report(const struct ar_live *live, uint32_t sw)
{
	return hd_ar_program_report(hd_ar_link_program(live->link), sw);
}
