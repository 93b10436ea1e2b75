/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys on trees that are not regular. Walks in the tables without keys and the key's entries find what each link
 * carries. The checker proves the tables together free of deadlock.
 */
#include "key_ranks.h"
#include "key_ranks_testing.h"

/* ---- walks ---- */

/* The links of a path in the tables, to links[switch_count]; HD_NONE: it does not arrive. */
static uint32_t walk_links(const struct hd_fabric *fabric, const struct hd_routes *routes,
			   uint32_t source, uint32_t lid, uint32_t *links)
{
	uint32_t sw = fabric->host_switch[source], to = 0, count = 0;
	uint8_t last = 0;

	assert_true(hd_fabric_lid_destination(fabric, lid, &to, &last));
	for (; sw != to; sw = fabric->isl_to[links[count - 1]]) {
		uint32_t link = hd_fabric_find_isl(fabric, sw, hd_routes_port(routes, sw, lid));
		if (link == HD_NONE || count == fabric->switch_count)
			return HD_NONE;
		links[count++] = link;
	}
	assert_int_equal(hd_routes_port(routes, sw, lid), last);
	return count;
}

struct measure {
	uint32_t most; /* flows on a link */
	uint32_t own; /* flows that have all their links for themselves */
	uint32_t flows;
};

/* What links carry by tables. keyed: with the key, whose flows must arrive; those that it leaves out count only with
 * their number. */
static struct measure measure(const struct hd_fabric *fabric, const struct hd_routes *routes,
			      const struct hd_key *key, unsigned offset, bool keyed)
{
	struct measure result = {0};
	uint32_t *load = calloc(fabric->isl_count + 1, sizeof(*load));
	uint32_t *links = calloc(fabric->switch_count + 1, sizeof(*links));

	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < key->flow_count; i++) {
			const struct hd_key_route *route = &key->routes[i];
			bool shares = keyed && route->left_out;
			uint32_t lid = fabric->lid[fabric->host_port[route->destination]] + offset;
			uint32_t count =
			    shares ? 0 : walk_links(fabric, routes, route->source, lid, links);
			assert_true(!keyed || count != HD_NONE);
			shares |= count == HD_NONE;
			for (uint32_t hop = 0; count != HD_NONE && hop < count; hop++) {
				load[links[hop]] += !pass;
				result.most =
				    load[links[hop]] > result.most ? load[links[hop]] : result.most;
				shares |= load[links[hop]] > 1;
			}
			result.own += pass && !shares;
			result.flows += pass;
		}
	free(load);
	free(links);
	return result;
}

/* ---- flows without a path ---- */

/* Switches that a host's packets can climb to. */
static void mark_above(const struct hd_fabric *fabric, const bool *stray, const uint8_t *level,
		       uint32_t sw, bool *seen)
{
	seen[sw] = true;
	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (!stray[link] && level[fabric->isl_to[link]] > level[sw] &&
		    !seen[fabric->isl_to[link]])
			mark_above(fabric, stray, level, fabric->isl_to[link], seen);
}

/* Whether both hosts can climb to a switch. */
static bool meet(const struct hd_fabric *fabric, const bool *stray, const uint8_t *level,
		 const struct hd_key_route *flow)
{
	bool *a = calloc(fabric->switch_count, 1), *b = calloc(fabric->switch_count, 1),
	     found = false;

	mark_above(fabric, stray, level, fabric->host_switch[flow->source], a);
	mark_above(fabric, stray, level, fabric->host_switch[flow->destination], b);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		found |= a[sw] && b[sw];
	free(a);
	free(b);
	return found;
}

/* A flow that is left out has no switch above both hosts by the levels of the tree and without its stray cables; the
 * reason has a name. */
static void prove_left_out(const struct scene *scene, const struct hd_key *key)
{
	const struct hd_fabric *fabric = scene->fabric;
	uint32_t *strays = calloc(fabric->isl_count + 1, sizeof(*strays));
	bool *stray = calloc(fabric->isl_count + 1, 1);
	uint32_t count = hd_key_tree_strays(scene->tree, strays);

	for (uint32_t i = 0; i < count; i++)
		stray[strays[i]] = stray[fabric->isl_reverse[strays[i]]] = true;
	for (uint32_t i = 0; i < key->flow_count; i++) {
		struct hd_error why = {""};
		const struct hd_key_flow flow = {key->routes[i].source, key->routes[i].destination};
		if (!key->routes[i].left_out)
			continue;
		assert_false(meet(fabric, stray, scene->tree->ranks->level, &key->routes[i]));
		hd_key_explain_flow(scene->tree, &flow, &why);
		assert_non_null(strstr(why.text, "no path from '"));
	}
	free(strays);
	free(stray);
}

