/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_proposal.h"

#include "keyd_keys.h"
#include "keyd_op.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct keyd_tables *keyd_tables_new(struct keyd_view *view, const struct hd_engine *engine)
{
	struct keyd_tables *tables = malloc(sizeof(*tables));

	if (tables)
		*tables = (struct keyd_tables){
		    .references = 1, .view = keyd_view_hold(view), .engine = engine};
	return tables;
}

void keyd_tables_release(struct keyd_tables *tables)
{
	if (!tables || --tables->references)
		return;
	hd_routes_free(tables->routes);
	keyd_view_release(tables->view);
	free(tables);
}

static int make_tables(struct keyd_tables *tables, struct keyd_problem *problem)
{
	const struct hd_route_request request = {.fabric = tables->view->fabric, .threads = 1};
	struct hd_error err = {""};
	int rc =
	    tables->routes ? 0 : hd_engine_route(tables->engine, &request, &tables->routes, &err);

	return rc ? keyd_problem_set(problem, rc == -ENOMEM ? 503 : 422, "%s: %s",
				     tables->engine->name, err.text)
		  : 0;
}

static int no_memory(struct keyd_problem *problem)
{
	return keyd_problem_set(problem, 503, "heddle-keyd has no memory for a proposal");
}

/* Takes a host. Only a list to choose from may have names that the fabric does not have. */
static int take_host(struct keyd_proposal *proposal, uint32_t number, uint32_t host,
		     const struct hd_error *err, uint32_t *first_name)
{
	const struct keyd_place_request *place = &proposal->request.place;

	if (host == HD_NONE && !proposal->request.choose)
		return keyd_problem_set(&proposal->problem, 422, "%s", err->text);
	if (host == HD_NONE) {
		proposal->unknown[proposal->unknown_count++] = number;
		return 0;
	}
	if (first_name[host] != HD_NONE)
		return keyd_problem_set(&proposal->problem, 422,
					"hosts[%u] '%.200s' and hosts[%u] '%.200s' are one host",
					first_name[host], place->hosts[first_name[host]], number,
					place->hosts[number]);
	first_name[host] = number;
	proposal->hosts[proposal->host_count] = host;
	proposal->names[proposal->host_count++] = number;
	return 0;
}

static uint32_t find_host(const struct keyd_view *view, const struct keyd_hosts *hosts,
			  const char *name, struct hd_error *err)
{
	uint32_t host = HD_NONE;

	if (keyd_view_host(view, hosts, name, &host, err))
		return HD_NONE;
	if (view->fabric->lid[view->fabric->host_port[host]])
		return host;
	hd_error_set(err, -EINVAL, "host '%s' has no LID", name);
	return HD_NONE;
}

static int find_hosts(struct keyd_proposal *proposal, const struct keyd_hosts *hosts,
		      uint32_t *first_name)
{
	const struct keyd_place_request *place = &proposal->request.place;
	const struct keyd_view *view = proposal->tables->view;
	int rc = 0;

	memset(first_name, 0xff, view->fabric->host_count * sizeof(*first_name));
	for (uint32_t i = 0; !rc && i < place->host_count; i++) {
		struct hd_error err = {""};
		uint32_t host = find_host(view, hosts, place->hosts[i], &err);

		rc = take_host(proposal, i, host, &err, first_name);
	}
	return rc;
}

int keyd_proposal_resolve(struct keyd_proposal *proposal, const struct keyd_hosts *hosts,
			  const struct hd_key_loads *loads)
{
	struct hd_arena *arena = &proposal->request.place.arena;
	uint32_t count = proposal->request.place.host_count;
	const struct hd_fabric *fabric = proposal->tables->view->fabric;
	uint32_t *first_name = hd_arena_alloc(arena, fabric->host_count, sizeof(*first_name));

	proposal->hosts = hd_arena_alloc(arena, count, sizeof(*proposal->hosts));
	proposal->names = hd_arena_alloc(arena, fabric->host_count, sizeof(*proposal->names));
	proposal->unknown = hd_arena_alloc(arena, count, sizeof(*proposal->unknown));
	proposal->others = hd_arena_alloc(arena, fabric->isl_count + 1, sizeof(*proposal->others));
	if (hd_arena_check(arena))
		return no_memory(&proposal->problem);
	memcpy(proposal->others, loads->flows, fabric->isl_count * sizeof(*proposal->others));
	return find_hosts(proposal, hosts, first_name);
}

static void write_number(struct keyd_writer *writer, const char *name, uint64_t number)
{
	keyd_write_name(writer, name);
	keyd_write_number(writer, number);
}

static void write_worth(struct keyd_writer *writer, const char *name,
			const struct hd_key_worth *worth)
{
	keyd_write_name(writer, name);
	keyd_write(writer, "{");
	write_number(writer, "lost", worth->lost);
	write_number(writer, "keys", worth->keys);
	write_number(writer, "contention", worth->contention);
	write_number(writer, "shared_links", worth->shared);
	write_number(writer, "leaves", worth->leaves);
	write_number(writer, "pods", worth->pods);
	keyd_write(writer, "}");
}

