/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order of a sweep's tables, from those of any engine and damage to those of another. After each step the
 * entries before and after it are searched together for circles of switches, and in proved parts for cycles of
 * channels, by slow walks over all entries. A switch that falls silent has either of its entries
 * then; channels are not followed through it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cases.h"
#include "random_fabrics_testing.h"

#include <heddle/change/sweep.h>
#include <heddle/fabric/changes.h>
#include <string.h>

#define TRIALS CASES(250u, 80u)

/* ---- the slow search ---- */

struct mixture {
	const struct hd_fabric *fabric;
	const struct hd_routes *before, *after; /* any of both may be in a switch */
	const bool *silent; /* [switch_count] */
	const struct hd_routes *lost[2]; /* either of both may be in a silent switch */
	bool *depends; /* [16 * ports * ports] channels are the ports that they leave by */
};

/* The port by which an entry leads to another switch; HD_NONE: it does not. */
static uint32_t leads(const struct mixture *mixture, uint32_t sw, uint8_t port)
{
	const struct hd_fabric *fabric = mixture->fabric;

	if (!port || port > hd_node_ports(fabric, sw))
		return HD_NONE;
	const uint32_t out = hd_port_index(fabric, sw, port);
	return fabric->peer[out] != HD_NONE &&
		       hd_is_switch(fabric, fabric->port_node[fabric->peer[out]])
		   ? out
		   : HD_NONE;
}

static uint32_t choice(const struct mixture *mixture, uint32_t sw, uint32_t lid, unsigned which)
{
	const struct hd_routes *known = which ? mixture->after : mixture->before;

	return leads(mixture, sw,
		     hd_routes_row(mixture->silent[sw] ? mixture->lost[which] : known, sw)[lid]);
}

static bool circles(const struct mixture *mixture, uint32_t sw, uint32_t lid, uint8_t *state)
{
	bool found = false;

	if (state[sw])
		return state[sw] == 1;
	state[sw] = 1;
	for (unsigned which = 0; which < 2; which++) {
		const uint32_t out = choice(mixture, sw, lid, which);
		if (out != HD_NONE)
			found |=
			    circles(mixture, mixture->fabric->port_node[mixture->fabric->peer[out]],
				    lid, state);
	}
	state[sw] = 2;
	return found;
}

static bool any_circle(const struct mixture *mixture)
{
	const uint32_t switches = mixture->fabric->switch_count;
	uint8_t *state = malloc(switches + 1u);
	bool found = false;

	for (uint32_t lid = 1; lid < mixture->after->stride; lid++) {
		memset(state, 0, switches);
		for (uint32_t sw = 0; sw < switches; sw++)
			found |= circles(mixture, sw, lid, state);
	}
	free(state);
	return found;
}

/* Follows a packet on a lane that has come by the channel `in` (HD_NONE: from a host). */
static void follow(const struct mixture *mixture, uint32_t sw, uint32_t lid, unsigned lane,
		   uint32_t in, bool *passed)
{
	const uint32_t ports = mixture->fabric->port_count;

	for (unsigned which = 0; which < 2; which++) {
		const uint32_t out = choice(mixture, sw, lid, which);
		if (out == HD_NONE || mixture->silent[sw])
			continue;
		if (in != HD_NONE)
			mixture->depends[((size_t)lane * ports + in) * ports + out] = true;
		if (passed[out])
			continue;
		passed[out] = true;
		follow(mixture, mixture->fabric->port_node[mixture->fabric->peer[out]], lid, lane,
		       out, passed);
	}
}

static bool has_hosts(const struct hd_fabric *fabric, uint32_t sw)
{
	for (uint32_t port = fabric->port_base[sw]; port < fabric->port_base[sw + 1]; port++)
		if (fabric->peer[port] != HD_NONE &&
		    !hd_is_switch(fabric, fabric->port_node[fabric->peer[port]]))
			return true;
	return false;
}

static void follow_all(const struct mixture *mixture)
{
	const struct hd_fabric *fabric = mixture->fabric;
	bool *passed = malloc(fabric->port_count + 1u);
	uint32_t destination;
	uint8_t port;

	for (uint32_t lid = 1; lid < mixture->after->lid_count; lid++)
		for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
			if (!has_hosts(fabric, sw) ||
			    !hd_fabric_lid_destination(fabric, lid, &destination, &port) || !port)
				continue;
			memset(passed, 0, fabric->port_count);
			follow(mixture, sw, lid, hd_routes_vl(mixture->before, sw, lid), HD_NONE,
			       passed);
		}
	free(passed);
}

static bool waits(const bool *depends, uint32_t ports, uint32_t channel, uint8_t *state)
{
	bool found = false;

	if (state[channel])
		return state[channel] == 1;
	state[channel] = 1;
	for (uint32_t next = 0; !found && next < ports; next++)
		if (depends[(size_t)channel * ports + next])
			found = waits(depends, ports, next, state);
	state[channel] = 2;
	return found;
}

