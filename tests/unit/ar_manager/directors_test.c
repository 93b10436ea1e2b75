/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* TREE on directors and other fabrics whose paths of fewest hops can deadlock; and why not more is adaptive. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ar_testing.h"
#include "climbs.h"
#include "directors_testing.h"
#include "levels.h"
#include "swapped_testing.h"

#include "cases.h"
#include "oracle_ar.h"

/* ---- plans ---- */

struct trial {
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_plan *plan;
	struct hd_ar_notes notes;
	uint64_t wide; /* entries that the definition of TREE makes adaptive */
};

static void count_wide(struct trial *trial)
{
	for (uint32_t sw = 0; sw < trial->fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < trial->fabric->lid_count; lid++) {
			struct hd_port_set ports =
			    oracle_ar_ports(trial->fabric, trial->routes, HD_AR_TREE, sw, lid);
			trial->wide += !hd_port_set_is_empty(&ports);
		}
}

static int make_plan(struct trial *trial, enum hd_ar_algorithm algorithm, unsigned threads)
{
	const struct hd_ar_request request = {.fabric = trial->fabric,
					      .routes = trial->routes,
					      .algorithm = algorithm,
					      .mode = HD_AR_FREE,
					      .threads = threads,
					      .notes = &trial->notes};

	return hd_ar_plan_new(&request, &trial->plan, NULL, NULL);
}

/* Takes over the fabric. */
static struct trial begin(struct hd_fabric *fabric, const char *engine)
{
	struct trial trial = {.fabric = fabric, .routes = route(engine, fabric)};

	assert_int_equal(make_plan(&trial, HD_AR_AUTO, 1), 0);
	return trial;
}

static void end(struct trial *trial)
{
	hd_ar_plan_free(trial->plan);
	hd_routes_free(trial->routes);
	hd_fabric_free(trial->fabric);
}

static void assert_no_loop(const struct trial *trial)
{
	for (unsigned lane = 0; lane < 16; lane++) {
		struct oracle_dependencies graph;
		assert_false(oracle_ar_cycle(trial->fabric, trial->routes, NULL, trial->plan, NULL,
					     lane, &graph));
		oracle_dependencies_free(&graph);
	}
}

/* Groups have two ports or more, the static one among them, and no port of them loses a packet. Without a loop of
 * dependencies no packet goes round, so all arrive. */
static void assert_sound(const struct trial *trial)
{
	uint64_t adaptive = 0, wrong;

	CHECK(hd_ar_plan_check(trial->plan, trial->fabric, trial->routes, NULL, &wrong, &err));
	for (uint32_t sw = 0; sw < trial->fabric->switch_count; sw++)
		for (uint32_t lid = 1; lid < trial->fabric->lid_count; lid++) {
			uint32_t group = hd_ar_plan_group(trial->plan, sw, 0, lid);
			if (group == HD_AR_NO_GROUP)
				continue;
			const struct hd_port_set *ports =
			    &trial->plan->switches[sw].groups[group].ports[0];
			assert_true(hd_port_set_count(ports) > 1);
			assert_true(hd_port_set_has(ports, hd_routes_port(trial->routes, sw, lid)));
			adaptive++;
		}
	assert_int_equal(trial->plan->adaptive, adaptive);
	assert_no_loop(trial);
}

/* ---- directors ---- */

struct subject {
	struct directors shape;
	const char *engine;
	uint32_t percent; /* of the entries that could be adaptive, more are */
};

static const struct subject subjects[] = {
    /* a chassis by itself, with leaves that share line chips, and with hosts */
    {{.count = 1, .lines = 8, .spines = 4, .leaves = 12, .uplinks = 3, .hosts = 2}, "dmodk", 90},
    {{.count = 1, .lines = 8, .spines = 4, .leaves = 12, .uplinks = 3, .hosts = 2}, "updown", 90},
    {{.count = 1, .lines = 8, .spines = 4, .leaves = 10, .uplinks = 3, .hosts = 3, .direct = 1},
     "updown",
     90},
    /* leaves on two directors each */
    {{.count = 2, .lines = 6, .spines = 3, .leaves = 12, .uplinks = 4, .hosts = 2, .shared = 1},
     "dmodk",
     90},
    {{.count = 2, .lines = 6, .spines = 3, .leaves = 12, .uplinks = 4, .hosts = 2, .shared = 1},
     "updown",
     90},
    /* cascaded by outside ports, hosts in the chassis or on leaves */
    {{.count = 2, .lines = 6, .spines = 4, .trunks = 6, .direct = 3}, "updown", 90},
    {{.count = 3, .lines = 6, .spines = 3, .trunks = 6, .direct = 3}, "updown", 90},
    {{.count = 2, .lines = 6, .spines = 4, .trunks = 3, .leaves = 10, .uplinks = 2, .hosts = 2},
     "updown",
     85},
    {{.count = 3, .lines = 5, .spines = 3, .trunks = 4, .leaves = 9, .uplinks = 2, .hosts = 2},
     "updown",
     85},
    /* joined by a few leaves alone */
    {{.count = 2, .lines = 6, .spines = 3, .leaves = 14, .uplinks = 2, .hosts = 2, .shared = 5},
     "updown",
     75},
    {{.count = 2,
      .lines = 6,
      .spines = 3,
      .leaves = 12,
      .uplinks = 3,
      .hosts = 2,
      .shared = 3,
      .direct = 1},
     "updown",
     75},
};