static void write_host(struct keyd_writer *writer, const char *name)
{
	keyd_write_comma(writer);
	keyd_write_string(writer, name);
}

/* name_of: [hosts of the fabric] number of its name. */
static void write_ranks(const struct keyd_proposal *proposal, const struct hd_key_choice *choice,
			uint32_t *name_of, struct keyd_writer *writer)
{
	char **names = proposal->request.place.hosts;

	for (uint32_t i = 0; i < proposal->host_count; i++)
		name_of[proposal->hosts[i]] = proposal->names[i];
	keyd_write_name(writer, "host_of_rank");
	keyd_write(writer, "[");
	for (uint32_t rank = 0; rank < choice->ranks; rank++)
		write_host(writer, names[name_of[choice->host_of[rank]]]);
	keyd_write(writer, "]");
	keyd_write_name(writer, "unknown");
	keyd_write(writer, "[");
	for (uint32_t i = 0; i < proposal->unknown_count; i++)
		write_host(writer, names[proposal->unknown[i]]);
	keyd_write(writer, "]");
}

static uint32_t count_busy(const struct keyd_proposal *proposal)
{
	uint32_t links = proposal->tables->view->fabric->isl_count, busy = 0;

	for (uint32_t link = 0; link < links; link++)
		busy += proposal->others[link] > 0;
	return busy;
}

static struct keyd_text *write_answer(const struct keyd_proposal *proposal,
				      const struct hd_key_choice *choice, uint32_t phases)
{
	const struct keyd_view *view = proposal->tables->view;
	uint32_t *name_of = calloc(view->fabric->host_count, sizeof(*name_of));
	struct keyd_writer writer = {.room = 0};

	if (!name_of)
		return NULL;
	keyd_write(&writer, "{");
	write_number(&writer, "epoch", view->epoch);
	write_number(&writer, "free", proposal->host_count);
	write_number(&writer, "hosts", choice->host_count);
	write_number(&writer, "ranks", choice->ranks);
	write_number(&writer, "phases", phases);
	write_number(&writer, "busy_links", count_busy(proposal));
	keyd_write_name(&writer, "stopped");
	keyd_write(&writer, choice->stopped ? "true" : "false");
	write_worth(&writer, "listed", &choice->given);
	write_worth(&writer, "proposed", &choice->chosen);
	write_ranks(proposal, choice, name_of, &writer);
	keyd_write(&writer, "}");
	free(name_of);
	return keyd_writer_end(&writer);
}

static bool has_time(void *context)
{
	const struct keyd_proposal *proposal = context;

	return keyd_op_now() < proposal->deadline;
}

static int make_pattern(struct keyd_proposal *proposal, struct hd_key_pattern **pattern)
{
	const struct keyd_place_request *place = &proposal->request.place;
	struct hd_error err = {""};
	int rc = keyd_keys_pattern(place, place->ranks, pattern, &err);

	if (rc)
		return keyd_problem_set(&proposal->problem, rc == -ENOMEM ? 503 : 422, "%s",
					err.text);
	if ((*pattern)->base[(*pattern)->phase_count] <= proposal->flows_max)
		return 0;
	return keyd_problem_set(&proposal->problem, 422,
				"the job has %u flows; max_flows in [keyd] allows %u",
				(*pattern)->base[(*pattern)->phase_count], proposal->flows_max);
}

static int choose(struct keyd_proposal *proposal, const struct hd_key_pattern *pattern)
{
	const struct keyd_propose_request *asked = &proposal->request;
	const struct hd_key_choose_request request = {
	    .fabric = proposal->tables->view->fabric,
	    .routes = proposal->tables->routes,
	    .others = proposal->others,
	    .pattern = pattern,
	    .free = proposal->hosts,
	    .free_count = proposal->host_count,
	    .host_count = asked->choose ? asked->choose : proposal->host_count,
	    .tries = asked->tries,
	    .go_on = {has_time, proposal},
	};
	struct hd_key_choice *choice = NULL;
	struct hd_error err = {""};
	int rc = hd_key_choose(&request, &choice, &err);

	if (rc)
		return keyd_problem_set(&proposal->problem, rc == -ENOMEM ? 503 : 422, "%s",
					err.text);
	proposal->answer = write_answer(proposal, choice, pattern->phase_count);
	hd_key_choice_free(choice);
	return proposal->answer ? 0 : no_memory(&proposal->problem);
}

void keyd_proposal_make(struct keyd_proposal *proposal)
{
	struct hd_key_pattern *pattern = NULL;
	int rc = make_pattern(proposal, &pattern);

	if (!rc)
		rc = make_tables(proposal->tables, &proposal->problem);
	if (!rc)
		choose(proposal, pattern);
	hd_key_pattern_free(pattern);
}

void keyd_proposal_release(struct keyd_proposal *proposal)
{
	keyd_text_release(proposal->answer);
	keyd_tables_release(proposal->tables);
	hd_arena_release(&proposal->request.place.arena);
}
