/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle drain: what happens if cables and switches are pulled, from files. */
#include "drain.h"
#include "interrupt.h"
#include "need.h"
#include "plan_source.h"
#include "progress.h"

#include <errno.h>
#include <heddle/change.h>
#include <stdlib.h>
#include <string.h>

static int check_repaired(struct drain_job *job, struct hd_error *err)
{
	const struct hd_check_options options = {.threads = job->workload.threads, .max_faults = 1};
	struct hd_check_report *report = NULL;
	int rc = hd_check(job->rest, job->repaired, &options, &report, err);

	if (rc)
		return rc;
	job->prediction.credit_loops = report->credit_loops;
	hd_check_report_free(report);
	return 0;
}

/* From the tables in place, as a sweep does. That the engine refuses is a result. */
static int route_rest(struct drain_job *job, struct hd_error *err)
{
	struct hd_routes *previous = NULL;
	struct hd_error refusal = {""};
	int rc = hd_routes_rebase(job->fabric, job->routes, job->rest, &previous, err);

	if (rc)
		return rc;
	const struct table_request request = {.fabric = job->rest,
					      .previous = previous,
					      .policy = &job->workload.policy.policy,
					      .threads = job->workload.threads,
					      .log = job->workload.verbose ? &job->log : NULL};
	rc = need_enough(table_source_make(&job->engine, &request, &job->repaired, &refusal));
	hd_routes_free(previous);
	if (rc)
		snprintf(job->prediction.refusal, sizeof(job->prediction.refusal), "%s",
			 refusal.text);
	return rc ? 0 : check_repaired(job, err);
}

struct ordering {
	const struct hd_fabric *fabric;
	struct hd_routes *held, *wanted; /* in its shape */
	bool *changed; /* [switch_count] */
	struct drain_order *out;
};

static int order_parts(struct ordering *ordering, unsigned threads, struct hd_error *err)
{
	const struct hd_sweep_request request = {.fabric = ordering->fabric,
						 .held = ordering->held,
						 .wanted = ordering->wanted,
						 .threads = threads};
	struct hd_sweep_part part = {.plan = NULL};
	struct hd_sweep *sweep = NULL;
	int rc = hd_sweep_new(&request, &sweep, err);

	while (!rc) {
		uint32_t loop = 0;
		rc = hd_sweep_next(sweep, &part, err);
		if (rc || !part.plan)
			break;
		rc = hd_repair_find_loop(ordering->fabric, ordering->held, ordering->fabric,
					 part.plan, &loop, err);
		if (loop && !ordering->out->loop)
			ordering->out->loop = loop;
		/* All blocks of the part have been acknowledged. */
		const struct hd_repair_plan *plan = part.plan;
		struct drain_order *out = ordering->out;
		for (uint32_t i = 0; i < plan->write_count; i++) {
			const struct hd_repair_write *write = &plan->writes[i];
			memcpy(hd_routes_row(ordering->held, write->sw) +
				   (size_t)write->block * HD_LFT_BLOCK,
			       write->ports, HD_LFT_BLOCK);
			out->switches += !ordering->changed[write->sw];
			ordering->changed[write->sw] = true;
		}
		out->entries += plan->entries;
		out->blocks += plan->write_count;
		out->steps += plan->steps;
		out->parts++;
		out->loose += part.proved ? 0 : plan->entries;
		out->looped |= part.looped;
	}
	hd_sweep_free(sweep);
	return rc;
}

/*
 * On the fabric with all that is to be pulled: packets use it until the last entry is gone, and their dependencies
 * count. That no order can be looked for is a result.
 */