#define SUBJECTS (sizeof(subjects) / sizeof(subjects[0]))

static struct hd_fabric *build(const struct subject *subject, uint64_t seed)
{
	struct directors shape = subject->shape;

	shape.seed = seed;
	return directors_build(&shape);
}

/* Property: where the chassis are whole, directors get groups of TREE, and more than 9 of 10 entries that could be
 * adaptive are; less where packets between directors have to turn at line chips or leaves. */
static void whole_directors(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CASES(4, 1) * SUBJECTS; i++) {
		const struct subject *subject = &subjects[i % SUBJECTS];
		struct trial trial = begin(build(subject, i), subject->engine);
		count_wide(&trial);
		assert_sound(&trial);
		assert_int_equal(trial.plan->algorithm, HD_AR_TREE);
		if (100 * trial.plan->adaptive <= subject->percent * trial.wide)
			fail_msg("director %u: %d of %d entries are adaptive", i,
				 (int)trial.plan->adaptive, (int)trial.wide);
		end(&trial);
	}
}

/* Property: with random damage the plan stays sound, and most entries that could be adaptive are. Whatever is left
 * out has a note. */
static void damaged_directors(void **state)
{
	uint64_t wide = 0, adaptive = 0;

	(void)state;
	for (unsigned i = 0; i < UNDER_SANITIZERS(1, CASES(8, 2)) * SUBJECTS; i++) {
		struct hd_fabric *fabric = build(&subjects[i % SUBJECTS], i);
		struct trial trial =
		    begin(damaged(fabric, 3 + i % 12, i), i % 3 ? "updown" : "spf");
		count_wide(&trial);
		assert_sound(&trial);
		wide += trial.wide;
		adaptive += trial.plan->adaptive;
		assert_true(trial.plan->adaptive >= trial.wide || trial.notes.count > 0);
		end(&trial);
	}
	print_message("%d of %d entries are adaptive\n", (int)adaptive, (int)wide);
	assert_true(4 * adaptive > 3 * wide);
}

/* Property: the number of threads does not matter, nor that nobody asks for notes. */
static void determinism(void **state)
{
	(void)state;
	for (unsigned i = 0; i < UNDER_SANITIZERS(1, 2) * SUBJECTS; i++) {
		struct trial one = begin(damaged(build(&subjects[i % SUBJECTS], i), 5, i),
					 i % 2 ? "updown" : "spf");
		const struct hd_ar_request request = {.fabric = one.fabric,
						      .routes = one.routes,
						      .algorithm = HD_AR_AUTO,
						      .mode = HD_AR_FREE,
						      .threads = 3};
		struct hd_ar_plan *other = NULL;
		CHECK(hd_ar_plan_new(&request, &other, NULL, &err));
		assert_same_plan(one.plan, other, true);
		hd_ar_plan_free(other);
		end(&one);
	}
}

/* ---- paths that climb, then descend ---- */

/* The slow way: paths of more and more hops, for one destination. */
static void slow_states(const struct hd_fabric *fabric, const uint8_t *up, uint32_t to,
			uint32_t *states)
{
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		states[sw] = CLIMBS_NONE;
	states[to] = 1;
	for (uint32_t hops = 1; hops <= fabric->switch_count; hops++)
		for (unsigned climbs = 0; climbs < 2; climbs++)
			for (uint32_t link = 0; link < fabric->isl_count; link++) {
				uint32_t from = hd_isl_from(fabric, link),
					 far = states[fabric->isl_to[link]];
				if (states[from] != CLIMBS_NONE || far == CLIMBS_NONE ||
				    far >> 1 != hops - 1)
					continue;
				if (climbs == up[link] && (climbs || far & 1))
					states[from] = hops << 1 | !climbs;
			}
}

