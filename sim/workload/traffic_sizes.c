/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "traffic_sizes.h"

#include <heddle/base/random.h>
#include <heddle/base/text.h>
#include <heddle/sim/units.h>
#include <string.h>

static int one_size(const struct hd_cursor *piece, uint32_t *size, struct hd_error *err)
{
	struct hd_cursor trimmed = *piece;
	char text[HD_QUOTE_SIZE];
	uint64_t bytes;

	hd_cursor_trim(&trimmed);
	int rc = hd_sim_parse_size(hd_cursor_quote(&trimmed, text, sizeof(text)), &bytes, err);
	if (rc)
		return rc;
	if (!bytes)
		return hd_error_set(err, -ERANGE, "a message has at least 1 byte");
	*size = (uint32_t)bytes;
	return 0;
}

static int range(struct traffic_sizes *sizes, const struct hd_cursor *first,
		 const struct hd_cursor *last, struct hd_error *err)
{
	int rc = one_size(first, &sizes->least, err);

	if (!rc)
		rc = one_size(last, &sizes->most, err);
	if (!rc && sizes->most < sizes->least)
		rc = hd_error_set(err, -EINVAL, "the range of sizes ends before it begins");
	return rc;
}

int sizes_parse(const char *text, struct traffic_sizes *sizes, struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)}, piece;
	int rc = 0;

	*sizes = (struct traffic_sizes){0};
	if (hd_take_until(&cursor, "..", &piece))
		return range(sizes, &piece, &cursor, err);
	do {
		bool last = !hd_take_until(&cursor, ",", &piece);
		if (last) {
			piece = cursor;
			cursor.at = cursor.end;
		}
		if (sizes->count == SIZES_MAX)
			return hd_error_set(err, -ERANGE, "more than %u sizes", SIZES_MAX);
		rc = one_size(&piece, &sizes->list[sizes->count++], err);
		if (last)
			break;
	} while (!rc);
	return rc;
}

int sizes_check(const char *text, struct hd_error *err)
{
	struct traffic_sizes sizes;

	return sizes_parse(text, &sizes, err);
}

uint32_t sizes_draw(const struct traffic_sizes *sizes, uint64_t *random)
{
	if (sizes->count == 1)
		return sizes->list[0];
	if (sizes->count)
		return sizes->list[hd_random_below(random, sizes->count)];
	return sizes->least +
	       (uint32_t)hd_random_below(random, (uint64_t)sizes->most - sizes->least + 1);
}

/* The sum of ceil(size / mtu) over 1 .. last. */
static uint64_t packets_up_to(uint64_t last, uint64_t mtu)
{
	uint64_t full = last / mtu;

	return mtu * full * (full + 1) / 2 + (last - full * mtu) * (full + 1);
}

void sizes_total(const struct traffic_sizes *sizes, uint32_t mtu, uint32_t header,
		 uint64_t *payload, uint64_t *wire, uint64_t *count)
{
	uint64_t least = sizes->least, most = sizes->most, packets;

	if (!sizes->count) {
		*count = most - least + 1;
		*payload = (least + most) * *count / 2;
		packets = packets_up_to(most, mtu) - packets_up_to(least - 1, mtu);
		*wire = *payload + packets * header;
		return;
	}
	*count = sizes->count;
	*payload = *wire = 0;
	for (uint32_t i = 0; i < sizes->count; i++) {
		*payload += sizes->list[i];
		*wire += sizes_wire(sizes->list[i], mtu, header);
	}
}
