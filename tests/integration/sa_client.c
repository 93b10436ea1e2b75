/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sa_client SM_LID: sends requests to the SA through libibumad, many at a time.
 *
 * Standard input has one request a line: `METHOD ATTRIBUTE RMPP MASK RECORD`, all in hexadecimal;
 * RMPP is the byte of RMPP flags, RECORD has up to 200 bytes. The answers come in the order of the
 * requests: `METHOD ATTRIBUTE STATUS OFFSET RECORDS`, with all 200 bytes behind the header, or
 * `lost` if no answer came.
 */
#include <endian.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 64u /* requests under way */
#define MAD_SIZE 256u
#define DATA 56u /* where the record begins */
#define DATA_SIZE 200u
#define SA_CLASS 3
#define SA_VERSION 2
#define QUEUE_KEY 0x80010000u
#define PATIENCE_MS 2000
#define TRIES 5u

struct request {
	unsigned method, attribute, rmpp;
	uint64_t mask;
	uint8_t record[DATA_SIZE];
	uint8_t answer[MAD_SIZE];
	int answered;
};

static struct request *requests;
static size_t request_count;
static int port, agent, sm_lid;
static void *buffer;

static int read_request(char *line, struct request *request)
{
	char *text = line;
	unsigned byte;
	int used = 0;

	memset(request, 0, sizeof(*request));
	if (sscanf(text, "%x %x %x %" SCNx64 " %n", &request->method, &request->attribute,
		   &request->rmpp, &request->mask, &used) != 4)
		return -1;
	text += used;
	for (unsigned i = 0; i < DATA_SIZE && sscanf(text, "%2x", &byte) == 1; i++, text += 2)
		request->record[i] = (uint8_t)byte;
	return 0;
}

static void read_requests(void)
{
	char line[1024];
	size_t room = 0;

	while (fgets(line, sizeof(line), stdin)) {
		if (request_count == room) {
			room = room * 2 + 1024;
			requests = realloc(requests, room * sizeof(*requests));
			if (!requests)
				exit(2);
		}
		if (read_request(line, &requests[request_count++])) {
			fprintf(stderr, "sa_client: not a request: %s", line);
			exit(2);
		}
	}
}

static void put(uint8_t *mad, size_t offset, uint64_t value, size_t size)
{
	uint64_t big = htobe64(value);

	memcpy(mad + offset, (uint8_t *)&big + sizeof(big) - size, size);
}

static uint64_t get(const uint8_t *mad, size_t offset, size_t size)
{
	uint64_t big = 0;

	memcpy((uint8_t *)&big + sizeof(big) - size, mad + offset, size);
	return be64toh(big);
}

static void send_request(size_t index)
{
	const struct request *request = &requests[index];
	uint8_t *mad = umad_get_mad(buffer);

	memset(buffer, 0, umad_size() + MAD_SIZE);
	put(mad, 0, 1, 1);
	put(mad, 1, SA_CLASS, 1);
	put(mad, 2, SA_VERSION, 1);
	put(mad, 3, request->method, 1);
	put(mad, 8, index + 1, 8);
	put(mad, 16, request->attribute, 2);
	put(mad, 26, request->rmpp, 1);
	put(mad, 48, request->mask, 8);
	memcpy(mad + DATA, request->record, DATA_SIZE);
	umad_set_addr(buffer, sm_lid, 1, 0, (int)QUEUE_KEY);
	if (umad_send(port, agent, buffer, MAD_SIZE, PATIENCE_MS, 0)) {
		perror("sa_client: umad_send");
		exit(2);
	}
}

/* Waits for one answer. Returns whether one came that was still missing. */
static int receive(void)
{
	int length = MAD_SIZE;

	if (umad_recv(port, buffer, &length, PATIENCE_MS) < 0)
		return 0;
	const uint8_t *mad = umad_get_mad(buffer);
	size_t index = (size_t)(get(mad, 8, 8) & UINT32_MAX) - 1;
	if (index >= request_count || requests[index].answered || !(mad[3] & 0x80))
		return 0;
	memcpy(requests[index].answer, mad, MAD_SIZE);
	requests[index].answered = 1;
	return 1;
}

/* The requests that are not answered yet, once. */
static void round_of_requests(void)
{
	size_t under_way = 0, next = 0;

	while (next < request_count || under_way) {
		for (; next < request_count && under_way < WINDOW; next++)
			if (!requests[next].answered) {
				send_request(next);
				under_way++;
			}
		if (!under_way)
			break;
		if (receive())
			under_way--;
		else
			under_way = 0; /* they come again in the next round */
	}
}

static void print_answer(const struct request *request)
{
	const uint8_t *mad = request->answer;

	if (!request->answered) {
		puts("lost");
		return;
	}
	printf("%x %x %x %x ", (unsigned)get(mad, 3, 1), (unsigned)get(mad, 16, 2),
	       (unsigned)get(mad, 4, 2), (unsigned)get(mad, 44, 2));
	for (unsigned i = 0; i < DATA_SIZE; i++)
		printf("%02x", mad[DATA + i]);
	putchar('\n');
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	sm_lid = atoi(argv[1]);
	read_requests();
	umad_init();
	port = umad_open_port(NULL, 0);
	agent = umad_register(port, SA_CLASS, SA_VERSION, 0, NULL);
	buffer = umad_alloc(1, umad_size() + MAD_SIZE);
	if (port < 0 || agent < 0 || !buffer) {
		fprintf(stderr, "sa_client: no umad port (%d) or agent (%d)\n", port, agent);
		return 2;
	}
	for (unsigned try = 0; try < TRIES; try++)
		round_of_requests();
	for (size_t i = 0; i < request_count; i++)
		print_answer(&requests[i]);
	free(requests);
	umad_free(buffer);
	umad_close_port(port);
	return 0;
}