static bool leads(const uint32_t *states, bool up, uint32_t from, uint32_t to)
{
	if (states[from] == CLIMBS_NONE || states[to] == CLIMBS_NONE ||
	    states[from] >> 1 != (states[to] >> 1) + 1)
		return false;
	return up ? !(states[from] & 1) : (states[from] & 1) && (states[to] & 1);
}

static void compare_paths(const struct hd_fabric *fabric, const struct climbs *climbs, uint32_t to)
{
	uint32_t states[DIRECTORS_CHIPS_MOST];
	uint8_t plane[DIRECTORS_CHIPS_MOST];

	slow_states(fabric, climbs->up, to, states);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		assert_int_equal(climbs->states[sw * climbs->stride + to], states[sw]);
		for (uint32_t link = fabric->isl_base[sw];
		     sw != to && link < fabric->isl_base[sw + 1]; link++) {
			memset(plane, 0, sizeof(plane));
			climbs_compare(climbs, sw, link, fabric->isl_to[link], plane, 4);
			assert_int_equal(plane[to],
					 leads(states, climbs->up[link], sw, fabric->isl_to[link]) *
					     4);
		}
	}
}

/* Property: paths are those of the slow search, with directions of trees, of tables and of fabrics that are no tree. */
static void paths(void **state)
{
	unsigned done = 0;

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		uint64_t random = i;
		struct hd_fabric *fabric =
		    i % 2 ? random_fabric(&random, 1) : build(&subjects[i % SUBJECTS], i);
		struct hd_routes *routes = route(i % 3 ? "updown" : "spf", fabric);
		struct hd_arena arena = {0};
		struct levels levels;
		struct climbs climbs;
		uint8_t *up;
		int rc = levels_find(fabric, &arena, &levels, NULL);
		assert_true(!rc || rc == -ENOTSUP);
		if (!rc) {
			const struct hd_go_on go_on = {NULL, NULL};
			assert_int_equal(levels_directions(&levels, &arena, &up), 0);
			assert_int_equal(
			    climbs_find(&climbs, fabric, up, 256, 1 + i % 3, &go_on, &arena), 0);
			for (uint32_t to = 0; to < fabric->switch_count; to++)
				compare_paths(fabric, &climbs, to);
			done++;
		}
		hd_arena_release(&arena);
		hd_routes_free(routes);
		hd_fabric_free(fabric);
	}
	assert_true(done > 40);
}

/* ---- notes ---- */

static const struct hd_ar_note *note_of(const struct trial *trial, enum hd_ar_note_kind kind)
{
	for (uint32_t i = 0; i < trial->notes.count; i++)
		if (trial->notes.list[i].kind == kind)
			return &trial->notes.list[i];
	fail_msg("no such note");
	return NULL;
}

static void assert_says(const struct hd_ar_note *note, const char *text)
{
	if (!strstr(note->cause, text))
		fail_msg("\"%s\" does not have \"%s\"", note->cause, text);
	assert_true(*note->remedy);
}

/* Property: a tree that is whole has no note. */
static void trees_have_no_note(void **state)
{
	static const char *const shapes[] = {"children=2,4,3 parents=1,2,2",
					     "children=4,4,4 parents=1,4,4"};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct trial trial =
		    begin(damaged(generate("xgft", shapes[i % 2]), i < 2 ? 0 : 4, i), "dmodk");
		assert_int_equal(trial.notes.count, 0);
		end(&trial);
	}
}

/* Property: cables that do not join neighbouring levels are named, by both ends. */
static void stray_cables_are_named(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct hd_fabric *plain = generate("xgft", "children=4,4,4 parents=1,4,4");
		struct swap swap = swap_cables(plain, i);
		struct trial trial = begin(swap.swapped, i % 2 ? "updown" : "dmodk");
		char label[HD_LABEL_SIZE];
		unsigned named = 0;
		for (uint32_t n = 0; n < trial.notes.count; n++)
			for (unsigned k = 0; k < 4; k++) {
				snprintf(label, sizeof(label), "'%s'",
					 swap.swapped->node_name[swap.end[k]]);
				named += strstr(trial.notes.list[n].cause, label) != NULL;
			}
		assert_true(!trial.notes.count || named >= 2);
		swap.swapped = NULL;
		release_swap(&swap);
		hd_fabric_free(plain);
		end(&trial);
	}
}