static bool any_credit_loop(struct mixture *mixture)
{
	const uint32_t ports = mixture->fabric->port_count;
	uint8_t *state = malloc(ports + 1u);
	bool found = false;

	mixture->depends = calloc(16u * (size_t)ports * ports + 1u, sizeof(bool));
	follow_all(mixture);
	for (unsigned lane = 0; lane < 16; lane++) {
		memset(state, 0, ports);
		for (uint32_t channel = 0; !found && channel < ports; channel++)
			found = waits(mixture->depends + (size_t)lane * ports * ports, ports,
				      channel, state);
	}
	free(mixture->depends);
	free(state);
	return found;
}

/* ---- a sweep ---- */

struct trial {
	struct hd_fabric *fabric;
	struct hd_routes *held, *wanted, *start;
	struct hd_routes
	    *lost[2]; /* what a switch had before the block that it did not take, and after it */
	bool *silent;
	uint64_t random;
	uint32_t proved, loose, failed; /* entries, and switches that have failed */
	bool looped;
	uint64_t gone; /* entries for LIDs above those of the fabric */
};

static void take(struct trial *trial, const struct hd_repair_write *write)
{
	memcpy(hd_routes_row(trial->held, write->sw) + (size_t)write->block * HD_LFT_BLOCK,
	       write->ports, HD_LFT_BLOCK);
}

/* Writes one step, in which at most one switch fails. Returns that switch, or HD_NONE. */
static uint32_t write_step(struct trial *trial, const struct hd_repair_write *writes,
			   uint32_t count, bool proved, bool fails)
{
	struct hd_routes *before = hd_routes_copy(trial->held);
	const uint32_t chosen =
	    fails && !below(&trial->random, 3) ? writes[below(&trial->random, count)].sw : HD_NONE;

	for (uint32_t i = 0; i < count; i++)
		take(trial, &writes[i]);
	struct mixture mixture = {.fabric = trial->fabric,
				  .before = before,
				  .after = trial->held,
				  .silent = trial->silent,
				  .lost = {trial->lost[0], trial->lost[1]}};
	assert_false(any_circle(&mixture));
	if (proved)
		assert_false(any_credit_loop(&mixture));
	if (chosen != HD_NONE) {
		trial->lost[0] = hd_routes_copy(before);
		trial->lost[1] = hd_routes_copy(trial->held);
	}
	hd_routes_free(before);
	return chosen;
}

/* Returns whether a switch has failed. */
static bool write_part(struct trial *trial, struct hd_sweep *sweep,
		       const struct hd_sweep_part *part, bool fails)
{
	const struct hd_repair_plan *plan = part->plan;
	uint32_t silent = HD_NONE;

	for (uint32_t begin = 0, end; silent == HD_NONE && begin < plan->write_count; begin = end) {
		for (end = begin;
		     end < plan->write_count && plan->writes[end].step == plan->writes[begin].step;
		     end++)
			continue;
		silent = write_step(trial, plan->writes + begin, end - begin, part->proved, fails);
	}
	if (silent == HD_NONE)
		return false;
	hd_sweep_silence(sweep, silent);
	trial->silent[silent] = true;
	trial->failed++;
	return true;
}

static void run(struct trial *trial, bool fails)
{
	const struct hd_sweep_request request = {
	    .fabric = trial->fabric, .held = trial->held, .wanted = trial->wanted, .threads = 1};
	struct hd_sweep *sweep = NULL;
	struct hd_sweep_part part;

	CHECK(hd_sweep_new(&request, &sweep, &err));
	for (;;) {
		CHECK(hd_sweep_next(sweep, &part, &err));
		trial->looped |= part.looped;
		if (!part.plan)
			break;
		if (part.proved)
			trial->proved += part.plan->entries;
		else
			trial->loose += part.plan->entries;
		fails &= !write_part(trial, sweep, &part, fails);
	}
	hd_sweep_free(sweep);
}

/* Some switches have entries for LIDs above those of the fabric, like those of one of its LIDs. */
static uint64_t add_gone(struct trial *trial)
{
	const uint32_t lids = trial->wanted->lid_count;
	uint64_t count = 0;

	CHECK(hd_sweep_widen(trial->held, lids + below(&trial->random, 200)));
	for (uint32_t lid = lids; lid < trial->held->stride; lid++) {
		const uint32_t like = 1 + below(&trial->random, lids - 1);
		for (uint32_t sw = 0; sw < trial->fabric->switch_count; sw++) {
			uint8_t *row = hd_routes_row(trial->held, sw);
			row[lid] = below(&trial->random, 4) ? row[like] : HD_NO_PORT;
			count += row[lid] != HD_NO_PORT;
		}
	}
	return count;
}

/* Two damages of a fabric, or none; the tables before are those of one engine, carried over. */
static struct trial make(uint64_t seed, bool same_engine)
{
	static const char *const names[] = {"updown", "spf", "updown"};
	struct trial trial = {.random = seed};
	struct hd_fabric *whole = random_kind(&trial.random), *was = NULL;
	const double less = below(&trial.random, 2) ? 12 : 0,
		     more = below(&trial.random, 2) ? 8 : 0;
	const unsigned first = below(&trial.random, 2);