static int find_order(struct drain_job *job, struct hd_error *err)
{
	struct drain_order *out = &job->prediction.order;
	struct ordering ordering = {.fabric = job->fabric, .out = out};
	struct hd_error refusal = {""};
	int rc = hd_routes_rebase(job->rest, job->repaired, job->fabric, &ordering.wanted, err);

	if (rc)
		return rc;
	progress_begin("ordering the changes");
	ordering.held = need(hd_routes_copy(job->routes));
	ordering.changed = need(calloc(job->fabric->switch_count + 1u, sizeof(bool)));
	rc = need_enough(order_parts(&ordering, job->workload.threads, &refusal));
	progress_end();
	if (rc)
		snprintf(out->refusal, sizeof(out->refusal), "%s", refusal.text);
	else
		out->left = hd_routes_count_changes(ordering.held, ordering.wanted);
	free(ordering.changed);
	hd_routes_free(ordering.held);
	hd_routes_free(ordering.wanted);
	return 0;
}

/* Without a flow that arrives, or if it was ended early, nothing is known. */
static int measure(struct drain_job *job, const struct hd_fabric *fabric,
		   const struct hd_routes *routes, const char *title, struct drain_bandwidth *out,
		   struct hd_error *err)
{
	struct workload_on on = {0};
	struct hd_congestion_report *report = NULL;
	struct hd_error reason;
	int rc = workload_place(&job->workload, fabric, &on, &reason);

	if (!rc) {
		struct hd_congestion_request request =
		    workload_request(&job->workload, &on, routes);
		rc = workload_run(&job->workload, &request, title, &report, &reason);
	}
	if (rc == -ECANCELED && interrupt_came()) {
		job->workload.partial = true;
		rc = 0;
	}
	if (!rc && !job->workload.partial)
		*out = (struct drain_bandwidth){true, report->mean, report->minimum};
	hd_congestion_report_free(report);
	workload_on_release(&on);
	return rc == -EINVAL || !rc ? 0 : hd_error_set(err, rc, "%s", reason.text);
}

static void bridge(struct drain_job *job)
{
	struct drain_adaptive *out = &job->prediction.adaptive;
	const struct hd_ar_recovery_request request = {.fabric = job->fabric,
						       .routes = job->routes,
						       .plan = job->plan,
						       .threads = job->workload.threads,
						       .go_on = interrupt_go_on};
	uint32_t *links = need(calloc(job->fabric->isl_count + 1u, sizeof(*links)));
	uint32_t first[2] = {0, 0};
	struct hd_error reason;

	/* The cables between switches that are pulled, each once. */
	const struct hd_fabric *fabric = job->fabric, *rest = job->rest;
	uint32_t count = 0;
	for (uint32_t link = 0; link < fabric->isl_count; link++) {
		const uint32_t sw = hd_isl_from(fabric, link);
		const uint32_t row = hd_fabric_find_node(rest, fabric->node_guid[sw]);
		if (link < fabric->isl_reverse[link] &&
		    (row == HD_NONE ||
		     rest->peer[hd_port_index(rest, row, fabric->isl_port[link])] == HD_NONE))
			links[count++] = link;
	}
	first[1] = count;
	const struct hd_ar_losses losses = {1, first, links};
	int rc = hd_ar_recovery_prove(&request, true, &reason);
	if (!rc)
		rc = hd_ar_recovery_bridge(&request, &losses, &out->bridged, &out->pairs, &reason);
	free(links);
	if (need_enough(rc))
		snprintf(out->unbridged, sizeof(out->unbridged), "%s", reason.text);
}

/* The plan for what is left. */
static void plan_rest(struct drain_job *job)
{
	struct drain_adaptive *out = &job->prediction.adaptive;
	const struct hd_ar_request request = {.fabric = job->rest,
					      .routes = job->repaired,
					      .mode = HD_AR_BOUNDED,
					      .threads = job->workload.threads,
					      .log = job->workload.verbose ? &job->log : NULL,
					      .go_on = interrupt_go_on};
	struct hd_ar_plan *plan = NULL;
	struct hd_error reason = {""};

	if (need_enough(hd_ar_plan_new(&request, &plan, NULL, &reason)))
		snprintf(out->refusal, sizeof(out->refusal), "%s", reason.text);
	else
		out->adaptive_after = plan->adaptive;
	hd_ar_plan_free(plan);
}

/*
 * If the tables of the files are those that the engine makes, its own are taken: they know more, such as the labels of a
 * tree, and from these a subnet manager with this engine starts.
 */
