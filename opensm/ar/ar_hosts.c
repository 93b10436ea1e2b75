/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_hosts.h"
#include "routing.h"

#include <heddle/ar_manager/link.h>
#include <heddle/mad/smp.h>
#include <stdlib.h>

struct ar_host_known {
	uint64_t guid; /* of its node */
	uint8_t port;
	enum hd_ar_host_state state;
	uint32_t sl_mask; /* that it was told */
};

static int compare(const void *left, const void *right)
{
	const struct ar_host_known *a = left, *b = right;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return (int)a->port - (int)b->port;
}

/* One pass over the hosts of a job. */
struct pass {
	struct ar_host_known *all; /* [count] of the fabric */
	struct hd_smp_address *addresses; /* [asked_count] */
	uint8_t *ports; /* [asked_count] */
	uint32_t *index; /* [asked_count] in `all` */
	enum hd_ar_host_state *states; /* [asked_count] */
	uint32_t count, asked_count;
};

static void add_host(struct pass *pass, const struct ar_hosts *hosts, const struct ar_job *job,
		     uint32_t port)
{
	const struct hd_fabric *fabric = job->routing->fabric;
	const uint32_t node = fabric->port_node[port],
		       wanted = job->settings.config.settings.sl_mask;
	struct ar_host_known host = {.guid = fabric->node_guid[node],
				     .port = (uint8_t)hd_port_number(fabric, port),
				     .sl_mask = wanted};
	const struct ar_host_known *before =
	    hosts->count
		? bsearch(&host, hosts->known, hosts->count, sizeof(*hosts->known), compare)
		: NULL;

	if (fabric->node_type[node] != HD_CA || !fabric->lid[port])
		return;
	if (before && before->sl_mask == wanted && !job->fresh && !job->reread)
		host.state = before->state;
	if (host.state == HD_AR_HOST_UNASKED) {
		pass->index[pass->asked_count] = pass->count;
		pass->ports[pass->asked_count] = host.port;
		pass->addresses[pass->asked_count++] =
		    (struct hd_smp_address){.m_key = job->m_key, .lid = fabric->lid[port]};
	}
	pass->all[pass->count++] = host;
}

static int pass_begin(struct pass *pass, const struct ar_hosts *hosts, const struct ar_job *job)
{
	const struct hd_fabric *fabric = job->routing->fabric;
	const size_t room = fabric->host_count + 1u;

	pass->all = calloc(room, sizeof(*pass->all));
	pass->addresses = calloc(room, sizeof(*pass->addresses));
	pass->ports = calloc(room, sizeof(*pass->ports));
	pass->index = calloc(room, sizeof(*pass->index));
	pass->states = calloc(room, sizeof(*pass->states));
	if (!pass->all || !pass->addresses || !pass->ports || !pass->index || !pass->states)
		return -1;
	for (uint32_t host = 0; host < fabric->host_count; host++)
		add_host(pass, hosts, job, fabric->host_port[host]);
	return 0;
}

static int ask(struct pass *pass, const struct hd_smp_port *port, const struct ar_job *job,
	       struct ar_worker *worker, struct hd_error *err)
{
	const struct hd_ar_hosts hosts = {pass->addresses, pass->ports, pass->asked_count};

	return hd_ar_host_masks_set(port, &job->limits, &hosts,
				    job->settings.config.settings.sl_mask, worker->go_on, worker,
				    pass->states, err);
}

static void report(const struct pass *pass, const struct ar_job *job, const struct opensm_log *log)
{
	uint32_t counts[HD_AR_HOST_REFUSED + 1] = {0};

	for (uint32_t i = 0; i < pass->asked_count; i++)
		counts[pass->states[i]]++;
	if (!counts[HD_AR_HOST_CHANGED] && !counts[HD_AR_HOST_REFUSED])
		return;
	log_info(log,
		 "adaptive routing: %u host ports got the mask 0x%04X of SLs out of order, %u have "
		 "refused it, %u had it, %u do not have MlnxExtPortInfo, %u do not answer",
		 counts[HD_AR_HOST_CHANGED], job->settings.config.settings.sl_mask,
		 counts[HD_AR_HOST_REFUSED], counts[HD_AR_HOST_HELD], counts[HD_AR_HOST_WITHOUT],
		 counts[HD_AR_HOST_SILENT]);
}

/* What was found replaces what was known. */
static void settle(struct pass *pass, struct ar_hosts *hosts)
{
	for (uint32_t i = 0; i < pass->asked_count; i++)
		pass->all[pass->index[i]].state = pass->states[i];
	qsort(pass->all, pass->count, sizeof(*pass->all), compare);
	ar_hosts_release(hosts);
	*hosts = (struct ar_hosts){pass->all, pass->count};
	pass->all = NULL;
}

int ar_hosts_tell(struct ar_hosts *hosts, const struct hd_smp_port *port, const struct ar_job *job,
		  struct ar_worker *worker, struct hd_error *err)
{
	struct pass pass = {0};
	int rc = pass_begin(&pass, hosts, job) ? hd_error_no_memory(err) : 0;

	if (!rc && pass.asked_count)
		rc = ask(&pass, port, job, worker, err);
	if (pass.count) {
		report(&pass, job, worker->log);
		settle(&pass, hosts);
	}
	free(pass.all);
	free(pass.addresses);
	free(pass.ports);
	free(pass.index);
	free(pass.states);
	return rc;
}

void ar_hosts_release(struct ar_hosts *hosts)
{
	free(hosts->known);
	*hosts = (struct ar_hosts){0};
}
