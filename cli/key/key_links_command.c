/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle key links: the flows of keys on the links, as a bar chart. */
#include "commands.h"
#include "json_value.h"
#include "key_service.h"
#include "key_without.h"
#include "shared_arguments.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BAR_WIDTH 40u
#define ROWS_DEFAULT 30u

struct links_job {
	struct key_service service;
	bool json, all;
	uint32_t top; /* rows to print at most; 0: all */
	struct hd_key_client *client;
	struct hd_key_client_links *links;
	struct hd_key_client_withouts *without;
};

static const struct argument arguments[] = {
    KEY_SERVICE_ARGUMENTS(struct links_job, service),
    {'a', "all", NULL, "also links without flows", ARGUMENT_FLAG(struct links_job, all)},
    {0, "top", "N", "print the N most loaded links (default 30; 0: all)",
     ARGUMENT_NUMBER(struct links_job, top, 0, UINT32_MAX)},
    SHARED_JSON(struct links_job, json),
};

static const struct usage usage = {
    .synopsis = "heddle key links [OPTION]...",
    .summary = "Shows how many flows of active keys cross each link between switches.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .statuses = {"the links are shown", NULL, "bad usage, or no answer"},
};

/* Most flows first, then by GUID and port. */
static int compare(const void *left, const void *right)
{
	const struct hd_key_client_link *a = left, *b = right;

	if (a->flows != b->flows)
		return a->flows < b->flows ? 1 : -1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->port > b->port) - (a->port < b->port);
}

static json_t *link_json(const struct hd_key_client_link *link)
{
	return json_pack("{s:o, s:o, s:I, s:o, s:o, s:I}", "from", json_value_guid(link->from),
			 "from_name", json_value_text(link->from_name), "port",
			 (json_int_t)link->port, "to", json_value_guid(link->to), "to_name",
			 json_value_text(link->to_name), "flows", (json_int_t)link->flows);
}

static int show_json(const struct links_job *job)
{
	json_t *list = json_array();

	for (size_t i = 0; i < job->links->count; i++)
		list = json_value_append(list, link_json(&job->links->links[i]));
	return json_value_print(json_pack("{s:I, s:o, s:o}", "most", (json_int_t)job->links->most,
					  "links", list, "without_key",
					  key_without_json(job->without)),
				STATUS_CLEAN);
}

static void print_name(const char *name, uint64_t guid)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	printf("%-20.20s ", *name ? name : text);
}

static int show(const struct links_job *job)
{
	const struct hd_key_client_links *links = job->links;
	size_t rows = job->top && job->top < links->count ? job->top : links->count;
	uint32_t most = rows ? links->links[0].flows : 0;
	size_t loaded = 0;

	while (loaded < links->count && links->links[loaded].flows)
		loaded++;
	if (loaded)
		printf("%zu links carry flows of keys, at most %" PRIu32 " on one link\n", loaded,
		       most);
	else
		puts("no link carries flows of keys");
	key_without_print(job->without);
	if (!rows)
		return STATUS_CLEAN;
	printf("\n%-20s PORT  %-20s FLOWS\n", "FROM", "TO");
	for (size_t i = 0; i < rows; i++) {
		const struct hd_key_client_link *link = &links->links[i];
		uint64_t width = most ? (uint64_t)link->flows * BAR_WIDTH / most : 0;
		print_name(link->from_name, link->from);
		printf("%4" PRIu32 "  ", link->port);
		print_name(link->to_name, link->to);
		printf("%5" PRIu32 "  ", link->flows);
		for (uint64_t k = 0; k < width || (!k && link->flows); k++)
			putchar('#');
		putchar('\n');
	}
	if (rows < links->count)
		printf("%zu more; --top 0 prints all\n", links->count - rows);
	return STATUS_CLEAN;
}

static int run(void *context, const struct operands *operands)
{
	struct links_job *job = context;
	struct hd_key_client_problem problem;
	int status = arguments_expect(&usage, operands, "no operand", 0, 0);

	if (!status)
		status = key_service_open(&job->service, &job->client);
	if (status)
		return status;
	if (hd_key_client_links(job->client, job->all, &job->links, &problem) ||
	    hd_key_client_without_keys(job->client, &job->without, &problem))
		return key_service_fail(&problem);
	qsort(job->links->links, job->links->count, sizeof(*job->links->links), compare);
	return job->json ? show_json(job) : show(job);
}

int key_links(int argc, char **argv)
{
	struct links_job job = {.top = ROWS_DEFAULT};
	int status = arguments_run(&usage, argc, argv, &job, run);

	hd_key_client_links_free(job.links);
	hd_key_client_without_keys_free(job.without);
	hd_key_client_free(job.client);
	return status;
}
