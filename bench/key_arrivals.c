/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heddle-bench-arrivals HOSTS [TRIALS [LOAD]]
 *
 * How many flows of different applications share a link (paper 003, figure 4)? A two-level fat tree
 * of sqrt(HOSTS) leaves, as many hosts on each, and as many spines. LOAD percent of the hosts, 60 by
 * default, belong to applications of 2 to 18 hosts, 10 on average, each host to one of them; each
 * host sends to another host of its application, and receives from one. Hosts and the order of
 * arrival are random. Each application gets a key when it arrives, for the loads of that moment, and
 * stays.
 *
 * Prints the mean and the largest, over the trials, of the most flows on a link between switches:
 * with the tables of dmodk, with keys as they are made (ARK), with keys shifted for the links (NRK),
 * and with keys shifted as the paper's prose can be read. bench/arrivals makes a table and a picture
 * of it.
 */
#include <heddle/base/random.h>
#include <heddle/engines.h>
#include <heddle/keyd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_LEAST 2u
#define SIZE_MOST 18u

enum scheme { DMODK, ARK, NRK_LINKS, NRK_PAPER, SCHEMES };

static const char *const scheme_names[SCHEMES] = {"dmodk", "ark", "nrk", "nrk-paper"};

struct arrivals {
	struct hd_fabric *fabric;
	struct hd_routes *routes; /* of dmodk */
	struct hd_key_tree *tree;
	struct hd_key_loads *loads[SCHEMES];
	uint32_t *hosts; /* in random order */
	uint32_t *switches; /* of a walk */
	uint64_t random;
	uint32_t sharing; /* keys whose own flows share a link */
	uint64_t sum[SCHEMES];
	uint32_t most[SCHEMES];
};

/* ---- the fabric and its tables ---- */

static int make_fabric(struct arrivals *arrivals, uint32_t side, struct hd_error *err)
{
	const struct hd_generator *generator = hd_generator_find("xgft");
	struct hd_options *options = hd_options_new(generator->options, generator->option_count);
	struct hd_fabric *plain = NULL;
	char children[32], parents[32];
	int rc = options ? 0 : hd_error_no_memory(err);

	snprintf(children, sizeof(children), "%u,%u", side, side);
	snprintf(parents, sizeof(parents), "1,%u", side);
	if (!rc)
		rc = hd_options_set(options, "children", children, err);
	if (!rc)
		rc = hd_options_set(options, "parents", parents, err);
	if (!rc)
		rc = generator->generate(options, &plain, err);
	if (!rc)
		rc = hd_fabric_assign_lids(plain, 0, &arrivals->fabric, err);
	hd_fabric_free(plain);
	hd_options_free(options);
	return rc;
}

static int set_up(struct arrivals *arrivals, uint32_t side, struct hd_error *err)
{
	struct hd_route_request request = {.threads = 1};
	int rc = make_fabric(arrivals, side, err);

	if (rc)
		return rc;
	request.fabric = arrivals->fabric;
	rc = hd_engine_route(hd_engine_find("dmodk"), &request, &arrivals->routes, err);
	if (!rc)
		rc = hd_key_tree_new(arrivals->fabric, &arrivals->tree, err);
	for (unsigned scheme = 0; !rc && scheme < SCHEMES; scheme++) {
		arrivals->loads[scheme] = hd_key_loads_new(arrivals->tree);
		if (!arrivals->loads[scheme])
			rc = hd_error_no_memory(err);
	}
	arrivals->hosts = malloc(arrivals->fabric->host_count * sizeof(uint32_t));
	arrivals->switches = malloc((arrivals->fabric->switch_count + 1) * sizeof(uint32_t));
	if (!rc && (!arrivals->hosts || !arrivals->switches))
		rc = hd_error_no_memory(err);
	for (uint32_t i = 0; !rc && i < arrivals->fabric->host_count; i++)
		arrivals->hosts[i] = i;
	return rc;
}

static void tear_down(struct arrivals *arrivals)
{
	for (unsigned scheme = 0; scheme < SCHEMES; scheme++)
		hd_key_loads_free(arrivals->loads[scheme]);
	free(arrivals->hosts);
	free(arrivals->switches);
	hd_key_tree_free(arrivals->tree);
	hd_routes_free(arrivals->routes);
	hd_fabric_free(arrivals->fabric);
}

/* ---- an application arrives ---- */

static uint32_t link_between(const struct hd_fabric *fabric, uint32_t from, uint32_t to)
{
	uint32_t link = fabric->isl_base[from];

	while (fabric->isl_to[link] != to)
		link++;
	return link;
}

/* Follows the tables, as a packet would. */
static int add_walk(struct arrivals *arrivals, const struct hd_key_flow *flow, struct hd_error *err)
{
	const struct hd_fabric *fabric = arrivals->fabric;
	uint32_t lid = fabric->lid[fabric->host_port[flow->destination]], count;

	if (hd_routes_walk(fabric, arrivals->routes, fabric->host_switch[flow->source], lid,
			   arrivals->switches, &count) != HD_WALK_ARRIVED)
		return hd_error_set(err, -1, "dmodk does not lead to LID %u", lid);
	for (uint32_t i = 0; i + 1 < count; i++)
		arrivals->loads[DMODK]->flows[link_between(fabric, arrivals->switches[i],
							   arrivals->switches[i + 1])]++;
	return 0;
}

