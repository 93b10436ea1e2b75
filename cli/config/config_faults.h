/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All faults of a heddle.conf, by the tables of all programs that read it. */
#ifndef CLI_CONFIG_FAULTS_H
#define CLI_CONFIG_FAULTS_H

#include <heddle/base/text.h>
#include <heddle/config.h>
#include <heddle/engines/engine_list.h>
#include <jansson.h>

/* Zero-initialise before use; to be released with config_faults_release(). */
struct config_faults {
	json_t *list; /* [{line, reason}]; without a line: of the whole file */
	unsigned count;
	struct hd_config *config; /* the values without faults */
	struct hd_engine_list *engines; /* with those of the modules that the file names */
	unsigned modules_line; /* that names the folder of engine modules; 0: none does */
	/* ---- what these point into ---- */
	struct hd_text text;
	struct hd_config_sections *sections;
};

/*
 * Reads the file; "-": standard input. `pipes`: it may be a pipe, and is waited for. Errors: those of
 * hd_text_open_regular().
 */
int config_faults_find(struct config_faults *found, const char *path, bool pipes,
		       struct hd_error *err);

void config_faults_release(struct config_faults *found);

#endif
