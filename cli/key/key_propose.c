/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_propose.h"
#include "fabric_source.h"
#include "json_value.h"
#include "key_hosts.h"
#include "message.h"
#include "need.h"

#include <errno.h>
#include <heddle/base/parallel.h>
#include <heddle/fabric/resolve.h>
#include <heddle/keyd/key_pattern.h>
#include <stdlib.h>

#include <heddle/base/parallel.h>
#include <heddle/fabric/resolve.h>
#include <heddle/keyd/key_pattern.h>

#define DEFAULT_ENGINE "dmodk" /* under keys, the routes without keys are its own */

struct choosing {
	const struct key_propose *asked;
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_key_pattern *pattern;
	struct key_hosts names; /* of the hosts that may be taken */
	uint32_t *hosts; /* [names.count] */
	const char **name_of; /* [fabric->host_count] as the file has it */
	struct hd_key_choice *choice;
};

static int find_host(struct choosing *choosing, size_t number, struct hd_error *err)
{
	const char *name = choosing->names.names[number];
	char label[HD_LABEL_SIZE];
	uint32_t port = 0;
	int rc = hd_fabric_resolve(choosing->fabric, name, HD_RESOLVE_HOSTS, &port, err);

	if (rc)
		return rc;
	uint32_t host = hd_fabric_find_host(choosing->fabric, port);
	if (host == HD_NONE)
		return hd_error_set(err, -EINVAL, "%s is an aggregation node, which runs no ranks",
				    hd_port_label(choosing->fabric, port, label, sizeof(label)));
	if (!choosing->fabric->lid[port])
		return hd_error_set(err, -EINVAL, "host '%s' has no LID", name);
	if (choosing->name_of[host])
		return hd_error_set(err, -EINVAL, "host '%s' is in the list twice", name);
	choosing->hosts[number] = host;
	choosing->name_of[host] = name;
	return 0;
}

static int read_hosts(struct choosing *choosing, struct hd_error *err)
{
	const struct key_propose *asked = choosing->asked;
	int rc = key_proposal_read_hosts(&asked->hosts, &choosing->names, err);

	if (rc)
		return rc;
	choosing->hosts = need(calloc(choosing->names.count + 1, sizeof(*choosing->hosts)));
	choosing->name_of =
	    need(calloc((size_t)choosing->fabric->host_count + 1, sizeof(*choosing->name_of)));
	for (size_t i = 0; !rc && i < choosing->names.count; i++)
		rc = find_host(choosing, i, err);
	return rc ? hd_error_prefix(err, rc, "%s", key_proposal_path(&asked->hosts)) : 0;
}

static int make_tables(struct choosing *choosing, const struct hd_log *log, struct hd_error *err)
{
	const struct table_request request = {
	    .fabric = choosing->fabric, .threads = hd_parallel_cores(), .log = log};
	struct table_source source = choosing->asked->tables;

	if (!source.engine && !source.path_count)
		source.engine = hd_engine_find(DEFAULT_ENGINE);
	return table_source_make(&source, &request, &choosing->routes, err);
}

static int choose(struct choosing *choosing, const char *pattern, uint32_t ranks,
		  struct hd_error *err)
{
	const struct key_propose *asked = choosing->asked;
	uint32_t count = asked->hosts.count ? asked->hosts.count : (uint32_t)choosing->names.count;
	int rc = hd_key_pattern_new(pattern, ranks ? ranks : count, &choosing->pattern, err);
	const struct hd_key_choose_request request = {
	    .fabric = choosing->fabric,
	    .routes = choosing->routes,
	    .pattern = choosing->pattern,
	    .free = choosing->hosts,
	    .free_count = (uint32_t)choosing->names.count,
	    .host_count = count,
	    .tries = asked->tries,
	};

	return rc ? rc : hd_key_choose(&request, &choosing->choice, err);
}

bool key_propose_asked(const struct key_propose *choose)
{
	return choose->hosts.count || choose->hosts.free || choose->hosts.reorder ||
	       choose->files.host_file || choose->files.rank_file;
}

static int check(const struct key_propose *choose, const char *pattern, bool json,
		 const char *fabric)
{
	const char *const inputs[] = {fabric, choose->hosts.free, choose->hosts.reorder,
				      choose->name_map};
	struct hd_error err = {""};

	if (key_proposal_check_hosts(&choose->hosts, pattern))
		return STATUS_BAD;
	if (hd_key_pattern_check(pattern, &err))
		return message_fail(&err);
	return key_proposal_check(&choose->files, inputs, 4, json);
}

static int show_proposal(const struct key_propose *asked, const struct key_proposal *proposal,
			 bool json)
{
	const struct key_proposal_files *files = &asked->files;
	struct hd_error err = {""};

	if (key_proposal_write(proposal, files, &err))
		return message_fail(&err);
	if (json)
		return json_value_print(key_proposal_json(proposal), STATUS_CLEAN);
	if (!key_proposal_takes_output(files))
		key_proposal_print(proposal, !files->host_file && !files->rank_file);
	return STATUS_CLEAN;
}

static int show(const struct choosing *choosing, bool json)
{
	const struct hd_key_choice *choice = choosing->choice;
	struct key_proposal proposal = {.free = (uint32_t)choosing->names.count,
					.hosts = choice->host_count,
					.ranks = choice->ranks,
					.phases = choosing->pattern->phase_count,
					.listed = choice->given,
					.proposed = choice->chosen};

	proposal.host_of = need(calloc((size_t)choice->ranks + 1, sizeof(*proposal.host_of)));
	for (uint32_t rank = 0; rank < choice->ranks; rank++)
		proposal.host_of[rank] = choosing->name_of[choice->host_of[rank]];
	int status = show_proposal(choosing->asked, &proposal, json);
	free(proposal.host_of);
	return status;
}

int key_propose_run(struct key_propose *asked, const char *pattern, uint32_t ranks, bool json,
		    const struct operands *operands)
{
	struct choosing choosing = {.asked = asked};
	struct hd_error err = {""};
	int status = check(asked, pattern, json, operands->items[0]);

	if (status)
		return status;
	if (operands->count > 1 && asked->tables.engine)
		return message_error("'%s': with --engine no tables are read", operands->items[1]);
	if (operands->count > 1)
		table_source_set_paths(&asked->tables, (const char *const *)operands->items + 1,
				       operands->count - 1);
	const struct fabric_source source = {operands->items[0], choosing.asked->name_map, LMC_ANY,
					     NULL};
	struct hd_log log = message_log(false);
	int rc = fabric_source_load(&source, &log, &choosing.fabric, &err);
	if (!rc)
		rc = read_hosts(&choosing, &err);
	rc = rc ? rc : make_tables(&choosing, &log, &err);
	if (!rc)
		rc = choose(&choosing, pattern, ranks, &err);
	status = rc ? message_fail(&err) : show(&choosing, json);
	hd_key_choice_free(choosing.choice);
	hd_key_pattern_free(choosing.pattern);
	hd_routes_free(choosing.routes);
	hd_fabric_free(choosing.fabric);
	key_hosts_release(&choosing.names);
	free(choosing.hosts);
	free(choosing.name_of);
	return status;
}

void key_propose_release(struct key_propose *choose)
{
	table_source_release(&choose->tables);
}
