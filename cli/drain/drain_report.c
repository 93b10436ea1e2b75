/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What heddle drain says of a pull, as text and as JSON. */
#include "drain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HOSTS_NAMED 20u

/* "cable 'leaf1'[3] - 'spine2'[1]" */
static void name_thing(const struct hd_fabric *fabric, const struct hd_fabric_change *change,
		       char *text, size_t size)
{
	const uint32_t node = change->cable ? fabric->port_node[change->index] : change->index;

	if (!change->cable) {
		snprintf(text, size, "switch '%s'", fabric->node_name[node]);
		return;
	}
	const uint32_t peer = fabric->peer[change->index];
	snprintf(text, size, "cable '%s'[%" PRIu32 "] - '%s'[%" PRIu32 "]", fabric->node_name[node],
		 hd_port_number(fabric, change->index), fabric->node_name[fabric->port_node[peer]],
		 hd_port_number(fabric, peer));
}

static const char *host_name(const struct hd_fabric *fabric, uint32_t host)
{
	return fabric->node_name[fabric->port_node[fabric->host_port[host]]];
}

static bool shares_name(const struct hd_fabric *fabric, uint32_t node)
{
	for (uint32_t other = fabric->switch_count; other < fabric->node_count; other++)
		if (other != node && !strcmp(fabric->node_name[other], fabric->node_name[node]))
			return true;
	return false;
}

/* "'n1'", or "'n1' 0x0002c90300001234 at 'leaf1'[3]" if others have that name, too */
static void print_host(const struct hd_fabric *fabric, uint32_t host)
{
	const uint32_t node = fabric->port_node[fabric->host_port[host]];

	printf("'%s'", fabric->node_name[node]);
	if (shares_name(fabric, node))
		printf(" 0x%016" PRIx64 " at '%s'[%u]", fabric->node_guid[node],
		       fabric->node_name[fabric->host_switch[host]],
		       (unsigned)fabric->host_switch_port[host]);
}

static const char *tables_name(const struct drain_job *job)
{
	return job->tables.count ? job->tables.path[0] : job->engine.name;
}

/* Hosts that are cut off: those without a cable, or the others. */
static void print_hosts(const struct drain_job *job, bool alone, uint32_t count)
{
	const struct drain_prediction *prediction = &job->prediction;
	uint32_t named = 0;

	for (uint32_t host = 0; host < job->fabric->host_count && named < HOSTS_NAMED; host++) {
		if (!prediction->cut_hosts[host] || prediction->lone_hosts[host] != alone)
			continue;
		fputs(named++ ? ", " : " ", stdout);
		print_host(job->fabric, host);
	}
	if (named < count)
		printf(", %" PRIu32 " more", count - named);
	putchar('\n');
}

static void print_order(const struct drain_order *order)
{
	if (*order->refusal) {
		printf("order      none: %s\n", order->refusal);
		return;
	}
	printf("drain      moves %" PRIu64 " entries on %" PRIu32 " switches, in %" PRIu64
	       " blocks and %" PRIu32 " step%s\n",
	       order->entries, order->switches, order->blocks, order->steps,
	       order->steps == 1 ? "" : "s");
	if (order->loop)
		printf("proof      none: LID %" PRIu32 " can go in a circle meanwhile\n",
		       order->loop);
	else if (order->left)
		printf("proof      none: %" PRIu64 " entries have no order\n", order->left);
	else if (order->loose)
		printf("proof      none for %" PRIu64 " entries: %s\n", order->loose,
		       order->looped ? "the tables have a credit loop now"
				     : "no order without a credit loop was found");
	else
		puts("proof      no loop and no credit loop at any moment, whichever switch is "
		     "first");
}

static void print_bandwidth(const struct drain_job *job)
{
	const struct drain_prediction *prediction = &job->prediction;

	if (!prediction->before.known || !prediction->after.known)
		return;
	if (prediction->pairs.cut) {
		puts("bandwidth  not compared: afterwards only pairs that are left would count");
		return;
	}
	printf("bandwidth  mean %.4f before, %.4f after; worst pattern %.4f before, %.4f after\n",
	       prediction->before.mean, prediction->after.mean, prediction->before.minimum,
	       prediction->after.minimum);
	printf("           (%s, %" PRIu64 " patterns, seed %" PRIu64 ")\n",
	       job->workload.pattern_text, job->workload.count, job->workload.seed);
}

