/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sections [model] and [run]: their keys with defaults, and how they become the settings of a simulation.
 *
 * Tables of keys drive the reader, the man page and `heddle sim --keys`. scenario_settings_read() is called for each
 * point with keys that have been checked one by one; it fills struct hd_sim_settings and lets hd_sim_settings_check()
 * judge them together. scenario_settings_number() reads values of expectations, also fractions such as 1/3.
 */
#include "scenario_parts.h"

#include <heddle/sim/units.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS_MAX 10000u

#define TIME(key, text, what)                                                                      \
	{                                                                                          \
		.name = key, .summary = what, .type = HD_OPTION_STRING, .fallback = text,          \
		.validate = hd_sim_check_time                                                      \
	}
#define RATE(key, text, what)                                                                      \
	{                                                                                          \
		.name = key, .summary = what, .type = HD_OPTION_STRING, .fallback = text,          \
		.validate = hd_sim_check_rate                                                      \
	}
#define SIZE(key, text, what)                                                                      \
	{                                                                                          \
		.name = key, .summary = what, .type = HD_OPTION_STRING, .fallback = text,          \
		.validate = hd_sim_check_size                                                      \
	}
#define CHOICE(key, text, words, what)                                                             \
	{                                                                                          \
		.name = key, .summary = what, .type = HD_OPTION_CHOICE, .fallback = text,          \
		.choices = words                                                                   \
	}
#define NUMBER(key, text, least, most, what)                                                       \
	{                                                                                          \
		.name = key, .summary = what, .type = HD_OPTION_INT, .fallback = text,             \
		.minimum = least, .maximum = most                                                  \
	}
#define FLAG(key, text, what)                                                                      \
	{                                                                                          \
		.name = key, .summary = what, .type = HD_OPTION_BOOL, .fallback = text             \
	}
#define TEXT(key, text, what)                                                                      \
	{                                                                                          \
		.name = key, .summary = what, .type = HD_OPTION_STRING, .fallback = text           \
	}

static int check_mtu(const char *text, struct hd_error *err)
{
	uint64_t mtu;

	if (!hd_sim_parse_size(text, &mtu, NULL) && mtu >= 256 && mtu <= 4096 && !(mtu & (mtu - 1)))
		return 0;
	return hd_error_set(err, -EINVAL,
			    "'%s': expected an MTU of InfiniBand: 256, 512, 1024, 2048 or 4096",
			    text);
}

const struct hd_option scenario_model_keys[] = {
    RATE("bit_rate", "40 Gb/s", "rate of cables whose rate the fabric does not give"),
    RATE("forced_rate", "0", "rate of all cables; 0: what the fabric says"),
    TIME("link_latency", "100 ns", "from end to end of a cable"),
    {.name = "mtu",
     .summary = "payload of a packet, at most: 256, 512, 1024, 2048 or 4096",
     .type = HD_OPTION_STRING,
     .fallback = "2048",
     .validate = check_mtu},
    SIZE("header", "26", "bytes that each packet has besides"),
    TIME("switch_latency", "100 ns", "from a packet's first byte in to its first byte out"),
    FLAG("store_and_forward", "no", "a packet leaves a switch after its last byte has come"),
    NUMBER("lanes", "1", 1, 15, "data lanes that ports have"),
    SIZE("buffer", "32 KiB", "for each lane of an input port"),
    SIZE("central_buffer", "256 KiB", "of a switch, for replication = central"),
    CHOICE("queueing", "fifo", "fifo|voq", "one queue in a buffer, or one for each output port"),
    CHOICE("selection", "round-robin",
	   "round-robin|least-loaded|least-used|most-credits|conga|load-grades|least-used-lane",
	   "how a switch chooses among several ports"),
    SIZE("load_grade", "0",
	 "selection = load-grades: load of a grade; 0: that of the next input's buffer"),
    CHOICE("replication", "synchronous", "synchronous|asynchronous|central",
	   "how a switch copies multicast packets"),
    FLAG("multicast_first", "no", "in switches, multicast packets go before others of their lane"),
    TEXT("arbitration_high", "", "VL:WEIGHT,... of high priority"),
    TEXT("arbitration_low", "", "VL:WEIGHT,... of low priority; both empty: lanes take turns"),
    NUMBER("high_limit", "0", 0, 255, "4096 bytes of high priority before a low packet"),
    CHOICE("priority", "everywhere", "everywhere|hosts",
	   "where the lanes of arbitration_high go first; hosts: in switches both tables are one"),
    FLAG("sl_is_vl", "no", "SL n takes lane n; else the tables say which"),
    TIME("ageing_time", "30 us", "without a packet, before a Bounded entry may change its port"),
    TIME("flowlet_gap", "500 us", "Conga: without a packet, before a flow may change its path"),
    TIME("conga_tau", "160 us", "Conga: over which the rate of an output is averaged"),
    TIME("conga_age", "10 ms", "Conga: after which a leaf forgets the congestion of a path"),
    TIME("head_lifetime", "never", "for which a packet may be first in its queue"),
    TIME("switch_lifetime", "never", "for which a packet may be in a switch"),
    SIZE("host_buffer", "64 KiB", "of a lane into which a host receives"),
    TIME("deadlock_check", "0", "between two searches for deadlocks; 0: if nothing moves"),
};
const unsigned scenario_model_key_count =
    sizeof(scenario_model_keys) / sizeof(scenario_model_keys[0]);

