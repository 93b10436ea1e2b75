/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of the plugin: each hook is called in order, for parts that are alive and have it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "no_switches.h"
#include "opensm_headers.h"
#include "opensm_log_testing.h"
#include "part.h"
#include "routing.h"

static char calls[512]; /* "a.create b.create ..." */

static void note(const char *part, const char *hook)
{
	size_t used = strlen(calls);

	snprintf(calls + used, sizeof(calls) - used, "%s.%s ", part, hook);
}

static void assert_calls(const char *expected)
{
	assert_string_equal(calls, expected);
	calls[0] = '\0';
}

/* The state of a part of these tests. */
struct probe {
	struct part_context *context;
	const char *name;
	const struct routing *seen;
};

static struct probe *probe_new(struct part_context *context, const char *name)
{
	struct probe *probe = calloc(1, sizeof(*probe));

	assert_non_null(probe);
	probe->context = context;
	probe->name = name;
	return probe;
}

static int create_a(struct part_context *context, void **state, struct hd_error *err)
{
	(void)err;
	note("a", "create");
	*state = probe_new(context, "a");
	return 0;
}

static int create_b(struct part_context *context, void **state, struct hd_error *err)
{
	(void)err;
	note("b", "create");
	*state = probe_new(context, "b");
	return 0;
}

static int create_nothing(struct part_context *context, void **state, struct hd_error *err)
{
	(void)context;
	(void)state;
	note("n", "create");
	return hd_error_set(err, -EPERM, "not today");
}

#define HOOK(hook)                                                                                 \
	static void hook(void *state)                                                              \
	{                                                                                          \
		note(((struct probe *)state)->name, #hook);                                        \
	}

HOOK(sweep_begins)
HOOK(discovered)
HOOK(refused)
HOOK(routed)
HOOK(idle)
HOOK(settled)

static void published(void *state)
{
	struct probe *probe = state;

	probe->seen = probe->context->published;
	note(probe->name, probe->seen ? "published" : "withdrawn");
}

static void trap(void *state, const struct _ib_mad_notice_attr *notice)
{
	assert_ptr_equal(notice, calls);
	note(((struct probe *)state)->name, "trap");
}

static bool multicast_tree(void *state, struct osm_mgrp_box *box)
{
	(void)box;
	note(((struct probe *)state)->name, "tree");
	return true;
}

static void ends(void *state)
{
	note(((struct probe *)state)->name, "ends");
}

static void destroy(void *state)
{
	note(((struct probe *)state)->name, "destroy");
	free(state);
}

static const struct part part_a = {.name = "a",
				   .create = create_a,
				   .sweep_begins = sweep_begins,
				   .published = published,
				   .refused = refused,
				   .routed = routed,
				   .settled = settled,
				   .trap = trap,
				   .ends = ends,
				   .destroy = destroy};
static const struct part part_b = {.name = "b",
				   .create = create_b,
				   .sweep_begins = sweep_begins,
				   .discovered = discovered,
				   .published = published,
				   .multicast_tree = multicast_tree,
				   .idle = idle,
				   .settled = settled,
				   .trap = trap,
				   .ends = ends,
				   .destroy = destroy};
/* A part with every hook that cannot be created: no hook may ever be called. */
static const struct part part_nothing = {.name = "nothing",
					 .create = create_nothing,
					 .sweep_begins = sweep_begins,
					 .discovered = discovered,
					 .published = published,
					 .routed = routed,
					 .multicast_tree = multicast_tree,
					 .idle = idle,
					 .trap = trap,
					 .ends = ends,
					 .destroy = destroy};
static const struct part part_needed = {
    .name = "needed", .essential = true, .create = create_nothing, .destroy = destroy};

static void hooks_are_called_in_order(void **state)
{
	const struct part *const parts[] = {&part_a, &part_nothing, &part_b};
	struct part_context context = {.osm = NULL};
	struct hd_error err;

	(void)state;
	logged[0] = '\0';
	assert_int_equal(part_create_all(&context, parts, 3, &err), 0);
	assert_calls("a.create n.create b.create ");
	assert_logged("ERR HD01: part nothing: not today; Heddle runs without this part");
	part_sweep_begins(&context);
	part_discovered(&context);
	part_refused(&context);
	part_routed(&context);
	part_idle(&context);
	part_trap(&context, (const void *)calls);
	assert_calls("a.sweep_begins b.sweep_begins b.discovered a.refused a.routed b.idle "
		     "a.settled b.settled "
		     "a.trap b.trap ");
	assert_true(part_multicast_tree(&context, NULL));
	assert_calls("b.tree ");
	part_destroy_all(&context);
	assert_calls("b.ends a.ends b.destroy a.destroy ");
	assert_false(part_multicast_tree(&context, NULL));
	part_idle(&context);
	assert_calls("");
}

/* Tables settle at the end of a sweep; those of the command `reroute`, which has no sweep, when it has
 * routed, also after a sweep that found no subnet. */
static void tables_settle_once(void **state)
{
	const struct part *const parts[] = {&part_a, &part_b};
	struct part_context context = {.osm = NULL};
	struct hd_error err;

	(void)state;
	assert_int_equal(part_create_all(&context, parts, 2, &err), 0);
	part_sweep_begins(&context);
	part_discovered(&context);
	assert_true(context.sweeping);
	part_routed(&context);
	calls[0] = '\0';
	part_idle(&context);
	assert_calls("b.idle a.settled b.settled ");
	assert_false(context.sweeping);
	part_routed(&context);
	assert_calls("a.routed a.settled b.settled ");
	part_sweep_begins(&context);
	part_routed(&context);
	assert_calls("a.sweep_begins b.sweep_begins a.routed a.settled b.settled ");
	part_destroy_all(&context);
	calls[0] = '\0';
}

/* If an essential part is missing, no part is left, not even one created before. */
static void an_essential_part_is_missing(void **state)
{
	const struct part *const parts[] = {&part_a, &part_needed, &part_b};
	struct part_context context = {.osm = NULL};
	struct hd_error err;

	(void)state;
	assert_int_equal(part_create_all(&context, parts, 3, &err), -EPERM);
	assert_string_equal(err.text, "part needed: not today");
	assert_calls("a.create n.create a.ends a.destroy ");
	part_sweep_begins(&context);
	assert_calls("");
}

static struct routing *make_routing(void)
{
	struct routing *routing = calloc(1, sizeof(*routing));

	assert_non_null(routing);
	atomic_init(&routing->holders, 1);
	return routing;
}

/* All parts see the new routing. The one before exists as long as someone holds it. */
static void publishing(void **state)
{
	const struct part *const parts[] = {&part_a, &part_b};
	struct part_context context = {.osm = NULL};
	struct routing *first = make_routing(), *second = make_routing();
	struct hd_error err;

	(void)state;
	assert_int_equal(part_create_all(&context, parts, 2, &err), 0);
	calls[0] = '\0';
	part_publish(&context, first);
	assert_ptr_equal(context.published, first);
	assert_calls("a.published b.published ");
	assert_ptr_equal(routing_hold(first), first);
	part_publish(&context, second);
	assert_ptr_equal(context.published, second);
	assert_calls("a.published b.published ");
	assert_int_equal(first->holders, 1);
	routing_release(first);
	part_publish(&context, NULL);
	assert_null(context.published);
	assert_calls("a.withdrawn b.withdrawn ");
	part_destroy_all(&context);
	assert_calls("b.ends a.ends b.destroy a.destroy ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(hooks_are_called_in_order),
	    cmocka_unit_test(tables_settle_once),
	    cmocka_unit_test(an_essential_part_is_missing),
	    cmocka_unit_test(publishing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
