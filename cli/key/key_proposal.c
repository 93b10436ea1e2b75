/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "key_proposal.h"
#include "json_value.h"
#include "message.h"
#include "need.h"
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int key_proposal_check_hosts(const struct key_proposal_hosts *hosts, const char *pattern)
{
	if (!hosts->count == !hosts->reorder)
		return message_error("expected either --choose N or --reorder FILE");
	if (!hosts->count != !hosts->free)
		return message_error("--choose N and --free FILE need each other");
	return pattern ? 0 : message_error("no pattern given: use --pattern NAME");
}

const char *key_proposal_path(const struct key_proposal_hosts *hosts)
{
	return hosts->free ? hosts->free : hosts->reorder;
}

int key_proposal_read_hosts(const struct key_proposal_hosts *hosts, struct key_hosts *out,
			    struct hd_error *err)
{
	int rc = key_hosts_read(key_proposal_path(hosts), out, err);

	return rc || out->count ? rc
				: hd_error_set(err, -EINVAL, "%s: there is no host in it",
					       key_proposal_path(hosts));
}

static bool is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

bool key_proposal_takes_output(const struct key_proposal_files *files)
{
	return is_stdout(files->host_file) || is_stdout(files->rank_file);
}

int key_proposal_check(const struct key_proposal_files *files, const char *const *inputs,
		       unsigned input_count, bool json)
{
	if (is_stdout(files->host_file) && is_stdout(files->rank_file))
		return message_error("--host-file and --rankfile cannot both go to standard "
				     "output");
	if (json && key_proposal_takes_output(files))
		return message_error("--json and a file on standard output exclude each other");
	if (output_refuse("host-file", files->host_file, inputs, input_count) ||
	    output_refuse("rankfile", files->rank_file, inputs, input_count))
		return STATUS_BAD;
	return 0;
}

/* A rank and its host. */
struct place {
	const char *host;
	uint32_t rank;
};

static int by_host(const void *a, const void *b)
{
	const struct place *left = a, *right = b;
	int order = strcmp(left->host, right->host);

	return order ? order : left->rank < right->rank ? -1 : left->rank > right->rank;
}

/* slots[rank]: how many lower ranks its host has. For free(). */
static uint32_t *find_slots(const struct key_proposal *proposal)
{
	uint32_t *slots = need(calloc((size_t)proposal->ranks + 1, sizeof(*slots)));
	struct place *places = need(calloc((size_t)proposal->ranks + 1, sizeof(*places)));

	for (uint32_t rank = 0; rank < proposal->ranks; rank++)
		places[rank] = (struct place){proposal->host_of[rank], rank};
	qsort(places, proposal->ranks, sizeof(*places), by_host);
	for (uint32_t i = 0; i < proposal->ranks; i++)
		slots[places[i].rank] = i && !strcmp(places[i].host, places[i - 1].host)
					    ? slots[places[i - 1].rank] + 1
					    : 0;
	free(places);
	return slots;
}

int key_proposal_write(const struct key_proposal *proposal, const struct key_proposal_files *files,
		       struct hd_error *err)
{
	const char *paths[] = {files->host_file, files->rank_file};
	uint32_t *slots = find_slots(proposal);
	int rc = 0;

	for (unsigned i = 0; !rc && i < 2; i++) {
		struct output output;
		if (!paths[i])
			continue;
		rc = output_open(&output, paths[i], err);
		if (rc)
			break;
		if (i) {
			/* The ranks of a host get its slots in their order. */
			for (uint32_t rank = 0; rank < proposal->ranks; rank++)
				fprintf(output.stream, "rank %" PRIu32 "=%s slot=%" PRIu32 "\n",
					rank, proposal->host_of[rank], slots[rank]);
		} else {
			for (uint32_t rank = 0; rank < proposal->ranks; rank++)
				fprintf(output.stream, "%s\n", proposal->host_of[rank]);
		}
		rc = output_close(&output, rc, err);
	}
	free(slots);
	return rc;
}

static void print_worth(const char *what, const struct hd_key_worth *worth)
{
	printf("%-10s %6" PRIu32 " %11" PRIu32 " %13" PRIu64 " %7" PRIu32 " %5" PRIu32, what,
	       worth->keys, worth->contention, worth->shared, worth->leaves, worth->pods);
	if (worth->lost)
		printf("   %" PRIu32 " flows do not arrive", worth->lost);
	putchar('\n');
}

void key_proposal_print(const struct key_proposal *proposal, bool hosts)
{
	printf("%" PRIu32 " ranks on %" PRIu32 " of %" PRIu32 " hosts; phases: %" PRIu32 "\n\n",
	       proposal->ranks, proposal->hosts, proposal->free, proposal->phases);
	printf("%-10s %6s %11s %13s %7s %5s\n", "HOSTS", "KEYS", "CONTENTION", "SHARED LINKS",
	       "LEAVES", "PODS");
	print_worth("as listed", &proposal->listed);
	print_worth("proposed", &proposal->proposed);
	if (!hosts)
		return;
	printf("\n%6s  %s\n", "RANK", "HOST");
	for (uint32_t rank = 0; rank < proposal->ranks; rank++)
		printf("%6" PRIu32 "  %s\n", rank, proposal->host_of[rank]);
}

void key_proposal_print_list(const struct key_proposal *proposal)
{
	uint32_t *slots = find_slots(proposal);

	for (uint32_t rank = 0; rank < proposal->ranks; rank++)
		if (!slots[rank])
			printf("%s%s", rank ? "," : "", proposal->host_of[rank]);
	putchar('\n');
	free(slots);
}

static json_t *worth_json(const struct hd_key_worth *worth)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "lost", (json_int_t)worth->lost, "keys",
			 (json_int_t)worth->keys, "contention", (json_int_t)worth->contention,
			 "shared_links", (json_int_t)worth->shared, "leaves",
			 (json_int_t)worth->leaves, "pods", (json_int_t)worth->pods);
}

json_t *key_proposal_json(const struct key_proposal *proposal)
{
	json_t *hosts = json_array();

	for (uint32_t rank = 0; rank < proposal->ranks; rank++)
		hosts = json_value_append(hosts, json_value_text(proposal->host_of[rank]));
	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "free", (json_int_t)proposal->free,
			 "hosts", (json_int_t)proposal->hosts, "ranks", (json_int_t)proposal->ranks,
			 "phases", (json_int_t)proposal->phases, "listed",
			 worth_json(&proposal->listed), "proposed", worth_json(&proposal->proposed),
			 "host_of_rank", hosts);
}