const struct hd_option scenario_run_keys[] = {
    TIME("duration", "never", "when the run ends; never: when the traffic has ended"),
    TIME("warm_up", "0", "nothing before this time counts"),
    TIME("bin", "0", "of the throughput over time; 0: no series"),
    TEXT("seeds", "1", "how many seeds, or a list of them: 3, 5, 9"),
    FLAG("exact", "no", "runs draw nothing at random: one seed decides"),
};
const unsigned scenario_run_key_count = sizeof(scenario_run_keys) / sizeof(scenario_run_keys[0]);

static uint64_t time_of(const struct hd_options *options, const char *key)
{
	uint64_t value = 0;

	hd_sim_parse_time(hd_options_get(options, key)->text, &value, NULL);
	return value;
}

static uint64_t rate_of(const struct hd_options *options, const char *key)
{
	uint64_t value = 0;

	hd_sim_parse_rate(hd_options_get(options, key)->text, &value, NULL);
	return value;
}

static uint32_t size_of(const struct hd_options *options, const char *key)
{
	uint64_t value = 0;

	hd_sim_parse_size(hd_options_get(options, key)->text, &value, NULL);
	return (uint32_t)value;
}

static int64_t number_of(const struct hd_options *options, const char *key)
{
	return hd_options_get(options, key)->number;
}

/* "0:64, 1:32" */
static int arbitration(const char *text, struct hd_sim_arbitration_entry *entries, uint32_t *count,
		       struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)};

	*count = 0;
	for (hd_take_blanks(&cursor); !hd_cursor_done(&cursor); hd_take_blanks(&cursor)) {
		uint32_t lane, weight;
		if (*count == HD_SIM_ARBITRATION_MAX || !hd_take_decimal(&cursor, &lane) ||
		    !hd_take_text(&cursor, ":") || !hd_take_decimal(&cursor, &weight) ||
		    lane >= HD_SIM_LANES || weight > 255)
			return hd_error_set(err, -EINVAL,
					    "'%s' is no list VL:WEIGHT,... of at most %u entries "
					    "with VL 0..15 and weight 0..255",
					    text, HD_SIM_ARBITRATION_MAX);
		entries[(*count)++] =
		    (struct hd_sim_arbitration_entry){(uint8_t)lane, (uint8_t)weight};
		hd_take_blanks(&cursor);
		hd_take_text(&cursor, ",");
	}
	return 0;
}

static int read_arbitration(const struct hd_options *options, struct hd_sim_arbitration *out,
			    struct hd_error *err)
{
	int rc = arbitration(hd_options_get(options, "arbitration_high")->text, out->high,
			     &out->high_count, err);

	out->hosts_alone = number_of(options, "priority");
	out->high_limit = (uint8_t)number_of(options, "high_limit");
	return rc ? rc
		  : arbitration(hd_options_get(options, "arbitration_low")->text, out->low,
				&out->low_count, err);
}

/* What the section does not give stays as the simulator has it. */
static int read_model(const struct hd_options *options, struct hd_sim_settings *out,
		      struct hd_error *err)
{
	out->bit_rate = rate_of(options, "bit_rate");
	out->forced_rate = rate_of(options, "forced_rate");
	out->link_latency = time_of(options, "link_latency");
	out->mtu = size_of(options, "mtu");
	out->header = size_of(options, "header");
	out->switch_latency = time_of(options, "switch_latency");
	out->store_and_forward = number_of(options, "store_and_forward");
	out->lanes = (uint32_t)number_of(options, "lanes");
	out->buffer = size_of(options, "buffer");
	out->central_buffer = size_of(options, "central_buffer");
	out->queueing = (enum hd_sim_queueing)number_of(options, "queueing");
	out->selection = (enum hd_sim_selection)number_of(options, "selection");
	out->load_grade = size_of(options, "load_grade");
	out->replication = (enum hd_sim_replication)number_of(options, "replication");
	out->multicast_first = number_of(options, "multicast_first");
	out->sl_is_vl = number_of(options, "sl_is_vl");
	out->ageing_time = time_of(options, "ageing_time");
	out->flowlet_gap = time_of(options, "flowlet_gap");
	out->conga_tau = time_of(options, "conga_tau");
	out->conga_age = time_of(options, "conga_age");
	out->head_lifetime = time_of(options, "head_lifetime");
	out->switch_lifetime = time_of(options, "switch_lifetime");
	out->host_buffer = size_of(options, "host_buffer");
	out->deadlock_check = time_of(options, "deadlock_check");
	return read_arbitration(options, &out->arbitration, err);
}

