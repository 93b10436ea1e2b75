/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What may be pulled: names of cables and switches, and whom a pull cuts off, against a search from each host. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generated.h"
#include "variants.h"

#include <heddle/base/random.h>
#include <heddle/fabric/pull.h>

#define PULLED_MOST 6

/* ---- who is cut off ---- */

/* Marks the hosts that a host reaches in the fabric without what is pulled, by a plain search. */
static void search(const struct hd_fabric *fabric, const struct hd_fabric_change *pulled,
		   uint32_t count, uint32_t host, bool *reached)
{
	bool *seen = calloc(fabric->node_count, sizeof(*seen));
	uint32_t *queue = calloc(fabric->node_count, sizeof(*queue)), last = 0;

	memset(reached, 0, fabric->host_count * sizeof(*reached));
	queue[last++] = fabric->port_node[fabric->host_port[host]];
	seen[queue[0]] = true;
	for (uint32_t at = 0; at < last; at++) {
		const uint32_t node = queue[at];
		for (uint32_t i = 1; i <= hd_node_ports(fabric, node); i++) {
			const uint32_t port = hd_port_index(fabric, node, i),
				       peer = fabric->peer[port];
			bool gone = peer == HD_NONE || (at && !hd_is_switch(fabric, node)) ||
				    (!at && port != fabric->host_port[host]);
			for (uint32_t p = 0; !gone && p < count; p++)
				gone = pulled[p].cable
					   ? pulled[p].index == port || pulled[p].index == peer
					   : pulled[p].index == node ||
						 pulled[p].index == fabric->port_node[peer];
			if (gone || seen[fabric->port_node[peer]])
				continue;
			seen[fabric->port_node[peer]] = true;
			queue[last++] = fabric->port_node[peer];
		}
	}
	for (uint32_t other = 0; other < fabric->host_count; other++)
		reached[other] = seen[fabric->port_node[fabric->host_port[other]]];
	free(seen);
	free(queue);
}

static uint64_t count_pairs(const struct hd_fabric *fabric, const struct hd_fabric_change *pulled,
			    uint32_t count, uint32_t *reach)
{
	bool *reached = calloc(fabric->host_count + 1u, sizeof(*reached));
	uint64_t pairs = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		search(fabric, pulled, count, host, reached);
		reach[host] = 0;
		for (uint32_t other = 0; other < fabric->host_count; other++)
			reach[host] += reached[other];
		pairs += reach[host] - 1;
	}
	free(reached);
	return pairs;
}

static uint32_t draw(const struct hd_fabric *fabric, uint64_t *random,
		     struct hd_fabric_change *pulled)
{
	const uint32_t count = 1 + (uint32_t)hd_random_below(random, PULLED_MOST);

	for (uint32_t i = 0; i < count; i++) {
		pulled[i] = (struct hd_fabric_change){.lost = true,
						      .cable = hd_random_below(random, 4) != 0};
		pulled[i].index = (uint32_t)hd_random_below(
		    random, pulled[i].cable ? fabric->port_count : fabric->switch_count);
	}
	return count;
}

static bool is_alone(const struct hd_fabric *fabric, const struct hd_fabric_change *pulled,
		     uint32_t count, uint32_t host)
{
	const uint32_t port = fabric->host_port[host];
	bool alone = false;

	for (uint32_t i = 0; i < count; i++)
		alone |= pulled[i].cable
			     ? pulled[i].index == port || pulled[i].index == fabric->peer[port]
			     : pulled[i].index == fabric->host_switch[host];
	return alone;
}

/* Each host is one of as many as it reaches. */
static void assert_parts(const struct hd_fabric *fabric, const struct hd_fabric_change *pulled,
			 uint32_t count, const uint32_t *after, const struct hd_pull_cut *out)
{
	uint32_t alone = 0;
	double parts = 0;

	for (uint32_t host = 0; host < fabric->host_count; host++) {
		const bool own = is_alone(fabric, pulled, count, host);
		alone += own;
		parts += own ? 0 : 1.0 / after[host];
	}
	assert_int_equal(out->alone, alone);
	assert_int_equal(out->parts, (uint32_t)(parts + 0.5));
}

static void assert_cut(const struct hd_fabric *fabric, const struct hd_fabric_change *pulled,
		       uint32_t count, uint64_t *found)
{
	uint32_t *before = calloc(fabric->host_count + 1u, sizeof(*before));
	uint32_t *after = calloc(fabric->host_count + 1u, sizeof(*after));
	bool *cut = calloc(fabric->host_count + 1u, sizeof(*cut));
	const uint64_t pairs =
	    count_pairs(fabric, NULL, 0, before) - count_pairs(fabric, pulled, count, after);
	struct hd_pull_cut out;
	uint32_t hosts = 0;

	assert_int_equal(hd_pull_cut(fabric, pulled, count, cut, &out, NULL), 0);
	assert_int_equal(out.pairs, pairs);
	assert_parts(fabric, pulled, count, after, &out);
	for (uint32_t host = 0; host < fabric->host_count; host++) {
		hosts += cut[host];
		/* a host that still reaches more than half is not cut off */
		if (2 * after[host] > before[host] && after[host] > 1)
			assert_false(cut[host]);
		if (2 * after[host] < before[host] && before[host] - after[host] > before[host] / 2)
			*found += cut[host];
	}
	assert_int_equal(hosts, out.hosts);
	assert_int_equal(out.pairs == 0, out.hosts == 0 || pairs == 0);
	free(before);
	free(after);
	free(cut);
}