	CHECK(hd_fabric_remove_links(whole, less, hd_random_next(&trial.random), &was, &err));
	CHECK(hd_fabric_remove_links(whole, more, hd_random_next(&trial.random), &trial.fabric,
				     &err));
	struct hd_routes *old = route(names[first], was);
	CHECK(hd_routes_rebase(was, old, trial.fabric, &trial.held, &err));
	trial.wanted = route(names[first + !same_engine], trial.fabric);
	trial.gone = same_engine && !below(&trial.random, 4) ? add_gone(&trial) : 0;
	trial.start = hd_routes_copy(trial.held);
	trial.silent = calloc(trial.fabric->switch_count + 1u, sizeof(bool));
	hd_routes_free(old);
	hd_fabric_free(was);
	hd_fabric_free(whole);
	return trial;
}

static void release(struct trial *trial)
{
	hd_routes_free(trial->held);
	hd_routes_free(trial->wanted);
	hd_routes_free(trial->start);
	hd_routes_free(trial->lost[0]);
	hd_routes_free(trial->lost[1]);
	hd_fabric_free(trial->fabric);
	free(trial->silent);
}

static void assert_written(const struct trial *trial)
{
	for (uint32_t sw = 0; sw < trial->fabric->switch_count; sw++) {
		const uint8_t *row = hd_routes_row(trial->held, sw);
		assert_memory_equal(row, hd_routes_row(trial->wanted, sw), trial->wanted->stride);
		for (uint32_t lid = trial->wanted->stride; lid < trial->held->stride; lid++)
			assert_int_equal(row[lid], HD_NO_PORT);
	}
}

/* All entries are written, and no mixture on the way is unsound. */
static void test_any_change(void **unused)
{
	uint64_t proved = 0, loose = 0, looped = 0;

	(void)unused;
	for (unsigned i = 0; i < TRIALS; i++) {
		struct trial trial = make(i + 1, i % 3 != 0);
		run(&trial, false);
		assert_written(&trial);
		assert_int_equal(trial.proved + trial.loose,
				 hd_routes_count_changes(trial.start, trial.wanted) + trial.gone);
		proved += trial.proved;
		loose += trial.loose;
		looped += trial.looped;
		release(&trial);
	}
	print_message("%u entries proved, %u not, %u tables in place with a credit loop\n",
		      (unsigned)proved, (unsigned)loose, (unsigned)looped);
	assert_true(proved > 20 * loose && loose > 0);
}

/* A switch that does not take a block stops only what depends on it. */
static void test_silent_switches(void **unused)
{
	uint64_t written = 0, wanted = 0, failed = 0;

	(void)unused;
	for (unsigned i = 0; i < TRIALS; i++) {
		struct trial trial = make(i + 1000, i % 3 != 0);
		run(&trial, true);
		failed += trial.failed;
		if (trial.failed) {
			written += trial.proved + trial.loose;
			wanted += hd_routes_count_changes(trial.start, trial.wanted) + trial.gone;
		}
		release(&trial);
	}
	print_message("%u switches failed; %u of %u entries were planned\n", (unsigned)failed,
		      (unsigned)written, (unsigned)wanted);
	assert_true(failed > 20 && written > wanted / 4);
}

/* Tables with a credit loop are left without proof, but without loops. */
static void test_credit_loop_in_place(void **unused)
{
	struct trial trial = {.random = 5, .fabric = generate("torus", "dims=4,4 hosts=1")};

	(void)unused;
	trial.held = random_routes(trial.fabric, &trial.random, false, 1);
	trial.wanted = route("updown", trial.fabric);
	trial.start = hd_routes_copy(trial.held);
	trial.silent = calloc(trial.fabric->switch_count + 1u, sizeof(bool));
	run(&trial, false);
	assert_true(trial.looped && trial.loose && !trial.proved);
	assert_written(&trial);
	release(&trial);
}

/* An entry that leads nowhere leaves its LID, and the others are written. */
static void test_bad_entry(void **unused)
{
	struct trial trial = make(7, true);
	const uint32_t lid = trial.fabric->lid[trial.fabric->port_base[trial.fabric->switch_count]];

	(void)unused;
	for (uint32_t sw = 0; sw < trial.fabric->switch_count; sw++)
		hd_routes_row(trial.wanted, sw)[lid] = 1;
	run(&trial, false);
	for (uint32_t sw = 0; sw < trial.fabric->switch_count; sw++)
		for (uint32_t other = 1; other < trial.wanted->lid_count; other++)
			assert_int_equal(
			    hd_routes_port(trial.held, sw, other),
			    hd_routes_port(other == lid ? trial.start : trial.wanted, sw, other));
	release(&trial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_any_change),
	    cmocka_unit_test(test_silent_switches),
	    cmocka_unit_test(test_credit_loop_in_place),
	    cmocka_unit_test(test_bad_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
