/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes a certificate: rows of hexadecimal numbers of the same width, without blanks. */
#include "write_stream.h"

#include <errno.h>
#include <heddle/fabric/certificate.h>
#include <inttypes.h>
#include <stdlib.h>

#define NONE HD_CERTIFICATE_NONE
#define DIGITS_MAX 8u

/* Digits for numbers up to `most`; the number whose digits are all f stays free. */
static unsigned digits_for(uint32_t most)
{
	unsigned digits = 1;

	while (digits < DIGITS_MAX && most >= (UINT32_C(1) << 4 * digits) - 1)
		digits++;
	return digits;
}

static uint32_t largest(const uint32_t *numbers, size_t count)
{
	uint32_t most = 0;

	for (size_t i = 0; i < count; i++)
		if (numbers[i] != NONE && numbers[i] > most)
			most = numbers[i];
	return most;
}

static char *put(char *at, uint32_t number, unsigned digits)
{
	for (unsigned digit = digits; digit-- > 0;)
		*at++ = "0123456789abcdef"[number >> 4 * digit & 15];
	return at;
}

static void write_row(const uint32_t *numbers, uint32_t count, unsigned digits, char *line,
		      FILE *stream)
{
	char *at = line;

	for (uint32_t i = 0; i < count; i++)
		at = put(at, numbers[i], digits);
	*at++ = '\n';
	fwrite(line, 1, (size_t)(at - line), stream);
}

static void write_lane(const struct hd_certificate *certificate, const struct hd_fabric *fabric,
		       unsigned lane, char *line, FILE *stream)
{
	const uint32_t *rank = certificate->rank[lane];
	unsigned digits = digits_for(largest(rank, fabric->isl_count));

	fprintf(stream, "lane %u digits %u\n", lane, digits);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t port_rank[HD_PORTS_MAX + 1], ports = hd_node_ports(fabric, sw);
		memset(port_rank, 0xFF, sizeof(port_rank));
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			port_rank[fabric->isl_port[link] - 1] = rank[link];
		write_row(port_rank, ports ? ports : 1, digits, line, stream);
	}
}

static void write_distances(const struct hd_certificate *certificate, char *line, FILE *stream)
{
	uint32_t switches = certificate->switch_count;
	unsigned digits =
	    digits_for(largest(certificate->distance, (size_t)certificate->row_count * switches));

	fprintf(stream, "distances %" PRIu32 " digits %u\n", certificate->row_count, digits);
	for (uint32_t row = 0; row < certificate->row_count; row++)
		write_row(certificate->distance + (size_t)row * switches, switches, digits, line,
			  stream);
}

static void write_lids(const struct hd_certificate *certificate, FILE *stream)
{
	uint32_t count = 0;

	for (uint32_t lid = 0; lid < certificate->lid_count; lid++)
		count += certificate->row_of_lid[lid] != HD_NONE;
	fprintf(stream, "lids %" PRIu32 "\n", count);
	for (uint32_t lid = 0; lid < certificate->lid_count; lid++)
		if (certificate->row_of_lid[lid] != HD_NONE)
			fprintf(stream, "0x%04" PRIx32 " %" PRIu32 "\n", lid,
				certificate->row_of_lid[lid]);
}

/* A digit for each port of a switch: 1 if packets that arrive by it come from above. */
static void write_above(const struct hd_certificate *certificate, const struct hd_fabric *fabric,
			char *line, FILE *stream)
{
	fputs("above digits 1\n", stream);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t is_above[HD_PORTS_MAX + 1], ports = hd_node_ports(fabric, sw);
		for (uint32_t port = 1; port <= ports; port++)
			is_above[port - 1] = hd_port_set_has(&certificate->above[sw], port);
		write_row(is_above, ports, 1, line, stream);
	}
}

/* Ranks, distances and LIDs. */
static void write_numbers(const struct hd_certificate *certificate, const struct hd_fabric *fabric,
			  char *line, FILE *stream)
{
	for (unsigned lane = 0; lane < HD_CERTIFICATE_LANES; lane++)
		if (certificate->lanes >> lane & 1)
			write_lane(certificate, fabric, lane, line, stream);
	write_distances(certificate, line, stream);
	write_lids(certificate, stream);
}

/* What the entry becomes, if that is not what it is after the change. */
static const char *const marks[] = {
    [HD_CERTIFICATE_NARROW] = " n", [HD_CERTIFICATE_TABLES] = " t", [HD_CERTIFICATE_AFTER] = ""};

static void write_steps(const struct hd_certificate_change *change, const struct hd_fabric *fabric,
			char *line, FILE *stream)
{
	for (uint32_t step = 0; step < change->step_count; step++) {
		const uint32_t base = change->step_base[step], end = change->step_base[step + 1];
		fprintf(stream, "step %" PRIu32 " entries %" PRIu32 "\n", step + 1, end - base);
		for (uint32_t i = base; i < end; i++)
			fprintf(stream, "0x%04" PRIx32 " %" PRIu32 "%s\n", change->entries[i].lid,
				change->entries[i].sw, marks[change->entries[i].becomes]);
		write_numbers(change->mixture[step], fabric, line, stream);
	}
}

/* `change` NULL: of tables alone. */
static int write_all(const struct hd_certificate *certificate,
		     const struct hd_certificate_change *change, const struct hd_fabric *fabric,
		     FILE *stream, struct hd_error *err)
{
	size_t numbers = fabric->switch_count > HD_PORTS_MAX ? fabric->switch_count : HD_PORTS_MAX;
	char *line = malloc(numbers * DIGITS_MAX + 1);

	if (!line)
		return hd_error_no_memory(err);
	errno = 0;
	fprintf(stream, "heddle certificate %d\n", HD_CERTIFICATE_VERSION);
	if (*certificate->made)
		fprintf(stream, "made %s\n", certificate->made);
	fprintf(stream, "unreached %" PRIu64 "\nswitches %" PRIu32 "\n", certificate->unreached,
		fabric->switch_count);
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		fprintf(stream, "0x%016" PRIx64 "\n", fabric->node_guid[sw]);
	if (certificate->above)
		write_above(certificate, fabric, line, stream);
	write_numbers(certificate, fabric, line, stream);
	if (change)
		write_steps(change, fabric, line, stream);
	fputs("end\n", stream);
	free(line);
	return write_stream_finish(stream, err);
}

int hd_certificate_write(const struct hd_certificate *certificate, const struct hd_fabric *fabric,
			 FILE *stream, struct hd_error *err)
{
	return write_all(certificate, NULL, fabric, stream, err);
}

int hd_certificate_change_write(const struct hd_certificate_change *change,
				const struct hd_fabric *fabric, FILE *stream, struct hd_error *err)
{
	return write_all(change->after, change, fabric, stream, err);
}