static void print_adaptive(const struct drain_adaptive *adaptive)
{
	if (!adaptive->wanted)
		return;
	if (*adaptive->unbridged)
		printf("groups     what they bridge is not known: %s\n", adaptive->unbridged);
	for (unsigned level = 0; !*adaptive->unbridged && level < HD_AR_RECOVERY_LEVELS; level++)
		printf("%-10s right after a pull, with fast recovery %s: %" PRIu64 " of %" PRIu64
		       " pairs of a switch and a LID arrive\n",
		       level ? "" : "groups", hd_ar_recovery_name((enum hd_ar_recovery)level),
		       adaptive->bridged.delivered[level], adaptive->pairs);
	if (*adaptive->refusal)
		printf("           no plan for what is left: %s\n", adaptive->refusal);
	else
		printf("           adaptive entries: %" PRIu64 " before, %" PRIu64
		       " after, proved free of credit loops\n",
		       adaptive->adaptive_before, adaptive->adaptive_after);
}

void drain_print(const struct drain_job *job)
{
	const struct drain_prediction *prediction = &job->prediction;

	const struct hd_fabric *fabric = job->fabric;
	char text[HD_ERROR_TEXT];
	printf("fabric     %s: %" PRIu32 " hosts, %" PRIu32 " switches, %" PRIu32 " cables\n",
	       job->fabric_path, fabric->host_count, fabric->switch_count, fabric->isl_count / 2);
	printf("tables     %s%s; %s routes what is left\n", tables_name(job),
	       job->tables.count > 1 ? " ..." : "", job->engine.name);
	for (uint32_t i = 0; i < job->prediction.count; i++) {
		name_thing(fabric, &job->prediction.pulled[i], text, sizeof(text));
		printf("%-10s %s\n", i ? "" : "pull", text);
	}
	const struct drain_pairs *pairs = &job->prediction.pairs;
	printf("in use     by %" PRIu64 " of %" PRIu64
	       " pairs of hosts, which lose packets if it is pulled now\n",
	       pairs->hit, pairs->all);
	if (pairs->dead)
		printf("today      %" PRIu64 " pairs of hosts do not arrive, by the tables\n",
		       pairs->dead);
	printf("cut off    ");
	if (pairs->cut)
		printf("%" PRIu64 " pairs of hosts for good\n", pairs->cut);
	else
		puts("nobody");
	const struct hd_pull_cut *cables = &job->prediction.cables;
	const uint32_t apart = cables->hosts - cables->alone;
	if (cables->alone) {
		printf("           no cable is left to %" PRIu32 " host%s:", cables->alone,
		       cables->alone == 1 ? "" : "s");
		print_hosts(job, true, cables->alone);
	}
	if (apart) {
		printf("           the fabric falls into %" PRIu32
		       " parts with hosts; not in the largest %s %" PRIu32 " host%s:",
		       cables->parts, apart == 1 ? "is" : "are", apart, apart == 1 ? "" : "s");
		print_hosts(job, false, apart);
	}
	if (!job->prediction.cables.hosts) {
		for (uint32_t i = 0; i < pairs->named; i++) {
			fputs("           ", stdout);
			print_host(job->fabric, pairs->from[i]);
			fputs(" to ", stdout);
			print_host(job->fabric, pairs->to[i]);
			putchar('\n');
		}
	}
	if (*prediction->refusal) {
		printf("drain      impossible: %s\n", prediction->refusal);
	} else {
		print_order(&prediction->order);
		if (prediction->credit_loops)
			printf("           %" PRIu64 " lanes have a credit loop afterwards\n",
			       prediction->credit_loops);
	}
	print_bandwidth(job);
	print_adaptive(&prediction->adaptive);
	puts(drain_is_safe(prediction) ? "\nSafe: drain it, then pull it." : "\nNot safe.");
	workload_print_partial(&job->workload, "the proof, before the bandwidth");
}

static json_t *end_json(const struct hd_fabric *fabric, uint32_t port)
{
	const uint32_t node = fabric->port_node[port];

	return json_pack("{s:o, s:o, s:I}", "node", json_value_text(fabric->node_name[node]),
			 "guid", json_value_guid(fabric->node_guid[node]), "port",
			 (json_int_t)hd_port_number(fabric, port));
}

static json_t *thing_json(const struct hd_fabric *fabric, const struct hd_fabric_change *change)
{
	if (change->cable)
		return json_pack("{s:s, s:[o, o]}", "kind", "cable", "ends",
				 end_json(fabric, change->index),
				 end_json(fabric, fabric->peer[change->index]));
	return json_pack("{s:s, s:o, s:o}", "kind", "switch", "node",
			 json_value_text(fabric->node_name[change->index]), "guid",
			 json_value_guid(fabric->node_guid[change->index]));
}

