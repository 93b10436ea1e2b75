/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an administrator says about adaptive routing: in the sections [ar], [ar.quirks] and
 * [ar.switch GUID] of heddle.conf, or in the file of the vendor's AR manager.
 */
#ifndef HEDDLE_AR_MANAGER_AR_CONFIG_H
#define HEDDLE_AR_MANAGER_AR_CONFIG_H

#include <heddle/ar_manager/diff.h>
#include <heddle/base/options.h>
#include <heddle/base/text.h>

/* The options of [ar] and of [ar.switch GUID]; those of [ar.quirks] are hd_ar_quirk_options[]. */
extern const struct hd_option hd_ar_options[];
extern const unsigned hd_ar_option_count;
extern const struct hd_option hd_ar_switch_options[];
extern const unsigned hd_ar_switch_option_count;

struct hd_ar_switch_config {
	uint64_t guid;
	bool enable;
	bool foreign; /* it is neither asked nor changed */
	uint32_t ageing_time_us; /* 0: as for all switches */
};

/* How switches send notices of lost ports, and who may set it up. */
struct hd_ar_notices {
	uint32_t sl; /* on which they travel */
	uint32_t clear_s, force_clear_s; /* struct hd_ar_pfrn_config */
	uint64_t manager_key; /* that switches ask of managers; 0: none, and it is not set */
	uint64_t node_key; /* between switches: one for all of them */
};

struct hd_ar_config {
	bool enable;
	bool foreign; /* another manager has AR in all switches; `enable` is false then */
	enum hd_ar_algorithm algorithm;
	enum hd_ar_state mode; /* BOUNDED or FREE */
	struct hd_ar_settings settings;
	uint32_t group_cap; /* 0: as many as a switch has */
	uint32_t max_errors; /* a switch with more of them in the window is left static */
	uint32_t error_window_s;
	enum hd_ar_order order;
	bool tell_hosts; /* on which SLs packets may come out of order */
	struct hd_ar_notices notices;
	struct hd_ar_switch_config *switches; /* [switch_count] malloc'ed */
	uint32_t switch_count;
};

/* The values of [ar], made from hd_ar_options[]; without switches. */
struct hd_ar_config hd_ar_config_from(const struct hd_options *options);

/* Adds a switch. Errors: -EEXIST it is there already, -ENOMEM. */
int hd_ar_config_add_switch(struct hd_ar_config *config, const struct hd_ar_switch_config *sw,
			    struct hd_error *err);

/* The values of [ar.switch GUID], made from hd_ar_switch_options[]. */
struct hd_ar_switch_config hd_ar_switch_config_from(uint64_t guid,
						    const struct hd_options *options);

/* The settings of one switch, whether it is to have AR, and whether it is left alone. */
struct hd_ar_settings hd_ar_config_settings(const struct hd_ar_config *config, uint64_t guid);
bool hd_ar_config_enabled(const struct hd_ar_config *config, uint64_t guid);
bool hd_ar_config_foreign(const struct hd_ar_config *config, uint64_t guid);

/* Frees the switches. */
void hd_ar_config_release(struct hd_ar_config *config);

/*
 * Reads the file of the vendor's AR manager: `KEY: value` with an optional ; at the end, one or
 * several a line, # comments, and `SWITCH GUID { KEY: value; ... }`. Keys: ENABLE or AR_ENABLE,
 * AR_ALGORITHM (LAG, TREE, DF_PLUS), AR_MODE (bounded, free), AGEING_TIME (microseconds),
 * MAX_ERRORS, ERROR_WINDOW (seconds), EN_SL_MASK; LOG_FILE and LOG_SIZE are accepted and ignored,
 * with a remark. What the file does not say stays as in *config. *config changes on success only;
 * the switches that it had are then gone.
 *
 * Errors, each with the file and the line: -EINVAL an unknown key, a value that is none, a key that
 * is given twice, a SWITCH that is not closed; -ERANGE a value out of range; -ENOMEM. Cost:
 * O(bytes + switches^2).
 */
int hd_ar_legacy_parse(const struct hd_text *text, const struct hd_log *log,
		       struct hd_ar_config *config, struct hd_error *err);

#endif
