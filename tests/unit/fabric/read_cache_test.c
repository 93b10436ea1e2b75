/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibnetdiscover --cache: a file made here byte by byte is read, and any damage to it is refused. The
 * test test_opensm_inputs.py reads files of the tool itself. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate_testing.h"
#include "read_testing.h"

#define NODE_0 28 /* offsets in the file below */
#define NODE_1 (NODE_0 + 207 + 2 * 9)
#define PORTS (NODE_1 + 207 + 9)
#define LENGTH (PORTS + 3 * 95)

static void put_little(unsigned char *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

static void put_big(unsigned char *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> 8 * (bytes - 1 - i));
}

static void put_node(unsigned char *at, uint64_t guid, unsigned type, unsigned ports, unsigned keys,
		     const char *name)
{
	put_little(at + 68, guid, 8);
	at[76] = (unsigned char)type;
	at[77] = (unsigned char)ports;
	put_big(at + 78 + 4, guid + 0x100, 8); /* system image */
	put_big(at + 78 + 30, 0xcb20, 2);
	put_big(at + 78 + 37, 0x2c9, 3);
	memcpy(at + 142, name, strlen(name));
	at[206] = (unsigned char)keys;
}

static void put_port(unsigned char *at, uint64_t guid, unsigned number, unsigned lid, uint64_t node)
{
	unsigned char *info = at + 13;

	put_little(at, guid, 8);
	at[8] = (unsigned char)number;
	put_little(at + 10, lid, 2);
	at[12] = lid ? 1 : 0;
	put_big(info + 20, 0x4000, 4); /* extended speeds */
	info[31] = 2; /* 4x */
	info[35] = 4 << 4; /* QDR */
	info[62] = 4 << 4; /* HDR */
	put_little(at + 77, node, 8);
}

static void put_far(unsigned char *at, uint64_t guid, unsigned number)
{
	at[85] = 1;
	put_little(at + 86, guid, 8);
	at[94] = (unsigned char)number;
}

/* A switch with its port 0 and port 5, and an adapter at port 5. */
static void make(unsigned char file[LENGTH])
{
	memset(file, 0, LENGTH);
	put_little(file, 0x8fe7832b, 4);
	put_little(file + 4, 1, 4);
	put_little(file + 8, 2, 4);
	put_little(file + 12, 3, 4);
	put_node(file + NODE_0, 0x200000, 2, 36, 2, "leaf 1");
	put_node(file + NODE_1, 0x100000, 1, 1, 1, "node1 HCA-1");
	put_port(file + PORTS, 0x200000, 0, 6, 0x200000);
	put_port(file + PORTS + 95, 0x200000, 5, 0, 0x200000);
	put_far(file + PORTS + 95, 0x100001, 1);
	put_port(file + PORTS + 190, 0x100001, 1, 8, 0x100000);
	put_far(file + PORTS + 190, 0x200000, 5);
}

static void the_file_is_read(void **state)
{
	(void)state;
	unsigned char file[LENGTH];
	struct hd_fabric *fabric = NULL;
	struct hd_error err = {""};
	make(file);
	if (hd_fabric_parse((const char *)file, LENGTH, "topo", NULL, &fabric, &err))
		fail_msg("%s", err.text);
	assert_int_equal(fabric->node_count, 2);
	assert_cabled(fabric, "leaf 1", 5, "node1 HCA-1", 1);
	assert_int_equal(hd_node_ports(fabric, 0), 36);
	assert_true(fabric->node_guid[0] == 0x200000 && fabric->node_guid[1] == 0x100000);
	assert_true(fabric->system_guid[0] == 0x200100);
	assert_int_equal(fabric->vendor_id[1], 0x2c9);
	assert_int_equal(fabric->device_id[1], 0xcb20);
	uint32_t host = hd_port_index(fabric, 1, 1), own = hd_port_index(fabric, 0, 0);
	assert_true(fabric->port_guid[host] == 0x100001 && fabric->port_guid[own] == 0x200000);
	assert_true(fabric->lid[host] == 8 && fabric->lmc[host] == 1 && fabric->lid[own] == 6);
	assert_int_equal(fabric->width[host], 4);
	assert_int_equal(fabric->speed[host], HD_SPEED_HDR);
	hd_fabric_free(fabric);
}

/* Property: without extended speeds at port 0, the plain speed counts. */
static void old_switches_have_plain_speeds(void **state)
{
	(void)state;
	unsigned char file[LENGTH];
	struct hd_fabric *fabric = NULL;
	make(file);
	put_big(file + PORTS + 13 + 20, 0, 4);
	put_big(file + PORTS + 190 + 13 + 20, 0, 4);
	assert_int_equal(hd_fabric_parse((const char *)file, LENGTH, "topo", NULL, &fabric, NULL),
			 0);
	assert_int_equal(fabric->speed[hd_port_index(fabric, 0, 5)], HD_SPEED_QDR);
	hd_fabric_free(fabric);
}

/* Property: a file that was cut anywhere is refused, as is one that goes on. */
static void files_of_another_length_are_refused(void **state)
{
	(void)state;
	unsigned char file[LENGTH + 1] = {0};
	make(file);
	for (size_t length = 8; length < LENGTH; length++)
		assert_bytes_refused((const char *)file, length, -EINVAL, "topo: the file ends in",
				     "was the file cut off?");
	assert_bytes_refused((const char *)file, LENGTH + 1, -EINVAL,
			     "topo: ", "goes on after its last port");
}

static void contradictions_are_refused(void **state)
{
	static const struct {
		size_t at;
		unsigned char value;
		const char *reason;
		int rc;
	} edits[] = {
	    {NODE_0 + 76, 9, "has type 9", -EINVAL},
	    {NODE_0 + 77, 0, "has 0 ports", -EINVAL},
	    {NODE_0 + 77, 4, "port 5 of 'leaf 1'", -ERANGE},
	    {PORTS + 95 + 86, 7, "is cabled to port 0x0000000000100007", -EINVAL},
	    {PORTS + 95 + 77, 7, "the file does not have this node", -EINVAL},
	    {PORTS + 95 + 94, 2, "port 2 of 'node1 HCA-1'", -ERANGE},
	    {PORTS + 190 + 12, 128, "has LMC 128, expected 0..7", -EINVAL},
	    {PORTS + 190 + 8, 0, "has a port 0", -EINVAL},
	    {PORTS + 190 + 85, 0, "", -EINVAL}, /* a cable with one end */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(edits) / sizeof(*edits); i++) {
		unsigned char file[LENGTH];
		make(file);
		file[edits[i].at] = edits[i].value;
		assert_bytes_refused((const char *)file, LENGTH, edits[i].rc,
				     "topo: ", edits[i].reason);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_file_is_read),
	    cmocka_unit_test(old_switches_have_plain_speeds),
	    cmocka_unit_test(files_of_another_length_are_refused),
	    cmocka_unit_test(contradictions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