/* ---- keys ---- */

struct tally {
	uint32_t fabrics, keys, left_out;
	uint64_t flows, own, base_own; /* with links of their own, with keys and without */
	uint64_t most, base_most; /* sums of the most flows on a link */
};

static struct hd_key *make(const struct scene *scene, const struct traffic *traffic)
{
	struct hd_key_request request = {.tree = scene->tree,
					 .flows = traffic->flows,
					 .flow_count = traffic->count,
					 .best_effort = true,
					 .leave_out = true};
	struct hd_key *key = NULL;
	struct hd_error err = {""};

	if (hd_key_make(&request, &key, &err))
		fail_msg("%s", err.text);
	return key;
}

static struct hd_routes *lay_over(const struct scene *scene, const struct hd_key *key,
				  const struct hd_key_shift *shift)
{
	struct hd_key_overlay overlay = {0};

	assert_int_equal(hd_key_overlay(scene->tree, key, shift, 1, &overlay, NULL), 0);
	struct hd_routes *routes = overlaid(scene, &overlay);
	hd_key_overlay_release(&overlay);
	return routes;
}

/* No credit loop, and as many pairs without a path as without the key: a fabric may be in parts. */
static void prove_sound(const struct scene *scene, const struct hd_routes *routes)
{
	const struct hd_routes *tables[] = {scene->base, routes};
	uint64_t lost[2];

	for (unsigned i = 0; i < 2; i++) {
		struct hd_check_report *report = NULL;
		assert_int_equal(hd_check(scene->fabric, tables[i], NULL, &report, NULL), 0);
		assert_int_equal(report->credit_loops, 0);
		lost[i] = report->no_route + report->dead_end + report->loop;
		hd_check_report_free(report);
	}
	assert_int_equal(lost[0], lost[1]);
}

/* hd_key_sharing() against the walks. */
static void prove_sharing(const struct scene *scene, const struct hd_key *key,
			  const struct measure *walked)
{
	uint32_t *most = calloc(key->flow_count + 1, sizeof(*most)), sharing = 0;

	assert_int_equal(hd_key_sharing(scene->tree, key, NULL, most, &sharing, NULL), 0);
	assert_int_equal(sharing + walked->own + key->left_out, walked->flows);
	free(most);
}

/* A shift by random loads raises neither the key's contention nor the largest load of a link. */
static void prove_shift(const struct scene *scene, const struct hd_key *key, uint64_t *random)
{
	struct hd_key_loads *loads = hd_key_loads_new(scene->tree),
			    *made = hd_key_loads_new(scene->tree);
	struct hd_key_loads *moved = hd_key_loads_new(scene->tree);
	struct hd_key_shift *shift = NULL;
	uint32_t before = 0, after = 0;

	for (uint32_t link = 0; link < loads->link_count; link++)
		loads->flows[link] = (uint32_t)hd_random_below(random, 3);
	assert_int_equal(
	    hd_key_shift_choose(scene->tree, key, loads, HD_KEY_SHIFT_LINKS, &shift, NULL), 0);
	assert_true(walk_key(scene, key, shift, 1) <= key->contention);
	struct hd_routes *routes = lay_over(scene, key, shift);
	prove_sound(scene, routes);
	hd_routes_free(routes);
	hd_key_loads_add(made, scene->tree, key, NULL, 1);
	hd_key_loads_add(moved, scene->tree, key, shift, 1);
	for (uint32_t link = 0; link < loads->link_count; link++) {
		if (made->flows[link] && made->flows[link] + loads->flows[link] > before)
			before = made->flows[link] + loads->flows[link];
		if (moved->flows[link] && moved->flows[link] + loads->flows[link] > after)
			after = moved->flows[link] + loads->flows[link];
	}
	assert_true(after <= before);
	hd_key_shift_free(shift);
	hd_key_loads_free(loads);
	hd_key_loads_free(made);
	hd_key_loads_free(moved);
}

static void prove_key(const struct scene *scene, const struct traffic *traffic, uint64_t *random,
		      struct tally *tally)
{
	struct hd_key *key = make(scene, traffic);
	struct hd_routes *routes = lay_over(scene, key, NULL);
	struct measure with = measure(scene->fabric, routes, key, 1, true);
	struct measure base = measure(scene->fabric, scene->base, key, 0, false);