static int add_shifted(struct arrivals *arrivals, const struct hd_key *key, enum scheme scheme,
		       enum hd_key_objective objective, struct hd_error *err)
{
	struct hd_key_loads *loads = arrivals->loads[scheme];
	struct hd_key_shift *shift;
	int rc = hd_key_shift_choose(arrivals->tree, key, loads, objective, &shift, err);

	if (rc)
		return rc;
	hd_key_loads_add(loads, arrivals->tree, key, shift, 1);
	hd_key_shift_free(shift);
	return 0;
}

static int add_application(struct arrivals *arrivals, const struct hd_key_flow *flows,
			   uint32_t count, struct hd_error *err)
{
	struct hd_key_request request = {
	    .tree = arrivals->tree, .flows = flows, .flow_count = count, .best_effort = true};
	struct hd_key *key;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < count; i++)
		rc = add_walk(arrivals, &flows[i], err);
	if (!rc)
		rc = hd_key_make(&request, &key, err);
	if (rc)
		return rc;
	arrivals->sharing += key->contention > 1;
	hd_key_loads_add(arrivals->loads[ARK], arrivals->tree, key, NULL, 1);
	rc = add_shifted(arrivals, key, NRK_LINKS, HD_KEY_SHIFT_LINKS, err);
	if (!rc)
		rc = add_shifted(arrivals, key, NRK_PAPER, HD_KEY_SHIFT_PAPER, err);
	hd_key_free(key);
	return rc;
}

/* ---- trials ---- */

static uint32_t draw(struct arrivals *arrivals, uint32_t below)
{
	return (uint32_t)hd_random_below(&arrivals->random, below);
}

static void shuffle(struct arrivals *arrivals)
{
	for (uint32_t i = arrivals->fabric->host_count; i > 1; i--) {
		uint32_t other = draw(arrivals, i), host = arrivals->hosts[i - 1];

		arrivals->hosts[i - 1] = arrivals->hosts[other];
		arrivals->hosts[other] = host;
	}
}

static uint32_t largest(const struct hd_key_loads *loads)
{
	uint32_t most = 0;

	for (uint32_t link = 0; link < loads->link_count; link++)
		if (most < loads->flows[link])
			most = loads->flows[link];
	return most;
}

/* The hosts are in random order, so the next ones make an application, and sending to the next one
 * is a random permutation. */
static int run_trial(struct arrivals *arrivals, uint32_t senders, struct hd_error *err)
{
	int rc = 0;

	for (unsigned scheme = 0; scheme < SCHEMES; scheme++)
		memset(arrivals->loads[scheme]->flows, 0,
		       arrivals->loads[scheme]->link_count * sizeof(uint32_t));
	shuffle(arrivals);
	for (uint32_t begin = 0; !rc && begin + SIZE_LEAST <= senders;) {
		uint32_t size = SIZE_LEAST + draw(arrivals, SIZE_MOST - SIZE_LEAST + 1);
		struct hd_key_flow flows[SIZE_MOST];

		if (size > senders - begin)
			size = senders - begin;
		for (uint32_t i = 0; i < size; i++)
			flows[i] = (struct hd_key_flow){arrivals->hosts[begin + i],
							arrivals->hosts[begin + (i + 1) % size]};
		rc = add_application(arrivals, flows, size, err);
		begin += size;
	}
	for (unsigned scheme = 0; !rc && scheme < SCHEMES; scheme++) {
		uint32_t most = largest(arrivals->loads[scheme]);

		arrivals->sum[scheme] += most;
		if (arrivals->most[scheme] < most)
			arrivals->most[scheme] = most;
	}
	return rc;
}

static int run(struct arrivals *arrivals, uint32_t side, uint32_t trials, uint32_t load,
	       struct hd_error *err)
{
	int rc = set_up(arrivals, side, err);

	for (uint32_t trial = 0; !rc && trial < trials; trial++) {
		arrivals->random = trial;
		rc = run_trial(arrivals, side * side * load / 100, err);
	}
	if (rc)
		return rc;
	for (unsigned scheme = 0; scheme < SCHEMES; scheme++)
		printf("%u %s %.2f %u\n", side * side, scheme_names[scheme],
		       (double)arrivals->sum[scheme] / trials, arrivals->most[scheme]);
	if (arrivals->sharing)
		fprintf(stderr, "heddle-bench-arrivals: the flows of %u keys share links\n",
			arrivals->sharing);
	return 0;
}

static uint32_t number(char **argv, int argc, int at, uint32_t otherwise)
{
	return at < argc ? (uint32_t)strtoul(argv[at], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	struct arrivals arrivals = {.fabric = NULL};
	struct hd_error err = {""};
	uint32_t hosts = number(argv, argc, 1, 0), side = 0;

	while ((side + 1) * (side + 1) <= hosts)
		side++;
	if (side < 2 || side * side != hosts) {
		fprintf(stderr, "usage: heddle-bench-arrivals HOSTS [TRIALS [LOAD]]; "
				"HOSTS is a square\n");
		return 2;
	}
	int rc = run(&arrivals, side, number(argv, argc, 2, 100), number(argv, argc, 3, 60), &err);

	if (rc)
		fprintf(stderr, "heddle-bench-arrivals: %s\n", err.text);
	tear_down(&arrivals);
	return rc ? 1 : 0;
}
