/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads any bytes as a list of GUIDs, of ports, and of ports with weights. */
#include "fuzzing.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void check_guids(const char *path)
{
	uint64_t *guids = NULL;
	uint32_t count = 0;
	struct hd_error err = {""};

	if (hd_guids_read(path, &guids, &count, &err)) {
		demand(!guids && err.text[0]);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		demand(guids[i] != 0);
	free(guids);
}

static void check_ports(const char *path, bool with_value)
{
	struct hd_port_ref *refs = NULL;
	uint32_t count = 0;
	struct hd_error err = {""};

	if (hd_port_refs_read(path, with_value, &refs, &count, &err)) {
		demand(!refs && err.text[0]);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		demand(refs[i].node_guid && refs[i].port >= 1 && refs[i].port <= HD_PORTS_MAX);
		demand(with_value ? refs[i].value >= 1 && refs[i].value <= 255 : !refs[i].value);
	}
	free(refs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[32];
	int file = memfd_create("guids", MFD_CLOEXEC);

	demand(file >= 0 && write(file, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	check_guids(path);
	check_ports(path, false);
	check_ports(path, true);
	close(file);
	return 0;
}
