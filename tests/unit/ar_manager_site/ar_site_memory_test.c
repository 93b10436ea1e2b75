/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The settings of a site, while each allocation fails in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "short_memory.h"

#include <heddle/ar_manager/site.h>
#include <stdio.h>

struct reading {
	const char *path;
	struct hd_ar_site site;
};

static int read_site(void *context, struct hd_error *err)
{
	struct reading *reading = context;

	memset(&reading->site, 0, sizeof(reading->site));
	return hd_ar_site_read(reading->path, NULL, &reading->site, err);
}

static void settle(void *context, int rc)
{
	struct reading *reading = context;

	assert_int_equal(reading->site.config.switch_count, rc ? 0 : 2);
	hd_ar_site_release(&reading->site);
}

/* Property: without memory there is no result, and nothing leaks. */
static void site(void **state)
{
	static const char text[] = "[heddle]\n[ar]\nmode = free\n[ar.switch 1]\n[ar.switch 2]\n";
	const int file = memfd_create("site", MFD_CLOEXEC);
	struct reading reading;
	char path[32];

	(void)state;
	assert_int_equal(write(file, text, sizeof(text) - 1), sizeof(text) - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	reading.path = path;
	struct short_memory_case tried = {"the settings of a site", &reading, read_site, settle, 0};
	assert_true(short_memory_try(&tried) > 10);
	close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(site),
	};

	return cmocka_run_group_tests_name("ar_site_memory", tests, NULL, NULL);
}