static void recognise(struct drain_job *job, const struct table_request *request)
{
	struct hd_routes *own = NULL;
	struct table_request quiet = *request;
	struct hd_error reason = {""};

	quiet.log = NULL;
	int rc = need_enough(table_source_make(&job->engine, &quiet, &own, &reason));
	if (!rc && hd_routes_equal(own, job->routes)) {
		hd_routes_free(job->routes);
		job->routes = own;
	} else {
		hd_routes_free(own);
	}
}

static int compare(struct drain_job *job, struct hd_error *err)
{
	const struct drain_tables tables = {job->fabric, job->routes, job->rest, job->repaired};
	struct drain_prediction *prediction = &job->prediction;
	int rc = 0;

	drain_pairs_count(&tables, &prediction->pairs);
	if (job->repaired)
		rc = find_order(job, err);
	if (!rc)
		rc = measure(job, job->fabric, job->routes, "bandwidth now", &prediction->before,
			     err);
	if (!rc && job->repaired && !job->workload.partial)
		rc = measure(job, job->rest, job->repaired, "bandwidth left", &prediction->after,
			     err);
	if (!rc) {
		struct drain_adaptive *out = &job->prediction.adaptive;
		if (job->plan_path && !job->workload.partial) {
			out->wanted = true;
			out->adaptive_before = job->plan->adaptive;
			progress_begin("adaptive routing");
			bridge(job);
			if (job->repaired)
				plan_rest(job);
			progress_end();
			job->workload.partial |= interrupt_came();
			out->wanted = !job->workload.partial;
		}
	}
	return rc;
}

int drain_predict(struct drain_job *job, struct hd_error *err)
{
	struct table_source files = {.paths = job->tables.path, .path_count = job->tables.count};
	int rc = policy_arguments_load(&job->workload.policy, job->fabric_path, job->workload.lmc,
				       &job->log, &job->fabric, err);
	const struct table_request request = {.fabric = job->fabric,
					      .policy = &job->workload.policy.policy,
					      .threads = job->workload.threads,
					      .log = &job->log};

	if (!rc) {
		struct drain_prediction *prediction = &job->prediction;
		prediction->pulled =
		    need(calloc(prediction->count + 1u, sizeof(*prediction->pulled)));
		prediction->cut_hosts = need(calloc(job->fabric->host_count + 1u, sizeof(bool)));
		prediction->lone_hosts = need(calloc(job->fabric->host_count + 1u, sizeof(bool)));
		for (uint32_t i = 0; !rc && i < prediction->count; i++)
			rc = hd_pull_resolve(job->fabric, prediction->texts[i],
					     &prediction->pulled[i], err);
		if (!rc)
			rc = hd_pull_cut(job->fabric, prediction->pulled, prediction->count,
					 prediction->cut_hosts, &prediction->cables, err);
		if (!rc)
			rc = hd_fabric_without(job->fabric, prediction->pulled, prediction->count,
					       HD_NONE, &job->rest, err);
		for (uint32_t host = 0; !rc && host < job->fabric->host_count; host++)
			prediction->lone_hosts[host] = drain_is_alone(job->fabric, job->rest, host);
	}
	if (!rc)
		rc = table_source_make(job->tables.count ? &files : &job->engine, &request,
				       &job->routes, err);
	if (!rc && job->tables.count)
		recognise(job, &request);
	if (!rc && job->plan_path)
		rc = plan_source_read_proved(job->plan_path, job->fabric, job->routes,
					     job->workload.threads, &job->plan, err);

	if (!rc)
		rc = route_rest(job, err);
	return rc ? rc : compare(job, err);
}

bool drain_is_safe(const struct drain_prediction *prediction)
{
	const struct drain_order *order = &prediction->order;

	return !prediction->cables.pairs && !prediction->cables.hosts && !prediction->pairs.cut &&
	       !*prediction->refusal && !prediction->credit_loops && !*order->refusal &&
	       !order->loose && !order->left && !order->loop && !*prediction->adaptive.refusal;
}
