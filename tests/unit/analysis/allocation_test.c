/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which jobs have which hosts, in the forms of Slurm. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "testing.h"

#include <heddle/analysis/allocation.h>

static int parse(const struct hd_fabric *fabric, const char *bytes, struct hd_allocation **out,
		 struct hd_error *err)
{
	const struct hd_text text = {.bytes = bytes, .length = strlen(bytes), .name = "jobs"};

	*out = NULL;
	*err = (struct hd_error){""};
	return hd_allocation_parse(&text, fabric, NULL, out, err);
}

static const char *job_of(const struct hd_fabric *fabric, const struct hd_allocation *allocation,
			  const char *name)
{
	for (uint32_t host = 0; host < fabric->host_count; host++)
		if (!strcmp(fabric->node_name[fabric->port_node[fabric->host_port[host]]], name))
			return hd_allocation_name(allocation, allocation->host_job[host]);
	return "no such host";
}

/* Property: all forms say the same, with ranges, lists, zeros in front, and hosts of several jobs. */
static void forms(void **state)
{
	(void)state;
	static const char *const texts[] = {
	    "# job hosts\n17 H_[0-1]_0,H_2_[0,01]\n\n18 H_1_1,H_0_0.site.org\n",
	    "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"
	    "                17     debug two words    root  R       0:03      4 "
	    "H_[0-1]_0,H_2_[0,01]\n"
	    "                18     debug     wrap     root  R       0:03      2 H_1_1,H_0_0\n"
	    "                19     debug     wrap     root PD       0:03      2 (Nodes required "
	    "are DOWN, or (so))\n",
	    "JobId=17 JobName=x\n   ReqNodeList=(null) ExcNodeList=(null)\n   "
	    "NodeList=H_[0-1]_0,H_2_[0,01]\n"
	    "   BatchHost=H_0_0\n\nJobId=18 JobName=y NodeList=H_1_1,H_0_0 NumNodes=2\nJobId=19 "
	    "NodeList=(null)\n",
	    "NODELIST NAME JOBID\nH_[0-1]_0,H_2_[0,01] x 17\nH_1_1,H_0_0 y 18\n",
	};
	struct hd_fabric *fabric = generate("xgft", "children=2,4 parents=1,2");

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct hd_allocation *allocation;
		struct hd_error err;
		CHECK(parse(fabric, texts[i], &allocation, &err));
		assert_string_equal(job_of(fabric, allocation, "H_0_0"), "several");
		assert_string_equal(job_of(fabric, allocation, "H_1_0"), "17");
		assert_string_equal(job_of(fabric, allocation, "H_2_0"), "17");
		assert_string_equal(job_of(fabric, allocation, "H_2_1"), "-");
		assert_string_equal(job_of(fabric, allocation, "H_1_1"), "18");
		assert_int_equal(allocation->hosts, 4);
		assert_int_equal(allocation->unknown, 1); /* H_2_01 */
		hd_allocation_free(allocation);
	}
	hd_fabric_free(fabric);
}

/* Property: hosts of two jobs may not send to each other; those of none or of several may send to all. */
static void allowed(void **state)
{
	(void)state;
	assert_true(hd_allocation_allows(1, 1));
	assert_false(hd_allocation_allows(1, 2));
	assert_true(hd_allocation_allows(1, HD_NONE) && hd_allocation_allows(HD_NONE, 1));
	assert_true(hd_allocation_allows(1, HD_SEVERAL_JOBS) &&
		    hd_allocation_allows(HD_SEVERAL_JOBS, 2));
}

/* Property: what is no list is refused with file, line and reason. */
static void damaged(void **state)
{
	(void)state;
	static const struct {
		const char *text, *reason;
		int rc;
	} cases[] = {
	    {"", "jobs: the file is empty", -ENODATA},
	    {"# nothing\n", "jobs: no job that has hosts", -ENODATA},
	    {"17\n", "jobs:1: expected a job and its list of hosts", -EINVAL},
	    {"17 H_[0-1\n", "jobs:1: expected a list of hosts", -EINVAL},
	    {"17 H_0]\n", "jobs:1: expected a list of hosts", -EINVAL},
	    {"17 H_[]\n", "jobs:1: expected a list of hosts", -EINVAL},
	    {"17 H_[3-1]\n", "jobs:1: expected a list of hosts", -EINVAL},
	    {"17 H_[a]\n", "jobs:1: expected a list of hosts", -EINVAL},
	    {"17 H_0,,H_1\n", "jobs:1: expected a list of hosts", -EINVAL},
	    {"17 H_[0-99999999]\n", "jobs:1: expected a list of hosts", -EINVAL},
	    {"17 H_[0-999]_[0-999]\n", "jobs:1: a list of more than 65536 hosts", -EINVAL},
	    {"1 H_0_0\n2 nobody\n", "", 0},
	    {"1 nobody\n", "jobs:1: the fabric has none of these hosts", -ENODATA},
	    {"JobId=1\nNodeList=H_[\n", "jobs:2: expected a list of hosts", -EINVAL},
	};
	struct hd_fabric *fabric = generate("xgft", "children=2,4 parents=1,2");

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hd_allocation *allocation;
		struct hd_error err;
		int rc = parse(fabric, cases[i].text, &allocation, &err);
		if (rc != cases[i].rc ||
		    strncmp(err.text, cases[i].reason, strlen(cases[i].reason)) != 0)
			fail_msg("case %zu: %d '%s'", i, rc, err.text);
		hd_allocation_free(allocation);
	}
	hd_fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(forms), cmocka_unit_test(allowed),
					   cmocka_unit_test(damaged)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
