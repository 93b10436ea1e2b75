/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GUID lists and port lists in the format of OpenSM's options. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "read_testing.h"

static uint32_t read_guids(const char *text, uint64_t **guids, struct hd_error *err, int expected)
{
	struct scratch scratch = scratch_new();
	char *path = scratch_file(&scratch, "guids", text);
	uint32_t count = 0;

	assert_int_equal(hd_guids_read(path, guids, &count, err), expected);
	scratch_drop(path);
	scratch_free(&scratch);
	return count;
}

static void guids_keep_the_files_order(void **state)
{
	(void)state;
	uint64_t *guids = NULL;
	struct hd_error err = {""};
	uint32_t count =
	    read_guids("\xEF\xBB\xBF# roots\r\n\r\n0x0002c90300001234\r\n  2c90300001235\tspine 2\n"
		       "\n0X7 # comment\n0x0002c90300001234#again",
		       &guids, &err, 0);
	assert_int_equal(count, 3); /* a repeated one counts once */
	assert_true(guids[0] == 0x0002c90300001234 && guids[1] == 0x2c90300001235);
	assert_true(guids[2] == 7);
	free(guids);
}

static void an_empty_list_is_a_list(void **state)
{
	(void)state;
	uint64_t *guids = NULL;
	struct hd_error err = {""};
	assert_int_equal(read_guids("", &guids, &err, 0), 0);
	free(guids);
	assert_int_equal(read_guids("# nobody\n", &guids, &err, 0), 0);
	free(guids);
}

static void lines_without_a_guid_are_refused(void **state)
{
	static const char *const bad[] = {"0x1\nspine1\n",
					  "0x1\n0x\n",
					  "0x1\n0x12,0x13\n",
					  "0x1\n0x0\n",
					  "0x1\n0x11112222333344445\n",
					  "\n-1\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		uint64_t *guids = NULL;
		struct hd_error err = {""};
		read_guids(bad[i], &guids, &err, -EINVAL);
		assert_null(guids);
		assert_says(err.text, "guids:2: expected a GUID such as 0x0002c90300001234");
	}
}

static void a_file_that_is_not_there_is_named(void **state)
{
	(void)state;
	uint64_t *guids = NULL;
	uint32_t count;
	struct hd_error err = {""};
	assert_int_equal(hd_guids_read("/nonexistent/guids", &guids, &count, &err), -ENOENT);
	assert_says(err.text, "/nonexistent/guids: cannot open");
}

static uint32_t read_refs(const char *text, bool with_value, struct hd_port_ref **refs,
			  struct hd_error *err, int expected)
{
	struct scratch scratch = scratch_new();
	char *path = scratch_file(&scratch, "ports", text);
	uint32_t count = 0;

	assert_int_equal(hd_port_refs_read(path, with_value, refs, &count, err), expected);
	scratch_drop(path);
	scratch_free(&scratch);
	return count;
}

static void hop_weights_and_ignored_ports_are_read(void **state)
{
	(void)state;
	struct hd_port_ref *refs = NULL;
	struct hd_error err = {""};
	assert_int_equal(
	    read_refs("0x10 1 255\n# none\n0x11\t254\t1 uplink\n", true, &refs, &err, 0), 2);
	assert_true(refs[0].node_guid == 0x10 && refs[0].port == 1 && refs[0].value == 255);
	assert_true(refs[1].node_guid == 0x11 && refs[1].port == 254 && refs[1].value == 1);
	free(refs);
	assert_int_equal(read_refs("0x10 3\n", false, &refs, &err, 0), 1);
	assert_true(refs[0].port == 3 && refs[0].value == 0);
	free(refs);
}

static void ports_and_weights_out_of_range_are_refused(void **state)
{
	static const char *const bad[] = {"0x10 0 1\n",	  "0x10 255 1\n", "0x10 1 0\n",
					  "0x10 1 256\n", "0x10 1\n",	  "0x10\n",
					  "port 1 1\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct hd_port_ref *refs = NULL;
		struct hd_error err = {""};
		read_refs(bad[i], true, &refs, &err, -EINVAL);
		assert_null(refs);
		assert_says(err.text,
			    "ports:1: expected GUID PORT WEIGHT, port 1..254, weight 1..255");
	}
	struct hd_port_ref *refs = NULL;
	struct hd_error err = {""};
	read_refs("0x10 255\n", false, &refs, &err, -EINVAL);
	assert_says(err.text, "expected GUID PORT, port 1..254");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(guids_keep_the_files_order),
	    cmocka_unit_test(an_empty_list_is_a_list),
	    cmocka_unit_test(lines_without_a_guid_are_refused),
	    cmocka_unit_test(a_file_that_is_not_there_is_named),
	    cmocka_unit_test(hop_weights_and_ignored_ports_are_read),
	    cmocka_unit_test(ports_and_weights_out_of_range_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
