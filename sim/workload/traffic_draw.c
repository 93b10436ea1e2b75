/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What traffic draws: random variables, sizes of messages, frames of video streams.
 *
 * All kinds of traffic use it. Logarithm and power are our own, of additions, multiplications and divisions alone, so
 * that a seed gives the same run on every machine. Sizes are one, a list or a range, with exact means, since rates
 * follow from them. Frames follow a fixed group of pictures; draw_frames_arrive() keeps the receiver's deadlines.
 * traffic_draw.h has sources and formulas.
 */
#include "traffic_draw.h"

#include <errno.h>
#include <heddle/base/random.h>
#include <heddle/base/text.h>
#include <heddle/sim/units.h>
#include <math.h>
#include <string.h>

#define LN2 0.693147180559945309417232121458
#define SQRT_HALF 0.707106781186547524400844362105

/* value = mantissa * 2^exponent, mantissa in [sqrt(1/2), sqrt(2)); value is normal. */
static double split(double value, int *exponent)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	*exponent = (int)(bits >> 52 & 0x7FF) - 1022;
	bits = (bits & UINT64_C(0x000FFFFFFFFFFFFF)) | UINT64_C(1022) << 52;
	memcpy(&value, &bits, sizeof(value));
	if (value < SQRT_HALF) {
		value *= 2;
		--*exponent;
	}
	return value;
}

/* ln m = 2 artanh((m - 1) / (m + 1)); the argument is at most 0.172, its series ends at 1e-17. */
double draw_logarithm(double value)
{
	static const double inverse[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
					 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,	 1.0};
	int exponent;
	double mantissa = split(value, &exponent);
	double t = (mantissa - 1) / (mantissa + 1), square = t * t, sum = 0;

	for (unsigned k = 0; k < sizeof(inverse) / sizeof(inverse[0]); k++)
		sum = sum * square + inverse[k];
	return 2 * t * sum + exponent * LN2;
}

/* e^x = (e^(x / 1024))^1024, the former by its series. */
double draw_power(double exponent)
{
	double x = exponent / 1024, sum = 1;

	for (int k = 12; k >= 1; k--)
		sum = 1 + sum * x / k;
	for (int k = 0; k < 10; k++)
		sum *= sum;
	return sum;
}

double draw_uniform(uint64_t *random)
{
	return ((double)(hd_random_next(random) >> 12) + 0.5) / 4503599627370496.0; /* 2^52 */
}

double draw_exponential(uint64_t *random)
{
	return -draw_logarithm(draw_uniform(random));
}

double draw_normal(uint64_t *random)
{
	double x, square;

	do {
		double y = 2 * draw_uniform(random) - 1;

		x = 2 * draw_uniform(random) - 1;
		square = x * x + y * y;
	} while (square >= 1);
	return x * sqrt(-2 * draw_logarithm(square) / square);
}

double draw_lognormal(uint64_t *random, double deviation)
{
	double variance = draw_logarithm(1 + deviation * deviation);

	return draw_power(sqrt(variance) * draw_normal(random) - variance / 2);
}

void draw_order(uint64_t *random, uint32_t *values, uint32_t count)
{
	for (uint32_t i = count; i > 1; i--) {
		uint32_t j = (uint32_t)hd_random_below(random, i), kept = values[i - 1];

		values[i - 1] = values[j];
		values[j] = kept;
	}
}

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

int draw_sizes_parse(const char *text, struct traffic_sizes *sizes, struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)}, piece;
	int rc = 0;

	*sizes = (struct traffic_sizes){0};
	if (hd_take_until(&cursor, "..", &piece)) {
		rc = one_size(&piece, &sizes->least, err);

		if (!rc)
			rc = one_size(&cursor, &sizes->most, err);
		if (!rc && sizes->most < sizes->least)
			rc = hd_error_set(err, -EINVAL, "the range of sizes ends before it begins");
		return rc;
	}
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

int draw_sizes_check(const char *text, struct hd_error *err)
{
	struct traffic_sizes sizes;

	return draw_sizes_parse(text, &sizes, err);
}

uint32_t draw_sizes_next(const struct traffic_sizes *sizes, uint64_t *random)
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

void draw_sizes_total(const struct traffic_sizes *sizes, uint32_t mtu, uint32_t header,
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

static const char letters[] = "IPB";

int draw_frames_check_group(const char *group, struct hd_error *err)
{
	size_t length = strlen(group);

	if (!length || length > FRAMES_GROUP_MAX || strspn(group, letters) != length ||
	    group[0] != 'I')
		return hd_error_set(err, -EINVAL,
				    "'%s' is no group of pictures such as IBBPBBPBBPBB", group);
	return 0;
}

int draw_frames_model(struct frame_model *model, const char *group, const int64_t *weights,
		      const int64_t *deviations, uint32_t rate, struct hd_error *err)
{
	double sum = 0;
	int rc = draw_frames_check_group(group, err);

	if (rc)
		return rc;
	*model = (struct frame_model){.length = (uint32_t)strlen(group), .rate = rate};
	for (uint32_t i = 0; i < model->length; i++) {
		model->type[i] = (uint8_t)(strchr(letters, group[i]) - letters);
		sum += (double)weights[model->type[i]];
	}
	for (uint32_t t = 0; t < FRAME_TYPES; t++) {
		model->weight[t] = (double)weights[t] * model->length / sum;
		model->deviation[t] = (double)deviations[t] / 100;
	}
	return 0;
}

uint32_t draw_frames_size(const struct frame_model *model, uint64_t number, double mean,
			  uint64_t *random)
{
	uint8_t type = model->type[number % model->length];
	double size =
	    mean * model->weight[type] * draw_lognormal(random, model->deviation[type]) + 0.5;

	if (size < 1)
		return 1;
	return size < 1e9 ? (uint32_t)size : 1000000000u;
}

/* Frames may overtake each other on several paths, so the deadline of an earlier one is asked for
 * too. */
static uint64_t due_time(const struct frame_model *model, const struct frame_deadline *deadline,
			 uint64_t number)
{
	if (number >= deadline->number)
		return deadline->due + frames_time(model, number - deadline->number);
	uint64_t back = frames_time(model, deadline->number - number);
	return deadline->due > back ? deadline->due - back : 0;
}

uint64_t draw_frames_arrive(const struct frame_model *model, struct frame_deadline *deadline,
			    uint64_t number, uint64_t arrival, uint64_t first)
{
	if (!deadline->begun)
		*deadline = (struct frame_deadline){true, number, first, number};
	uint64_t due = due_time(model, deadline, number);
	bool latest = number >= deadline->last;
	if (latest)
		deadline->last = number;
	if (arrival <= due)
		return 0;
	if (latest) {
		deadline->number = number;
		deadline->due = arrival;
	}
	return arrival - due;
}
