/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <keyd_offsets.h>

#include <errno.h>
#include <heddle/base/index.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LMC 3u
#define HOSTS 4u
#define JOBS 400u

/* A switch with four hosts; two of them have the same first word. */
static const char netlist[] =
    "vendid=0x0\ndevid=0x0\nsysimgguid=0x20\nswitchguid=0x20(20)\n"
    "Switch 4 \"S-0000000000000020\" # \"leaf1\" base port 0 lid 1 lmc 0\n"
    "[1] \"H-0000000000000001\"[1](101) # \"a HCA-1\" lid 8 4xEDR\n"
    "[2] \"H-0000000000000002\"[1](102) # \"twin HCA-1\" lid 16 4xEDR\n"
    "[3] \"H-0000000000000003\"[1](103) # \"b HCA-1\" lid 24 4xEDR\n"
    "[4] \"H-0000000000000004\"[1](104) # \"twin HCA-2\" lid 32 4xEDR\n"
    "\nvendid=0x0\ndevid=0x0\nsysimgguid=0x1\ncaguid=0x1\n"
    "Ca 1 \"H-0000000000000001\" # \"a HCA-1\"\n"
    "[1](101) \"S-0000000000000020\"[1] # lid 8 lmc 3 \"leaf1\" lid 1 4xEDR\n"
    "\nvendid=0x0\ndevid=0x0\nsysimgguid=0x2\ncaguid=0x2\n"
    "Ca 1 \"H-0000000000000002\" # \"twin HCA-1\"\n"
    "[1](102) \"S-0000000000000020\"[2] # lid 16 lmc 3 \"leaf1\" lid 1 4xEDR\n"
    "\nvendid=0x0\ndevid=0x0\nsysimgguid=0x3\ncaguid=0x3\n"
    "Ca 1 \"H-0000000000000003\" # \"b HCA-1\"\n"
    "[1](103) \"S-0000000000000020\"[3] # lid 24 lmc 3 \"leaf1\" lid 1 4xEDR\n"
    "\nvendid=0x0\ndevid=0x0\nsysimgguid=0x4\ncaguid=0x4\n"
    "Ca 1 \"H-0000000000000004\" # \"twin HCA-2\"\n"
    "[1](104) \"S-0000000000000020\"[4] # lid 32 lmc 3 \"leaf1\" lid 1 4xEDR\n";

static struct keyd_view *make_view(void)
{
	struct hd_channel_fabric message = {
	    .epoch = 1, .netlist = netlist, .netlist_length = strlen(netlist)};
	struct keyd_view *view;
	struct hd_error err = {""};

	if (keyd_view_new(&message, &view, &err))
		fail_msg("%s", err.text);
	assert_int_equal(view->lmc, LMC);
	assert_int_equal(view->fabric->host_count, HOSTS);
	return view;
}

struct job {
	uint32_t hosts[HOSTS], host_count, first, count;
};

static uint32_t draw(uint64_t *seed, uint32_t limit)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % limit;
}

static bool overlap(const struct job *job, const struct job *other)
{
	for (uint32_t i = 0; i < job->host_count; i++)
		for (uint32_t j = 0; j < other->host_count; j++)
			if (job->hosts[i] == other->hosts[j] && other->count)
				return true;
	return false;
}

/* The slow way: the first offset at which no job on one of the hosts has any; 0: none. */
static uint32_t expected(const struct job *jobs, uint32_t count, const struct job *job)
{
	for (uint32_t first = 1; first + job->count <= 1u << LMC; first++) {
		bool free = true;

		for (uint32_t j = 0; j < count; j++)
			free &= !overlap(job, &jobs[j]) || first + job->count <= jobs[j].first ||
				jobs[j].first + jobs[j].count <= first;
		if (free)
			return first;
	}
	return 0;
}

/* Jobs that come and go get the first offsets that are free on all their hosts, and no two jobs on
 * one host ever share one. */
static void test_first_fit(void **state)
{
	struct keyd_view *view = make_view();
	struct keyd_offsets offsets = {.host_count = 0};
	static struct job jobs[JOBS];
	uint64_t seed = 1;
	unsigned refused = 0;

	(void)state;
	assert_int_equal(keyd_offsets_reset(&offsets, view), 0);
	for (uint32_t n = 0; n < JOBS; n++) {
		struct job *job = &jobs[n], *old = &jobs[draw(&seed, n + 1)];
		struct hd_error err = {""};
		uint32_t wanted, first = 0;
		int rc;

		job->count = 1 + draw(&seed, 3);
		for (uint32_t host = draw(&seed, HOSTS); host < HOSTS; host += 1 + draw(&seed, 2))
			job->hosts[job->host_count++] = host;
		wanted = expected(jobs, n, job);
		rc = keyd_offsets_find(&offsets, view, job->hosts, job->host_count, job->count,
				       &first, &err);
		assert_int_equal(rc, wanted ? 0 : -EBUSY);
		assert_int_equal(first, wanted);
		refused += !wanted;
		job->first = first;
		job->count = wanted ? job->count : 0;
		keyd_offsets_mark(&offsets, job->hosts, job->host_count, first, job->count, true);
		if (draw(&seed, 2)) {
			keyd_offsets_mark(&offsets, old->hosts, old->host_count, old->first,
					  old->count, false);
			old->count = 0;
		}
	}
	assert_true(refused > 10 && refused < JOBS - 10);
	keyd_offsets_release(&offsets);
	keyd_view_release(view);
}

/* More offsets than 2^LMC - 1 are refused for good, and hosts that are not there do not matter. */
static void test_range(void **state)
{
	struct keyd_view *view = make_view();
	struct keyd_offsets offsets = {.host_count = 0};
	const uint32_t hosts[] = {0, HD_NONE};
	struct hd_error err = {""};
	uint32_t first;

	(void)state;
	assert_int_equal(keyd_offsets_reset(&offsets, view), 0);
	assert_int_equal(keyd_offsets_find(&offsets, view, hosts, 2, 7, &first, &err), 0);
	assert_int_equal(first, 1);
	assert_int_equal(keyd_offsets_find(&offsets, view, hosts, 2, 8, &first, &err), -ERANGE);
	assert_non_null(strstr(err.text, "leaves 7"));
	keyd_offsets_release(&offsets);
	keyd_view_release(view);
}

/* Hosts are found by the first word of their node's description and by GUIDs; a name that two have
 * is refused. */
static void test_names(void **state)
{
	struct keyd_view *view = make_view();
	struct keyd_hosts *names;
	struct hd_error err = {""};
	uint32_t host, again;

	(void)state;
	assert_int_equal(keyd_hosts_read(NULL, &names, &err), 0);
	assert_int_equal(keyd_view_host(view, names, "a", &host, &err), 0);
	assert_int_equal(keyd_view_host(view, names, "0x1", &again, &err), 0);
	assert_int_equal(host, again);
	assert_int_equal(keyd_view_host(view, names, "0x101", &again, &err), 0);
	assert_int_equal(host, again);
	assert_int_equal(keyd_view_host(view, names, "twin", &host, &err), -EEXIST);
	assert_int_equal(keyd_view_host(view, names, "HCA-1", &host, &err), -ENOENT);
	assert_int_equal(keyd_view_host(view, names, "0x20", &host, &err), -ENOENT);
	assert_int_equal(keyd_view_host(view, names, "", &host, &err), -ENOENT);
	keyd_hosts_free(names);
	keyd_view_release(view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_first_fit),
	    cmocka_unit_test(test_range),
	    cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