/* Property: a fabric that is no tree at all has a note which says so, and AUTO takes LAG. */
static void no_tree(void **state)
{
	struct trial trial = begin(generate("torus", "dims=4,4 hosts=1"), "spf");

	(void)state;
	assert_int_equal(trial.plan->algorithm, HD_AR_LAG);
	assert_int_equal(trial.plan->adaptive, 0);
	assert_int_equal(trial.notes.count, 1);
	assert_int_equal(trial.notes.list[0].algorithm, HD_AR_TREE);
	assert_says(note_of(&trial, HD_AR_NOTE_REFUSED), "not a fat tree: the link 'S_0_0' ");
	end(&trial);
}

/* Property: DFP is missed on a Dragonfly+ only, and by name anywhere. */
static void dragonflies(void **state)
{
	struct trial trial = {
	    .fabric =
		generate("dragonfly-plus", "islands=3 leaves=2 spines=2 hosts=2 global-links=1")};

	(void)state;
	trial.routes = route("dfp", trial.fabric);
	assert_int_equal(make_plan(&trial, HD_AR_AUTO, 1), 0);
	assert_int_equal(trial.plan->algorithm, HD_AR_DFP);
	assert_int_equal(trial.notes.count, 0);
	end(&trial);
	trial = (struct trial){.fabric = generate("xgft", "children=2,4 parents=1,2")};
	trial.routes = route("dmodk", trial.fabric);
	assert_int_equal(make_plan(&trial, HD_AR_DFP, 1), -ENOTSUP);
	assert_says(note_of(&trial, HD_AR_NOTE_REFUSED), "no Dragonfly+");
	end(&trial);
}

/* Property: where directors are joined by leaves alone, packets between other leaves turn there. Such a leaf is named,
 * and that nothing else is possible. */
static void turns_are_named(void **state)
{
	const struct directors shape = {.count = 2,
					.lines = 6,
					.spines = 3,
					.leaves = 13,
					.uplinks = 2,
					.hosts = 2,
					.shared = 4};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct trial trial = begin(directors_build(&shape), i % 2 ? "updown" : "spf");
		const struct hd_ar_note *note = note_of(&trial, HD_AR_NOTE_STATIC);
		const char *place = strstr(note->cause, "go down and up again: they reach 'leaf");
		assert_non_null(place);
		uint32_t leaf = (uint32_t)strtoul(strstr(place, "'leaf") + 5, NULL, 10);
		assert_int_equal((leaf - shape.count * (shape.lines + shape.spines)) % shape.shared,
				 0);
		assert_says(note, "; no path climbs, then descends");
		assert_true(trial.plan->adaptive > 0);
		end(&trial);
	}
}

/* Property: a plan in which nothing is adaptive says why. */
static void nothing_is_adaptive(void **state)
{
	static const struct hd_ar_capability none[64];
	struct trial trial = begin(generate("xgft", "children=2,4 parents=1,1"), "dmodk");
	char text[HD_AR_NOTE_TEXT];

	(void)state;
	assert_int_equal(trial.plan->adaptive, 0);
	assert_says(note_of(&trial, HD_AR_NOTE_NOTHING), "no switch has two ports");
	assert_string_equal(
	    hd_ar_note_text(&trial.notes.list[0], text, sizeof(text)),
	    "no entry is adaptive: no switch has two ports for a path to the same host; what would "
	    "allow it: more cables between switches");
	end(&trial);
	trial = (struct trial){.fabric = generate("xgft", "children=2,4 parents=1,2")};
	trial.routes = route("dmodk", trial.fabric);
	const struct hd_ar_request request = {.fabric = trial.fabric,
					      .routes = trial.routes,
					      .capabilities = none,
					      .mode = HD_AR_FREE,
					      .notes = &trial.notes};
	CHECK(hd_ar_plan_new(&request, &trial.plan, NULL, &err));
	assert_says(note_of(&trial, HD_AR_NOTE_NOTHING), "no switch has adaptive routing");
	end(&trial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(whole_directors),
	    cmocka_unit_test(damaged_directors),
	    cmocka_unit_test(determinism),
	    cmocka_unit_test(paths),
	    cmocka_unit_test(trees_have_no_note),
	    cmocka_unit_test(stray_cables_are_named),
	    cmocka_unit_test(no_tree),
	    cmocka_unit_test(dragonflies),
	    cmocka_unit_test(turns_are_named),
	    cmocka_unit_test(nothing_is_adaptive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
