/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "memory.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* proc(5): writing 5 to clear_refs sets VmHWM back to VmRSS. */
#define RESET_PEAK "5"

#define FRESH_FROM (128 << 10) /* mallopt(3): the default, here without its adaptation */
#define REUSED_BELOW (32 << 20) /* the largest value that mallopt() accepts */
#define NEVER_TRIM (1 << 30)

static size_t read_status(const char *key)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[128];
	size_t kilobytes = 0;

	if (!status)
		return 0;
	while (fgets(line, sizeof(line), status))
		if (!strncmp(line, key, strlen(key)))
			(void)sscanf(line + strlen(key), ": %zu", &kilobytes);
	fclose(status);
	return kilobytes * 1024;
}

static void reset_peak(void)
{
	FILE *control = fopen("/proc/self/clear_refs", "we");

	if (!control)
		return;
	fputs(RESET_PEAK, control);
	fclose(control);
}

size_t memory_mark(void)
{
	malloc_trim(0);
	reset_peak();
	return read_status("VmRSS");
}

size_t memory_peak(void)
{
	return read_status("VmHWM");
}

void memory_be_fresh(void)
{
	mallopt(M_MMAP_THRESHOLD, FRESH_FROM);
	mallopt(M_TRIM_THRESHOLD, FRESH_FROM);
}

void memory_be_reused(void)
{
	mallopt(M_MMAP_THRESHOLD, REUSED_BELOW);
	mallopt(M_TRIM_THRESHOLD, NEVER_TRIM);
}

size_t memory_page_faults(void)
{
	struct rusage usage = {0};

	getrusage(RUSAGE_SELF, &usage);
	return (size_t)usage.ru_minflt;
}

size_t memory_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}
