/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * smp_client [window=N] [each=N] [timeout=MS] [retries=N] [ports=1|2] [stop=N] [guid=GUID]: reads
 * the forwarding tables of many switches through libibumad, for test_smp.py.
 *
 * Standard input has one switch a line, `lid LID` or `path PORT,PORT...`, and ends with an empty
 * line. With ports=2 two ports are open in this process, and the switches are theirs in turn. With
 * stop=N it prints `stopped` after N blocks and waits for a line. Then it prints for each switch:
 * its place, GUID, highest LID, result, and its table in hexadecimal; then counters.
 */
#include <errno.h>
#include <heddle/mad.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWITCHES_MAX 4000u
#define PORTS_MAX 2u

struct client {
	struct hd_umad_choice choice;
	struct hd_smp_limits limits;
	uint32_t port_count, stop;
	struct hd_umad_port *ports[PORTS_MAX];
	struct hd_smp_queue *queues[PORTS_MAX];
	struct hd_smp_address addresses[SWITCHES_MAX];
	struct hd_node_info nodes[SWITCHES_MAX];
	struct hd_lft_row rows[SWITCHES_MAX];
	int results[SWITCHES_MAX];
	uint32_t count;
};

static struct client client = {.limits = HD_SMP_LIMITS_DEFAULT, .port_count = 1};

static void parse_option(const char *word)
{
	uint64_t guid;
	uint32_t number;

	if (sscanf(word, "window=%u", &number) == 1)
		client.limits.window = number;
	else if (sscanf(word, "each=%u", &number) == 1)
		client.limits.each = number;
	else if (sscanf(word, "timeout=%u", &number) == 1)
		client.limits.timeout_ms = number;
	else if (sscanf(word, "retries=%u", &number) == 1)
		client.limits.retries = number;
	else if (sscanf(word, "ports=%u", &number) == 1 && number && number <= PORTS_MAX)
		client.port_count = number;
	else if (sscanf(word, "stop=%u", &number) == 1)
		client.stop = number;
	else if (sscanf(word, "guid=%" SCNx64, &guid) == 1)
		client.choice.port_guid = guid;
	else
		fprintf(stderr, "not understood: %s\n", word);
}

static void parse_path(char *text, struct hd_smp_address *address)
{
	for (char *word = strtok(text, ",\n"); word; word = strtok(NULL, ",\n"))
		address->path[++address->hop_count] = (uint8_t)atoi(word);
}

static void read_addresses(void)
{
	char line[256];

	while (client.count < SWITCHES_MAX && fgets(line, sizeof(line), stdin) && *line != '\n') {
		struct hd_smp_address *address = &client.addresses[client.count++];

		if (!strncmp(line, "lid ", 4))
			address->lid = (uint16_t)atoi(line + 4);
		else
			parse_path(line + 5, address);
	}
}

static struct hd_smp_queue *queue_of(uint32_t index)
{
	return client.queues[index % client.port_count];
}

static void on_switch_info(void *cookie, const struct hd_smp_result *result)
{
	struct hd_switch_info info;
	uint32_t index = result->destination;

	(void)cookie;
	client.results[index] = result->rc;
	if (result->rc)
		return;
	hd_switch_info_decode(result->data, &info);
	client.rows[index] = (struct hd_lft_row){.destination = index,
						 .top_lid = info.linear_top,
						 .ports = calloc(1, hd_lft_size(info.linear_top))};
	if (!client.rows[index].ports || hd_lft_read(queue_of(index), &client.rows[index]))
		client.results[index] = -ENOMEM;
}

static void on_node_info(void *cookie, const struct hd_smp_result *result)
{
	struct hd_smp smp = {.method = HD_SMP_GET, .attribute = HD_SMP_SWITCH_INFO};
	uint32_t index = result->destination;

	client.results[index] = result->rc;
	if (result->rc)
		return;
	hd_node_info_decode(result->data, &client.nodes[index]);
	client.results[index] =
	    hd_smp_queue_submit(queue_of(index), index, &smp, on_switch_info, cookie);
}

/* Both queues, by their descriptors; stops half-way if asked to. */
static int run(void)
{
	for (;;) {
		struct pollfd wanted[PORTS_MAX];
		uint64_t done = 0;
		uint32_t pending = 0;
		int timeout = -1;

		for (uint32_t i = 0; i < client.port_count; i++) {
			const struct hd_smp_port *port = hd_umad_port_smp(client.ports[i]);
			int rc = hd_smp_queue_work(client.queues[i]);
			int wait = hd_smp_queue_timeout(client.queues[i]);

			if (rc)
				return rc;
			wanted[i] = (struct pollfd){.fd = port->descriptor(port->context),
						    .events = POLLIN};
			timeout = timeout < 0 || (wait >= 0 && wait < timeout) ? wait : timeout;
			pending += hd_smp_queue_pending(client.queues[i]);
			done += hd_smp_queue_counts(client.queues[i])->done;
		}
		if (!pending)
			return 0;
		if (client.stop && done >= client.stop) {
			client.stop = 0;
			puts("stopped");
			fflush(stdout);
			(void)getchar();
		}
		poll(wanted, client.port_count, timeout);
	}
}

static int start(struct hd_error *err)
{
	for (uint32_t i = 0; i < client.port_count; i++) {
		int rc = hd_umad_port_open(&client.choice, &client.ports[i], err);

		if (rc)
			return rc;
		client.queues[i] = hd_smp_queue_new(hd_umad_port_smp(client.ports[i]),
						    &client.limits, client.count);
		if (!client.queues[i])
			return hd_error_no_memory(err);
	}
	for (uint32_t i = 0; i < client.count; i++) {
		struct hd_smp smp = {.method = HD_SMP_GET, .attribute = HD_SMP_NODE_INFO};

		hd_smp_queue_aim(queue_of(i), i, &client.addresses[i]);
		if (hd_smp_queue_submit(queue_of(i), i, &smp, on_node_info, NULL))
			return hd_error_no_memory(err);
	}
	return 0;
}

static void print(void)
{
	for (uint32_t i = 0; i < client.count; i++) {
		const struct hd_lft_row *row = &client.rows[i];

		printf("%u 0x%016" PRIx64 " %u %d ", i, client.nodes[i].guid, row->top_lid,
		       client.results[i] ? client.results[i] : row->rc);
		for (uint32_t lid = 0; row->ports && lid <= row->top_lid; lid++)
			printf("%02x", row->ports[lid]);
		putchar('\n');
	}
	for (uint32_t i = 0; i < client.port_count; i++) {
		const struct hd_smp_counts *counts = hd_smp_queue_counts(client.queues[i]);

		printf("counts %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", counts->sent,
		       counts->repeated, counts->late);
	}
}

int main(int argc, char **argv)
{
	struct hd_error err = {""};
	int rc;

	for (int i = 1; i < argc; i++)
		parse_option(argv[i]);
	read_addresses();
	rc = start(&err);
	if (!rc)
		rc = run();
	if (rc)
		fprintf(stderr, "smp_client: %s (%d)\n", err.text, rc);
	else
		print();
	for (uint32_t i = 0; i < client.port_count; i++) {
		hd_smp_queue_free(client.queues[i]);
		hd_umad_port_close(client.ports[i]);
	}
	for (uint32_t i = 0; i < client.count; i++)
		free(client.rows[i].ports);
	return rc ? 1 : 0;
}