int scenario_settings_read(const struct hd_scenario *scenario, struct scenario_run *out,
			   struct hd_error *err)
{
	const struct scenario_section *section = scenario_text_find(scenario, "model");
	struct hd_options *model = NULL, *run = NULL;
	int rc = scenario_text_options(scenario, section, scenario_model_keys,
				       scenario_model_key_count, &model, err);

	out->settings = hd_sim_settings_default();
	if (!rc)
		rc = scenario_text_options(scenario, scenario_text_find(scenario, "run"),
					   scenario_run_keys, scenario_run_key_count, &run, err);
	if (!rc) {
		rc = read_model(model, &out->settings, err);
		out->settings.warm_up = time_of(run, "warm_up");
		out->settings.bin = time_of(run, "bin");
		out->duration = time_of(run, "duration");
		out->exact = number_of(run, "exact");
		if (!rc)
			rc = hd_sim_settings_check(&out->settings, err);
		if (rc)
			scenario_text_error_in(scenario, section, rc, err);
	}
	if (!rc && out->duration <= out->settings.warm_up)
		rc = scenario_text_error_in(
		    scenario, scenario_text_find(scenario, "run"),
		    hd_error_set(err, -EINVAL,
				 "nothing counts: duration is no longer than warm_up"),
		    err);
	hd_options_free(model);
	hd_options_free(run);
	return rc;
}

static int parse_seeds(const char *text, uint64_t *list, uint32_t *count)
{
	const char *at = text;

	for (*count = 0; *count < SEEDS_MAX; at++) {
		char *end;
		errno = 0;
		list[(*count)++] = strtoull(at, &end, 10);
		if (end == at || errno || strchr(text, '-'))
			return -EINVAL;
		at = end + strspn(end, " \t");
		if (!*at)
			return 0;
		if (*at != ',')
			return -EINVAL;
	}
	return -EINVAL;
}

int scenario_settings_seeds(const struct hd_scenario *scenario, uint64_t first, bool first_given,
			    uint64_t **seeds, uint32_t *count, struct hd_error *err)
{
	const struct scenario_section *section = scenario_text_find(scenario, "run");
	const struct scenario_entry *entry = scenario_text_entry(section, "seeds");
	uint64_t *list = calloc(SEEDS_MAX, sizeof(*list));
	const char *text = entry ? entry->value : "1";

	if (!list)
		return hd_error_no_memory(err);
	int rc = parse_seeds(text, list, count);
	if (!rc && !strchr(text, ',')) {
		if (list[0] < 1 || list[0] > SEEDS_MAX)
			rc = -EINVAL;
		*count = rc ? 0 : (uint32_t)list[0];
		for (uint32_t i = 0; i < *count; i++)
			list[i] = first + i;
	} else if (first_given) {
		list[0] = first;
		*count = 1;
	}
	if (!rc) {
		*seeds = list;
		return 0;
	}
	free(list);
	hd_error_set(err, rc, "expected the number of seeds, 1 .. %u, or a list of them: 3, 5, 9",
		     SEEDS_MAX);
	return entry ? scenario_text_error(scenario, section, entry, rc, err) : rc;
}

int scenario_settings_number(const char *text, double *out, struct hd_error *err)
{
	char *end;
	double number = strtod(text, &end);
	bool begun = end != text;

	if (begun && *end == '/') {
		const char *below = end + 1;
		double divisor = strtod(below, &end);
		begun = end != below && divisor != 0;
		number /= divisor;
	}
	while (begun && *end == ' ')
		end++;
	if (begun && *end == '%') {
		number /= 100;
		end++;
	}
	if (!begun || *end || !isfinite(number))
		return hd_error_set(err, -EINVAL, "'%s' is no number, fraction or percentage",
				    text);
	*out = number;
	return 0;
}

int scenario_settings_number_check(const char *text, struct hd_error *err)
{
	double value;

	return scenario_settings_number(text, &value, err);
}
