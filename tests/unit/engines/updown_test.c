/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* updown: roots given, tried and found; legality of every route. */
#include <heddle/base/random.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engines_testing.h"
#include "oracle_tree.h"
#include "oracle_walk.h"

#include <errno.h>

static void direct_from_roots(const struct hd_fabric *fabric, const uint32_t *roots, uint32_t count,
			      uint8_t *up)
{
	bool *is_root = calloc(fabric->switch_count, sizeof(*is_root));
	uint32_t *rank = calloc(fabric->switch_count, sizeof(*rank));

	for (uint32_t i = 0; i < count; i++)
		is_root[roots[i]] = true;
	oracle_tree_ranks(fabric, is_root, rank);
	oracle_tree_direct(fabric, rank, up);
	free(rank);
	free(is_root);
}

/* No loop of either kind, and a hole only where there is no path. */
static void assert_sound(const struct hd_fabric *fabric, const struct hd_routes *routes,
			 const char *recipe)
{
	struct hd_check_report *report = check(fabric, routes);
	bool whole = reachable_switches(fabric) == fabric->switch_count;

	if (report->loop || report->dead_end || report->credit_loops || (whole && report->no_route))
		fail_msg("%s: %" PRIu64 " loops, %" PRIu64 " dead ends, %u credit loops, %" PRIu64
			 " holes",
			 recipe, report->loop, report->dead_end, report->credit_loops,
			 report->no_route);
	hd_check_report_free(report);
}

/* Property: whatever root it takes, every way is there, one lane is free of credit loops, and with
 * a root given each route climbs towards it, then descends. */
static void legal_whatever_the_root(void **state)
{
	static const char *const settings[] = {"", "root=best:3", "root=auto passes=1"};

	(void)state;
	for (uint64_t number = 0; number < 180; number++) {
		char recipe[200], guid[40];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		struct hd_routes *routes = route("updown", settings[number % 3], fabric);
		assert_sound(fabric, routes, recipe);
		hd_routes_free(routes);
		uint8_t *up = calloc(fabric->isl_count + 1, 1);
		uint32_t root = (uint32_t)(number % fabric->switch_count);
		snprintf(guid, sizeof(guid), "root=0x%" PRIx64, fabric->node_guid[root]);
		routes = route("updown", guid, fabric);
		assert_sound(fabric, routes, recipe);
		direct_from_roots(fabric, &root, 1, up);
		assert_true(oracle_walk_is_legal(fabric, routes, up));
		hd_routes_free(routes);
		free(up);
		hd_fabric_free(fabric);
	}
}

/* Property: root_guids with one GUID mean what root= means; with three the tables are sound, or
 * refused for the credit loop that roots reaching each other against the tree would close. */
static void several_roots(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 90; number++) {
		char recipe[200], guid[40];
		uint64_t seed = number, guids[3];
		struct hd_fabric *fabric = draw_fabric(number, recipe);
		for (int i = 0; i < 3; i++) {
			guids[i] = fabric->node_guid[hd_random_below(&seed, fabric->switch_count)];
		}
		struct hd_policy policy = {.root_guids = guids, .root_count = 1};
		struct hd_routes *by_file = route_policy("updown", "", fabric, &policy);
		snprintf(guid, sizeof(guid), "root=0x%" PRIx64, guids[0]);
		struct hd_routes *by_option = route("updown", guid, fabric);
		assert_true(hd_routes_equal(by_file, by_option));
		hd_routes_free(by_file);
		hd_routes_free(by_option);
		policy.root_count = 3;
		struct hd_error err = {""};
		struct hd_route_request request = {.fabric = fabric, .policy = &policy};
		int rc = route_try("updown", "", &request, &by_file, &err);
		if (rc) {
			assert_int_equal(rc, -ENOTSUP);
			assert_non_null(strstr(err.text, "credit loop"));
		} else {
			assert_sound(fabric, by_file, recipe);
			hd_routes_free(by_file);
		}
		hd_fabric_free(fabric);
	}
}

