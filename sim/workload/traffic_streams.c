/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "traffic_streams.h"

#include <errno.h>
#include <heddle/base/text.h>
#include <math.h>

int streams_read_rates(struct stream_rates *rates, const char *text, struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)}, piece;
	char rate[HD_QUOTE_SIZE];
	int rc = 0;

	do {
		if (rates->count == STREAM_RATES_MAX)
			return hd_error_set(err, -ERANGE, "more than %u rates", STREAM_RATES_MAX);
		if (!hd_take_until(&cursor, ",", &piece)) {
			piece = cursor;
			cursor.at = cursor.end;
		}
		hd_cursor_trim(&piece);
		hd_cursor_quote(&piece, rate, sizeof(rate));
		rc = hd_sim_parse_rate(rate, &rates->rate[rates->count], err);
		if (!rc && !rates->rate[rates->count++])
			rc = hd_error_set(err, -ERANGE, "a rate is 0");
	} while (!rc && !hd_cursor_done(&cursor));
	return rc;
}

int streams_check_rates(const char *text, struct hd_error *err)
{
	struct stream_rates rates = {.count = 0};

	return streams_read_rates(&rates, text, err);
}

/* Bytes on the cable of a mean frame are mean * *factor + *constant: on average the last packet is
 * half full. */
static void wire_bytes(const struct hd_traffic *traffic, const struct stream_rates *rates,
		       double *factor, double *constant)
{
	double mtu = traffic->mtu, header = traffic->header;

	*factor = 1 + header / mtu;
	*constant = (rates->whole_packets ? mtu + header : header) / 2;
}

double streams_mean_frame(const struct stream_rates *rates, uint32_t host, uint32_t stream)
{
	uint64_t rate = rates->rate[((uint64_t)host + stream) % rates->count];

	return (double)rate / 8 / rates->frames;
}

struct stream_plan streams_plan(const struct stream_rates *rates, const struct hd_traffic *traffic,
				uint32_t endpoint, uint32_t host, uint64_t load)
{
	double cable = (double)traffic->places.rate[endpoint];
	double wanted = cable / 8 / rates->frames * (double)load / 1e6; /* bytes a frame time */
	double factor, constant, mean = 0, sum = 0;

	wire_bytes(traffic, rates, &factor, &constant);
	for (uint32_t i = 0; i < rates->count; i++)
		mean += streams_mean_frame(rates, 0, i) / rates->count;
	double count = floor(wanted / (mean * factor + constant) + 0.5);
	uint32_t streams = count < 1 ? 1 : count < 1e6 ? (uint32_t)count : 1000000;
	for (uint32_t k = 0; k < streams; k++)
		sum += streams_mean_frame(rates, host, k) * factor;
	double scale = (wanted - streams * constant) / sum;
	return (struct stream_plan){streams, scale > 0.01 ? scale : 0.01};
}