	assert_int_equal(with.most, key->contention);
	assert_int_equal(walk_key(scene, key, NULL, 1), key->contention);
	prove_sound(scene, routes);
	prove_sharing(scene, key, &with);
	prove_left_out(scene, key);
	prove_shift(scene, key, random);
	tally->keys++;
	tally->left_out += key->left_out;
	tally->flows += with.flows;
	tally->own += with.own;
	tally->base_own += base.own;
	tally->most += with.most;
	tally->base_most += base.most;
	hd_routes_free(routes);
	hd_key_free(key);
}

static struct traffic ring(const struct hd_fabric *fabric)
{
	struct traffic traffic = {.flows =
				      malloc((fabric->host_count + 1) * sizeof(*traffic.flows))};

	for (uint32_t host = 0; fabric->host_count > 1 && host < fabric->host_count; host++)
		traffic.flows[traffic.count++] =
		    (struct hd_key_flow){host, (host + 1) % fabric->host_count};
	return traffic;
}

static void prove_fabric(const struct scene *scene, uint64_t number, struct tally *tally)
{
	uint64_t random = number;
	uint32_t hosts = scene->fabric->host_count;
	struct traffic traffics[] = {ring(scene->fabric),
				     permutation(scene->fabric, hosts, &random),
				     permutation(scene->fabric, hosts / 2, &random),
				     random_flows(scene->fabric, hosts / 2, &random)};

	tally->fabrics++;
	for (unsigned i = 0; i < sizeof(traffics) / sizeof(traffics[0]); i++) {
		prove_key(scene, &traffics[i], &random, tally);
		traffic_release(&traffics[i]);
	}
}

#define FABRICS 100u /* that are not regular */

/* The fabric number n, if dmodk routes it. Then keys must have a tree, too. */
static bool begin_routed(struct scene *scene, uint64_t number)
{
	struct hd_fabric *fabric = ranks_fabric(number);
	const struct hd_route_request request = {.fabric = fabric};
	struct hd_routes *base = NULL;
	struct hd_error err = {""};

	if (hd_engine_route(hd_engine_find("dmodk"), &request, &base, &err)) {
		hd_fabric_free(fabric);
		return false;
	}
	*scene = (struct scene){.fabric = fabric, .base = base};
	if (hd_key_tree_new(fabric, &scene->tree, &err))
		fail_msg("fabric %u, which dmodk routes: %s", (unsigned)number, err.text);
	return true;
}

static void print_tally(const char *name, const struct tally *tally)
{
	double flows = (double)(tally->flows ? tally->flows : 1);

	print_message("%-16s %7u %5u %6u %8u %12.2f %12.2f %9.1f%% %9.1f%%\n", name, tally->fabrics,
		      tally->keys, (unsigned)tally->flows, tally->left_out,
		      (double)tally->most / (tally->keys ? tally->keys : 1),
		      (double)tally->base_most / (tally->keys ? tally->keys : 1),
		      100 * (double)tally->own / flows, 100 * (double)tally->base_own / flows);
}

/* Property: every tree that dmodk routes has keys. Walks find the contention that each key states, also after a shift,
 * and more flows with links of their own than by dmodk. Each flow that is left out has no path, and there is a reason
 * with its name. The tables with the key are free of deadlock. */
static void irregular_trees(void **state)
{
	struct tally tallies[RANKS_KINDS] = {{0}}, all = {0};
	uint32_t regular = 0, refused = 0;

	(void)state;
	for (uint64_t number = 0; all.fabrics < FABRICS; number++) {
		struct scene scene;
		if (!begin_routed(&scene, number)) {
			refused++;
			continue;
		}
		struct tally *tally = &tallies[number % RANKS_KINDS];
		if (hd_key_tree_is_regular(scene.tree)) {
			regular++;
		} else {
			prove_fabric(&scene, number, tally);
			all.fabrics++;
		}
		scene_end(&scene);
	}
	print_message("%-16s %7s %5s %6s %8s %12s %12s %10s %10s\n", "kind", "fabrics", "keys",
		      "flows", "left out", "most by key", "by dmodk", "own by key", "by dmodk");
	for (unsigned kind = 0; kind < RANKS_KINDS; kind++) {
		print_tally(ranks_kinds[kind], &tallies[kind]);
		assert_true(tallies[kind].own >= tallies[kind].base_own);
		assert_true(tallies[kind].most <= tallies[kind].base_most);
		assert_true(tallies[kind].fabrics > 0);
		assert_true(tallies[kind].left_out * 10 < tallies[kind].flows);
	}
	print_message("besides: %u regular trees, %u that dmodk refuses\n", regular, refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(irregular_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