/* Property: with the tops of a tree as roots every route between leaves climbs, then descends. */
static void tops_as_roots(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("xgft", "children=4,4,4 parents=1,2,2");
	uint64_t guids[64];
	uint32_t roots[64], count = 0;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		if (level_named(fabric, sw) == 3) {
			guids[count] = fabric->node_guid[sw];
			roots[count++] = sw;
		}
	struct hd_policy policy = {.root_guids = guids, .root_count = count};
	struct hd_routes *routes = route_policy("updown", "", fabric, &policy);
	struct hd_check_report *report = check(fabric, routes);
	uint8_t *up = calloc(fabric->isl_count, 1);
	direct_from_roots(fabric, roots, count, up);
	assert_true(hd_check_clean(report));
	assert_int_equal(report->longer_routes, 0);
	for (uint32_t host = 0; host < fabric->host_count; host++)
		for (uint32_t from = 0; from < fabric->host_count; from++) {
			bool fell = false;
			uint32_t sw = fabric->host_switch[from], link;
			for (; (link = link_taken(fabric, routes, sw, host_lid(fabric, host))) !=
			       HD_NONE;
			     sw = fabric->isl_to[link]) {
				assert_false(fell && up[link]);
				fell = !up[link];
			}
		}
	free(up);
	hd_check_report_free(report);
	hd_routes_free(routes);
	hd_fabric_free(fabric);
}

/* Property: best:N is never worse on the busiest link for a larger N, best:1 is the centre's
 * answer, and trying pays on some fabrics. */
static void best_root_is_best(void **state)
{
	unsigned better = 0;

	(void)state;
	for (uint64_t number = 0; number < 60; number++) {
		char recipe[200], guid[40];
		struct hd_fabric *fabric = draw_fabric(6 + 9 * number, recipe);
		uint32_t last = UINT32_MAX, first = 0;
		if (reachable_switches(fabric) < fabric->switch_count) {
			hd_fabric_free(fabric);
			continue;
		}
		snprintf(guid, sizeof(guid), "root=0x%" PRIx64,
			 fabric->node_guid[oracle_tree_centre(fabric)]);
		for (unsigned tries = 1; tries <= 16; tries *= 2) {
			char settings[40];
			snprintf(settings, sizeof(settings), "root=best:%u", tries);
			struct hd_routes *routes = route("updown", settings, fabric);
			uint32_t load = oracle_walk_max_load(fabric, routes);
			if (tries == 1) {
				struct hd_routes *centre = route("updown", guid, fabric);
				assert_int_equal(hd_routes_count_changes(routes, centre), 0);
				hd_routes_free(centre);
				first = load;
			}
			assert_true(load <= last);
			last = load;
			hd_routes_free(routes);
		}
		better += last < first;
		hd_fabric_free(fabric);
	}
	print_message("best:16 beats the centre on %u fabrics\n", better);
	assert_true(better > 5);
}

/* Property: what is no root is refused with a reason that quotes it. */
static void bad_roots(void **state)
{
	static const char *const roots[] = {"best:0", "best:65", "best:", "best:3x", "top", "-1"};

	(void)state;
	for (unsigned i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		struct hd_options *options = hd_engine_options(hd_engine_find("updown"));
		struct hd_error err = {""};
		assert_int_equal(hd_options_set(options, "root", roots[i], &err), -EINVAL);
		assert_non_null(strstr(err.text, "option 'root': "));
		assert_non_null(strstr(err.text, roots[i]));
		hd_options_free(options);
	}
}

/* A root that is not there, or is a host, does not stop routing: it is as if none was named. */
static void lost_root(void **state)
{
	(void)state;
	struct hd_fabric *fabric = generate("mesh", "dims=3 hosts=1");
	struct hd_route_request request = {.fabric = fabric};
	struct hd_routes *expected = NULL;
	struct hd_error err = {""};
	assert_int_equal(route_try("updown", "root=auto", &request, &expected, &err), 0);
	const uint64_t guids[] = {0xdead, host_guid(fabric, 0)};
	for (unsigned i = 0; i < 2; i++) {
		char settings[60];
		struct hd_routes *routes = NULL;
		snprintf(settings, sizeof(settings), "root=0x%" PRIx64, guids[i]);
		assert_int_equal(route_try("updown", settings, &request, &routes, &err), 0);
		assert_true(hd_routes_equal(routes, expected));
		hd_routes_free(routes);
	}
	hd_routes_free(expected);
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(legal_whatever_the_root),
	    cmocka_unit_test(several_roots),
	    cmocka_unit_test(tops_as_roots),
	    cmocka_unit_test(best_root_is_best),
	    cmocka_unit_test(bad_roots),
	    cmocka_unit_test(lost_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
