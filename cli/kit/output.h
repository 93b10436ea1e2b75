/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that appear complete or not at all. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <heddle/base/replacement.h>
#include <heddle/fabric.h>
#include <stdbool.h>

/* The most that are open at a time. */
#define OUTPUTS_MAX 4

struct output {
	FILE *stream;
	char *path; /* NULL: standard output */
	struct hd_replacement *replacement; /* NULL: standard output */
};

/*
 * Opens `path` for writing; NULL and "-" are standard output. What happens to links, pipes and files of others says
 * heddle/base/replacement.h. Errors: errno of what failed, with the name.
 */
int output_open(struct output *output, const char *path, struct hd_error *err);

/*
 * Ends the output. If rc is 0, the output is flushed, closed and gets its name. Otherwise, or if
 * that fails, the temporary file is removed and the old file stays. Returns rc, or the errno of the
 * failed write; the reason in err names the file.
 */
int output_close(struct output *output, int rc, struct hd_error *err);

/*
 * Call it when an output is complete, so that a failure names the right file. Returns rc, or the
 * errno of the failed write; the reason in err names the file.
 */
int output_flush(struct output *output, int rc, struct hd_error *err);

/* Makes a folder for outputs, or takes the one that is there. Errors: the errno of mkdir(), with the
 * folder's name. */
int output_make_folder(const char *folder, struct hd_error *err);

/*
 * Several outputs of one run, which appear together: all are open before any is written, and none
 * gets its name before all are written. If rc is not 0, output_close_all() does not change err.
 * Otherwise the two work as the functions for one output.
 */
int output_open_all(struct output *outputs, const char *const *paths, size_t count,
		    struct hd_error *err);
int output_close_all(struct output *outputs, size_t count, int rc, struct hd_error *err);

/* Whether both names are of the same ordinary file, whether it exists or not, so that the second output would replace
 * the first. */
bool output_same(const char *left, const char *right);

/*
 * Refuses an output that would replace one of `count` files that are read. `option` is the option
 * that gave it, without dashes; `output` and inputs may be NULL. 0, or STATUS_BAD after a message.
 */
int output_refuse(const char *option, const char *output, const char *const *inputs, size_t count);

/* Fabrics written in the format that --format names. */

#define FABRIC_OUTPUT_FORMATS                                                                      \
	"netlist|dot|slurm|slurm-weights|slurm-blocks|slurm-yaml|graphml" /* in the order of the enum */

enum fabric_output_format {
	FABRIC_OUTPUT_NETLIST,
	FABRIC_OUTPUT_DOT,
	FABRIC_OUTPUT_SLURM,
	FABRIC_OUTPUT_SLURM_WEIGHTS,
	FABRIC_OUTPUT_SLURM_BLOCKS,
	FABRIC_OUTPUT_SLURM_YAML,
	FABRIC_OUTPUT_GRAPHML
};

/* Writes to `path` (NULL or "-": standard output). The exit status. */
int output_save_fabric(const struct hd_fabric *fabric, enum fabric_output_format format,
		       const char *path);

#endif
