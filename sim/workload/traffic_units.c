/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decimal numbers are exact fractions here: a whole number over a power of ten. */
#include <heddle/sim/settings.h>
#include <heddle/sim/units.h>

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define DIGITS_MAX 18 /* a number of so many digits fits into 64 bits */

struct unit {
	const char *name;
	uint64_t factor;
};

struct amount {
	uint64_t digits; /* the number without its point */
	uint64_t scale; /* by which they are divided: a power of ten */
	const char *unit; /* what follows */
};

static const struct unit times[] = {{"ps", 1},
				    {"ns", 1000},
				    {"us", HD_SIM_MICROSECOND},
				    {"ms", 1000 * HD_SIM_MICROSECOND},
				    {"s", HD_SIM_SECOND},
				    {NULL, 0}};
static const struct unit sizes[] = {
    {"B", 1},		{"", 1},	{"kB", 1000},	       {"KB", 1000},	  {"MB", 1000000},
    {"GB", 1000000000}, {"KiB", 1024u}, {"MiB", 1024u * 1024}, {"GiB", 1u << 30}, {NULL, 0}};
static const struct unit rates[] = {
    {"b/s", 1},	    {"kb/s", 1000}, {"Mb/s", 1000000}, {"Gb/s", 1000000000},	       {"B/s", 8},
    {"kB/s", 8000}, {"KB/s", 8000}, {"MB/s", 8000000}, {"GB/s", UINT64_C(8000000000)}, {NULL, 0}};
static const struct unit shares[] = {{"%", 10000}, {"", 1000000}, {NULL, 0}};

static bool take_number(const char *text, struct amount *amount)
{
	bool point = false;
	int digits = 0, all = 0;

	*amount = (struct amount){.scale = 1};
	for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
		if (*text == '.') {
			point = true;
			continue;
		}
		amount->digits = amount->digits * 10 + (uint64_t)(*text - '0');
		amount->scale *= point ? 10 : 1;
		digits += amount->digits > 0 || point;
		all++;
		if (digits > DIGITS_MAX)
			return false;
	}
	while (*text == ' ' || *text == '\t')
		text++;
	amount->unit = text;
	return all > 0;
}

/* digits * factor / scale, rounded; false beyond `most`. */
static bool multiply(const struct amount *amount, uint64_t factor, uint64_t most, uint64_t *value)
{
	__extension__ typedef unsigned __int128 wide;
	wide exact = (wide)amount->digits * factor + amount->scale / 2;

	exact /= amount->scale;
	if (exact > most)
		return false;
	*value = (uint64_t)exact;
	return true;
}

struct measure {
	const struct unit *units;
	const char *expected; /* for messages */
	uint64_t most;
};

static int units_parse(const char *text, const struct measure *measure, uint64_t *value,
		       struct hd_error *err)
{
	const struct unit *unit = measure->units;
	struct amount amount;

	if (!take_number(text, &amount))
		return hd_error_set(err, -EINVAL, "'%s': expected %s", text, measure->expected);
	while (unit->name && strcmp(unit->name, amount.unit))
		unit++;
	bool bare_zero = !amount.digits && !*amount.unit;
	if (!unit->name && !bare_zero)
		return hd_error_set(err, -EINVAL, "'%s': expected %s", text, measure->expected);
	if (!multiply(&amount, bare_zero ? 1 : unit->factor, measure->most, value))
		return hd_error_set(err, -ERANGE, "'%s' is too large", text);
	return 0;
}

int hd_sim_parse_time(const char *text, uint64_t *picoseconds, struct hd_error *err)
{
	static const struct measure measure = {
	    times, "a time such as 10 us, 33.3 ms, 2 s, or never", HD_SIM_NEVER - 1};

	if (!strcmp(text, "never")) {
		*picoseconds = HD_SIM_NEVER;
		return 0;
	}
	return units_parse(text, &measure, picoseconds, err);
}

int hd_sim_parse_size(const char *text, uint64_t *bytes, struct hd_error *err)
{
	static const struct measure measure = {
	    sizes, "a size such as 2048, 2 kB (2000 bytes), 32 KiB (32768 bytes)", UINT32_MAX};

	return units_parse(text, &measure, bytes, err);
}

int hd_sim_parse_rate(const char *text, uint64_t *bits_per_second, struct hd_error *err)
{
	static const struct measure measure = {
	    rates, "a rate such as 40 Gb/s (bits) or 5 GB/s (bytes)", UINT64_C(1000000000000000)};

	return units_parse(text, &measure, bits_per_second, err);
}

int hd_sim_parse_share(const char *text, uint64_t *millionths, struct hd_error *err)
{
	static const struct measure measure = {shares, "a share such as 60% or 0.6, at most 1",
					       1000000};

	return units_parse(text, &measure, millionths, err);
}

int hd_sim_check_time(const char *text, struct hd_error *err)
{
	uint64_t value;

	return hd_sim_parse_time(text, &value, err);
}

int hd_sim_check_size(const char *text, struct hd_error *err)
{
	uint64_t value;

	return hd_sim_parse_size(text, &value, err);
}

int hd_sim_check_rate(const char *text, struct hd_error *err)
{
	uint64_t value;

	return hd_sim_parse_rate(text, &value, err);
}

int hd_sim_check_share(const char *text, struct hd_error *err)
{
	uint64_t value;

	return hd_sim_parse_share(text, &value, err);
}