static json_t *host_json(const struct drain_job *job, uint32_t host)
{
	const struct hd_fabric *fabric = job->fabric;
	const uint32_t node = fabric->port_node[fabric->host_port[host]],
		       sw = fabric->host_switch[host];

	return json_pack("{s:o, s:o, s:o, s:I, s:b}", "node",
			 json_value_text(fabric->node_name[node]), "guid",
			 json_value_guid(fabric->node_guid[node]), "switch",
			 json_value_text(fabric->node_name[sw]), "port",
			 (json_int_t)fabric->host_switch_port[host], "cabled",
			 !job->prediction.lone_hosts[host]);
}

static json_t *pairs_json(const struct drain_job *job)
{
	const struct drain_pairs *pairs = &job->prediction.pairs;
	json_t *hosts = json_array(), *named = json_array();

	for (uint32_t host = 0; host < job->fabric->host_count; host++)
		if (job->prediction.cut_hosts[host])
			hosts = json_value_append(hosts, host_json(job, host));
	for (uint32_t i = 0; i < pairs->named; i++)
		named = json_value_append(
		    named,
		    json_pack("[o, o]", json_value_text(host_name(job->fabric, pairs->from[i])),
			      json_value_text(host_name(job->fabric, pairs->to[i]))));
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "all", (json_int_t)pairs->all,
			 "in_use", (json_int_t)pairs->hit, "lost_today", (json_int_t)pairs->dead,
			 "cut_off", (json_int_t)pairs->cut, "not_cabled",
			 (json_int_t)job->prediction.cables.pairs, "parts",
			 (json_int_t)job->prediction.cables.parts, "hosts", hosts, "first", named);
}

static json_t *order_json(const struct drain_order *order)
{
	json_t *json =
	    json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "entries", (json_int_t)order->entries,
		      "switches", (json_int_t)order->switches, "blocks", (json_int_t)order->blocks,
		      "steps", (json_int_t)order->steps, "unproved", (json_int_t)order->loose,
		      "without_order", (json_int_t)order->left, "loop_free", !order->loop);

	return *order->refusal ? json_value_set(json, "refusal", json_value_text(order->refusal))
			       : json;
}

static json_t *bandwidth_json(const struct drain_bandwidth *bandwidth)
{
	return json_pack("{s:f, s:f}", "mean", bandwidth->mean, "minimum", bandwidth->minimum);
}

static json_t *adaptive_json(const struct drain_adaptive *adaptive)
{
	json_t *json =
	    json_pack("{s:I, s:I}", "entries_before", (json_int_t)adaptive->adaptive_before,
		      "entries_after", (json_int_t)adaptive->adaptive_after);

	if (*adaptive->unbridged)
		json = json_value_set(json, "unbridged", json_value_text(adaptive->unbridged));
	else
		json = json_value_set(json, "pairs", json_integer((json_int_t)adaptive->pairs));
	for (unsigned level = 0; !*adaptive->unbridged && level < HD_AR_RECOVERY_LEVELS; level++)
		json = json_value_set(json, hd_ar_recovery_name((enum hd_ar_recovery)level),
				      json_integer((json_int_t)adaptive->bridged.delivered[level]));
	return *adaptive->refusal
		   ? json_value_set(json, "refusal", json_value_text(adaptive->refusal))
		   : json;
}

json_t *drain_json(const struct drain_job *job)
{
	const struct drain_prediction *prediction = &job->prediction;
	json_t *list = json_array();

	for (uint32_t i = 0; i < job->prediction.count; i++)
		list = json_value_append(list, thing_json(job->fabric, &job->prediction.pulled[i]));
	json_t *all = json_pack(
	    "{s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:b, s:o, s:o}", "fabric",
	    json_value_text(job->fabric_path), "tables", json_value_text(tables_name(job)),
	    "engine", json_value_text(job->engine.name), "hosts",
	    (json_int_t)job->fabric->host_count, "switches", (json_int_t)job->fabric->switch_count,
	    "patterns", (json_int_t)job->workload.count, "seed", (json_int_t)job->workload.seed,
	    "safe", drain_is_safe(prediction), "pulled", list, "pairs", pairs_json(job));

	if (*prediction->refusal)
		all = json_value_set(all, "refusal", json_value_text(prediction->refusal));
	else {
		all = json_value_set(all, "changes", order_json(&prediction->order));
		all = json_value_set(all, "credit_loops",
				     json_integer((json_int_t)prediction->credit_loops));
	}
	all = json_value_set(all, "partial", json_boolean(job->workload.partial));
	if (prediction->before.known)
		all = json_value_set(all, "bandwidth_before", bandwidth_json(&prediction->before));
	if (prediction->after.known)
		all = json_value_set(all, "bandwidth_after", bandwidth_json(&prediction->after));
	if (prediction->adaptive.wanted)
		all = json_value_set(all, "adaptive", adaptive_json(&prediction->adaptive));
	return all;
}