/* Property: on random damaged fabrics the pairs that are cut off are those that a search finds. */
static void cuts_equal_a_search(void **state)
{
	static const char *const kinds[][2] = {
	    {"xgft", "children=3,4,2 parents=1,2,2"},
	    {"torus", "dims=4,3 hosts=2"},
	    {"irregular", "switches=12 radix=8 hosts=2 seed=5"},
	};
	struct hd_fabric_change pulled[PULLED_MOST];
	uint64_t random = 11, found = 0;

	(void)state;
	for (unsigned seed = 0; seed < 300; seed++) {
		struct hd_fabric *whole, *fabric;
		const char *const *kind = kinds[seed % 3];
		assert_int_equal(generated_fabric(kind[0], kind[1], &whole, NULL), 0);
		assert_int_equal(variants_damaged(whole, seed % 15, seed, &fabric, NULL), 0);
		assert_cut(fabric, pulled, draw(fabric, &random, pulled), &found);
		hd_fabric_free(fabric);
		hd_fabric_free(whole);
	}
	assert_true(found > 100);
}

/* ---- names ---- */

static void assert_cable(const struct hd_fabric *fabric, const char *text, uint32_t near,
			 uint32_t far)
{
	struct hd_fabric_change change;
	struct hd_error err = {""};

	if (hd_pull_resolve(fabric, text, &change, &err))
		fail_msg("%s: %s", text, err.text);
	assert_true(change.cable && change.lost);
	assert_true(change.index == near || change.index == far);
}

/* Property: each form of the name of a cable or a switch finds it, for all of a fabric. */
static void names_are_found(void **state)
{
	struct hd_fabric *fabric;
	char text[256];

	(void)state;
	assert_int_equal(generated_fabric("xgft", "children=2,3 parents=1,2", &fabric, NULL), 0);
	for (uint32_t port = 0; port < fabric->port_count; port++) {
		const uint32_t far = fabric->peer[port], node = fabric->port_node[port];
		if (far == HD_NONE)
			continue;
		const char *name = fabric->node_name[node],
			   *far_name = fabric->node_name[fabric->port_node[far]];
		const uint32_t number = hd_port_number(fabric, port),
			       far_number = hd_port_number(fabric, far);
		snprintf(text, sizeof(text), "%s[%u]", name, number);
		assert_cable(fabric, text, port, far);
		snprintf(text, sizeof(text), "'%s'[%u] - '%s'[%u]", name, number, far_name,
			 far_number);
		assert_cable(fabric, text, port, far);
		snprintf(text, sizeof(text), "%s[%u]-%s[%u]", name, number, far_name, far_number);
		assert_cable(fabric, text, port, far);
		snprintf(text, sizeof(text), "0x%016llx[%u]",
			 (unsigned long long)fabric->node_guid[node], number);
		assert_cable(fabric, text, port, far);
	}
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		struct hd_fabric_change change;
		snprintf(text, sizeof(text), "'%s'", fabric->node_name[sw]);
		assert_int_equal(hd_pull_resolve(fabric, text, &change, NULL), 0);
		assert_true(!change.cable && change.index == sw);
	}
	hd_fabric_free(fabric);
}

/* Property: a text that names nothing, or two cables, is refused. */
static void other_texts_are_refused(void **state)
{
	static const struct {
		const char *text;
		int rc;
	} bad[] = {
	    {"", -EINVAL},
	    {"''", -EINVAL},
	    {"none", -ENOENT},
	    {"H_0_0", -ENOENT},
	    {"S1_0[", -EINVAL},
	    {"S1_0[]", -EINVAL},
	    {"S1_0[x]", -EINVAL},
	    {"[1]", -EINVAL},
	    {"S1_0[0]", -EINVAL},
	    {"S1_0[99]", -EINVAL},
	    {"S1_0[4294967297]", -EINVAL},
	    {"S1_0[1] - ", -EINVAL},
	    {"S1_0[3] - S1_0[4]", -EINVAL},
	    {"none[1]", -ENOENT},
	    {"S1_0[3] - none[1]", -ENOENT},
	};
	struct hd_fabric *fabric, *less;
	struct hd_fabric_change change, again;

	(void)state;
	assert_int_equal(generated_fabric("xgft", "children=2,3 parents=1,2", &fabric, NULL), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hd_error err = {""};
		int rc = hd_pull_resolve(fabric, bad[i].text, &change, &err);
		if (rc != bad[i].rc)
			fail_msg("'%s': %d (%s)", bad[i].text, rc, err.text);
		assert_true(*err.text);
	}
	assert_int_equal(hd_pull_resolve(fabric, "S1_0[3]", &change, NULL), 0);
	assert_int_equal(hd_fabric_without(fabric, &change, 1, HD_NONE, &less, NULL), 0);
	assert_int_equal(hd_pull_resolve(less, "S1_0[3]", &again, NULL), -ENXIO);
	assert_int_equal(again.index, change.index);
	hd_fabric_free(less);
	hd_fabric_free(fabric);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cuts_equal_a_search),
	    cmocka_unit_test(names_are_found),
	    cmocka_unit_test(other_texts_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
