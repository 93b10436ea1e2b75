/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle certify: writes a certificate of tables, which others can verify. */
#include "commands.h"
#include "message.h"
#include "output.h"
#include "plan_source.h"
#include "policy_arguments.h"
#include "progress.h"
#include "shared_arguments.h"

#include <errno.h>
#include <heddle/ar_manager/certify.h>
#include <inttypes.h>
#include <stdio.h>

struct certify_job {
	struct table_source tables;
	struct policy_arguments policy;
	const char *plan_path; /* NULL: forwarding tables alone */
	const char *before_path; /* tables that the others replace; NULL: none */
	const char *plan_before_path; /* on these; NULL: none */
	const char *output; /* NULL: standard output */
	int lmc;
	bool verbose;

	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_plan *plan;
	struct hd_routes *before; /* NULL: none */
	struct hd_ar_plan *plan_before;
	struct hd_certificate *certificate; /* of the change, if there is one */
	struct hd_certificate_change *change;
};

static const struct argument arguments[] = {
    SHARED_ENGINE(struct certify_job, tables),
    {0, "plan", "FILE", "packets may take all ports of this plan of adaptive routing (.far file)",
     ARGUMENT_TEXT(struct certify_job, plan_path)},
    {0, "before", "FILE", "certify the change from these tables to TABLES, in steps",
     ARGUMENT_TEXT(struct certify_job, before_path)},
    {0, "plan-before", "FILE", "with --before: the plan of adaptive routing on these tables",
     ARGUMENT_TEXT(struct certify_job, plan_before_path)},
    SHARED_OUTPUT(struct certify_job, output),
    POLICY_ARGUMENTS(struct certify_job, policy),
    SHARED_LMC(struct certify_job, lmc),
    SHARED_VERBOSE(struct certify_job, verbose),
};

static const struct usage usage = {
    .synopsis = "heddle certify [OPTION]... FABRIC TABLES... [-o FILE]\n"
		"   or: heddle certify [OPTION]... -e NAME[:KEY=VALUE,...] FABRIC [-o FILE]",
    .summary = "Writes a certificate of forwarding tables: what proves that they are right.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .notes = "TABLES: forwarding tables and service levels, in files or folders of files.\n"
	     "The program verify_certificate checks a certificate without Heddle.",
    .statuses = {"the certificate was written", "packets get lost, or a lane has a credit loop",
		 "bad input or usage, or the engine refuses the fabric"},
};

static int read_plan(const struct certify_job *job, const char *path, struct hd_ar_plan **out,
		     struct hd_error *err)
{
	return path ? plan_source_read(path, job->fabric, out, err) : 0;
}

static int make_certificate(struct certify_job *job, struct hd_error *err)
{
	if (!job->before)
		return hd_ar_certify(job->fabric, job->routes, job->plan, NULL, &job->certificate,
				     err);
	const struct hd_ar_certify_change request = {.fabric = job->fabric,
						     .before = job->before,
						     .after = job->routes,
						     .held = job->plan_before,
						     .next = job->plan};
	int rc = hd_ar_certify_change(&request, &job->change, err);
	if (!rc)
		job->certificate = job->change->after;
	return rc;
}

static int write_certificate(const struct certify_job *job, struct hd_error *err)
{
	struct output output;
	int rc = output_open(&output, job->output, err);

	if (rc)
		return rc;
	rc = job->change ? hd_certificate_change_write(job->change, job->fabric, output.stream, err)
			 : hd_certificate_write(job->certificate, job->fabric, output.stream, err);
	return output_close(&output, rc, err);
}

static int run_job(struct certify_job *job, const char *path)
{
	struct hd_error err = {""};
	struct hd_log log = message_log(job->verbose);

	job->policy.keep_names = true; /* certificates have them */
	int rc = policy_arguments_load(&job->policy, path, job->lmc, &log, &job->fabric, &err);
	if (!rc) {
		const struct table_request request = {.fabric = job->fabric,
						      .policy = &job->policy.policy,
						      .threads = hd_parallel_cores(),
						      .log = &log};
		rc = table_source_make(&job->tables, &request, &job->routes, &err);
	}
	if (!rc && job->before_path) {
		const struct table_request request = {.fabric = job->fabric, .log = &log};
		struct table_source before = {.paths = &job->before_path, .path_count = 1};
		rc = table_source_make(&before, &request, &job->before, &err);
	}
	if (!rc)
		rc = read_plan(job, job->plan_path, &job->plan, &err);
	if (!rc)
		rc = read_plan(job, job->plan_before_path, &job->plan_before, &err);

	if (rc)
		return message_fail(&err);
	progress_begin("proving");
	rc = make_certificate(job, &err);
	progress_end();
	if (rc == -EHOSTUNREACH || rc == -ELOOP ||
	    (rc == -EINVAL && (job->plan || job->plan_before))) {
		fprintf(stderr, "no certificate: %s\n", err.text);
		if (rc == -ELOOP && table_source_advice(job->routes))
			fprintf(stderr, "%s\n", table_source_advice(job->routes));
		return STATUS_FAULTS;
	}
	if (!rc)
		rc = write_certificate(job, &err);
	if (rc)
		return message_fail(&err);
	const struct hd_certificate *certificate = job->certificate;
	fprintf(stderr,
		"certificate: %" PRIu32 " switches, %d %s with traffic between switches, %" PRIu32
		" rows of distances",
		certificate->switch_count, __builtin_popcount(certificate->lanes),
		__builtin_popcount(certificate->lanes) == 1 ? "lane" : "lanes",
		certificate->row_count);
	if (certificate->unreached)
		fprintf(stderr, ", %" PRIu64 " pairs of a switch and a LID without an entry",
			certificate->unreached);
	if (job->change)
		fprintf(stderr, ", %" PRIu32 " step%s", job->change->step_count,
			job->change->step_count == 1 ? "" : "s");
	fputc('\n', stderr);
	return STATUS_CLEAN;
}

static int run(void *context, const struct operands *operands)
{
	struct certify_job *job = context;
	int status = table_source_take_operands(&job->tables, &usage, operands, 0,
						"FABRIC and TABLES (with -e: FABRIC)");
	const char *const inputs[] = {status ? NULL : operands->items[0], job->policy.name_map,
				      job->plan_path, job->before_path, job->plan_before_path};

	if (!status)
		status = policy_arguments_refuse(&job->policy, job->tables.engine);
	if (!status)
		status =
		    output_refuse("output", job->output, inputs, sizeof(inputs) / sizeof(*inputs));
	if (!status && job->plan_before_path && !job->before_path)
		status = message_error("--plan-before needs --before");
	if (!status)
		status = output_refuse("output", job->output, job->policy.files, HD_POLICY_FILES);
	if (!status && !job->tables.engine)
		status =
		    output_refuse("output", job->output, job->tables.paths, job->tables.path_count);
	return status ? status : run_job(job, operands->items[0]);
}

int certify_command(int argc, char **argv)
{
	struct certify_job job = {.lmc = LMC_ANY};
	int status = arguments_run(&usage, argc, argv, &job, run);

	if (job.change)
		hd_certificate_change_free(job.change);
	else
		hd_certificate_free(job.certificate);
	hd_routes_free(job.before);
	hd_ar_plan_free(job.plan_before);
	hd_ar_plan_free(job.plan);
	hd_routes_free(job.routes);
	hd_fabric_free(job.fabric);
	policy_arguments_release(&job.policy);
	table_source_release(&job.tables);
	return status;
}
