/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads any bytes as a host file, as both kinds of pattern files for one small fabric, and as the
 * shares of an application. What is accepted must fit the fabric; hosts must survive being written
 * and read again. */
#include "fuzzing.h"

#include <heddle/analysis.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

/* Two hosts share their first word, one has two ports, one has no LID. */
static const char topology[] =
    "switchguid=0x200000(200000)\n"
    "Switch 8 \"S-0000000000200000\" # \"leaf\" base port 0 lid 1 lmc 0\n"
    "[1] \"H-0000000000100000\"[1](100001) # \"n1 HCA-1\" lid 4 4xEDR\n"
    "[2] \"H-0000000000100010\"[1](100011) # \"n2 HCA-1\" lid 6 4xEDR\n"
    "[3] \"H-0000000000100020\"[1](100021) # \"n2 HCA-2\" lid 7 4xEDR\n"
    "[4] \"H-0000000000100030\"[1](100031) # \"a b\" lid 8 4xEDR\n"
    "[5] \"H-0000000000100030\"[2](100032) # \"a b\" lid 9 4xEDR\n"
    "[6] \"H-0000000000100040\"[1](100041) # \"mute\" lid 0 4xEDR\n"
    "Ca 1 \"H-0000000000100000\" # \"n1 HCA-1\"\n"
    "[1](100001) \"S-0000000000200000\"[1] # lid 4 lmc 1 \"leaf\" lid 1 4xEDR\n"
    "Ca 1 \"H-0000000000100010\" # \"n2 HCA-1\"\n"
    "[1](100011) \"S-0000000000200000\"[2] # lid 6 lmc 0 \"leaf\" lid 1 4xEDR\n"
    "Ca 1 \"H-0000000000100020\" # \"n2 HCA-2\"\n"
    "[1](100021) \"S-0000000000200000\"[3] # lid 7 lmc 0 \"leaf\" lid 1 4xEDR\n"
    "Ca 2 \"H-0000000000100030\" # \"a b\"\n"
    "[1](100031) \"S-0000000000200000\"[4] # lid 8 lmc 0 \"leaf\" lid 1 4xEDR\n"
    "[2](100032) \"S-0000000000200000\"[5] # lid 9 lmc 0 \"leaf\" lid 1 4xEDR\n"
    "Ca 1 \"H-0000000000100040\" # \"mute\"\n"
    "[1](100041) \"S-0000000000200000\"[6] # lid 0 lmc 0 \"leaf\" lid 1 4xEDR\n";

static const struct hd_ranks *everybody(void)
{
	static struct hd_fabric *fabric;
	static struct hd_ranks *ranks;

	if (ranks)
		return ranks;
	demand(!hd_fabric_parse(topology, strlen(topology), "topo", NULL, &fabric, NULL));
	demand(!hd_ranks_new(fabric, true, &ranks, NULL));
	demand(fabric->host_count == 6 && ranks->count == 5);
	return ranks;
}

/* ---- host files ---- */

static void check_hosts_fit(const struct hd_ranks *ranks)
{
	const struct hd_fabric *fabric = ranks->fabric;

	demand(ranks->count >= 1 && ranks->count <= fabric->host_count);
	for (uint32_t i = 0; i < ranks->count; i++) {
		demand(ranks->host[i] < fabric->host_count);
		demand(fabric->lid[fabric->host_port[ranks->host[i]]] != 0);
		for (uint32_t k = 0; k < i; k++)
			demand(ranks->host[i] != ranks->host[k]);
	}
}

static void check_round_trip(const struct hd_ranks *ranks)
{
	const struct hd_fabric *fabric = ranks->fabric;
	struct hd_ranks *back = NULL;
	char text[256];
	size_t length = 0;

	for (uint32_t i = 0; i < ranks->count; i++)
		length +=
		    (size_t)snprintf(text + length, sizeof(text) - length, "%" PRIu32 "\n",
				     (uint32_t)fabric->lid[fabric->host_port[ranks->host[i]]]);
	demand(!hd_ranks_parse(fabric, text, length, "again", &back, NULL));
	demand(back->count == ranks->count);
	demand(!memcmp(back->host, ranks->host, ranks->count * sizeof(*ranks->host)));
	hd_ranks_free(back);
}

static void check_hosts(const uint8_t *data, size_t size)
{
	struct hd_ranks *ranks = NULL;
	struct hd_error err = {""};

	if (hd_ranks_parse(everybody()->fabric, (const char *)data, size, "hosts", &ranks, &err)) {
		demand(!ranks && err.text[0]);
		return;
	}
	check_hosts_fit(ranks);
	check_round_trip(ranks);
	hd_ranks_free(ranks);
}

/* ---- pattern files ---- */

/* Returns the number of flows. */
static uint32_t check_round(const struct hd_pattern *pattern, uint32_t round, struct hd_flow *flows)
{
	const struct hd_ranks *ranks = everybody();
	uint32_t count = 0;

	demand(!hd_pattern_draw(pattern, ranks, HD_MAP_IDENTITY, 1, 0, round, flows, &count, NULL));
	demand(count >= 1 && count <= pattern->round_max);
	for (uint32_t i = 0; i < count; i++) {
		demand(flows[i].source < ranks->fabric->host_count);
		demand(flows[i].destination < ranks->fabric->host_count);
		demand(flows[i].source != flows[i].destination);
	}
	return count;
}

static void check_pattern_fits(const struct hd_pattern *pattern)
{
	struct hd_flow *flows = calloc(pattern->round_max, sizeof(*flows));
	uint32_t most = 0;

	demand(flows && pattern->rounds >= 1 && pattern->ranks == everybody()->count);
	for (uint32_t round = 0; round < pattern->rounds; round++) {
		uint32_t count = check_round(pattern, round, flows);
		most = count > most ? count : most;
	}
	demand(most == pattern->round_max);
	free(flows);
}

static void check_pattern(const char *kind, const char *path)
{
	const struct hd_pattern_kind *found = hd_pattern_find(kind);
	struct hd_options *options = hd_options_new(found->options, found->option_count);
	struct hd_pattern *pattern = NULL;
	struct hd_error err = {""};

	demand(options && !hd_options_set(options, "file", path, NULL));
	if (hd_pattern_new(found, options, everybody(), &pattern, &err)) {
		demand(!pattern && err.text[0]);
	} else {
		check_pattern_fits(pattern);
		hd_pattern_free(pattern);
	}
	hd_options_free(options);
}

/* ---- applications ---- */

static void check_application(const uint8_t *data, size_t size)
{
	struct hd_application *application = NULL;
	struct hd_error err = {""};
	double most[1 << 12], sum = 0;

	if (hd_application_parse((const char *)data, size, "application", &application, &err)) {
		demand(!application && err.text[0]);
		return;
	}
	demand(application->count >= 1);
	for (uint32_t i = 0; i < application->count; i++) {
		const struct hd_application_part *part = &application->parts[i];
		demand(part->share > 0 && part->share <= 1 && part->kind && part->options);
		demand(part->bandwidth >= 0 && part->bandwidth <= 1);
		sum += part->share;
		if (i < sizeof(most) / sizeof(*most))
			most[i] = 1;
	}
	demand(sum < 1.001);
	if (application->count <= sizeof(most) / sizeof(*most))
		demand(hd_application_time_left(application, most) == 1);
	hd_application_free(application);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[32];
	int file = memfd_create("pattern", MFD_CLOEXEC);

	demand(file >= 0 && write(file, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	check_hosts(data, size);
	check_application(data, size);
	check_pattern("pairs", path);
	check_pattern("ranks", path);
	close(file);
	return 0;
}
