/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands share: messages, reading fabrics, JSON. */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

#include <heddle/engines.h>
#include <jansson.h>

#define CLI_LMC_ANY (-1) /* as the file has it, 0 where it has none */
#define CLI_LMC_KEEP (-2) /* as the file has it, no LIDs where it has none */

/*
 * "heddle: ..." on stderr, control characters of what it quotes as '?'; returns CLI_BAD. A message
 * is cut at 8 KiB.
 */
int cli_error(const char *format, ...) HD_PRINTF(1, 2);

/* cli_error() with a library's reason. */
int cli_fail(const struct hd_error *err);

/* cli_fail() of hd_error_no_memory(). */
int cli_no_memory(void);

/* Remarks: warnings always, the rest when verbose. */
struct hd_log cli_log(bool verbose);

/*
 * Reads a fabric that has LIDs in the end: those of the file, or fresh ones in canonical order
 * where the file has none or its hosts have another LMC than `lmc` (0 .. 7 or one of the above).
 */
int cli_fabric_load(const char *path, int lmc, const struct hd_log *log, struct hd_fabric **out,
		    struct hd_error *err);

/* Engine by name; NULL after a message that lists those there are. */
const struct hd_engine *cli_engine(const char *name);

/*
 * Prints to stdout and releases `value`. Returns `status`, or CLI_BAD after a message when value
 * is NULL (no memory) or cannot be written as a whole.
 */
int cli_json_print(json_t *value, int status);

/*
 * A list with one more value, an object with one more entry; both take over what they are given.
 * NULL, and everything released, when either is NULL or memory is short: a value without one of
 * its parts would tell something wrong.
 */
json_t *cli_json_append(json_t *list, json_t *value);
json_t *cli_json_set(json_t *object, const char *key, json_t *value);

/* A string value even where the bytes are no UTF-8: those become '?'. */
json_t *cli_json_text(const char *text);

/* "0x0002c90300001234" */
json_t *cli_json_guid(uint64_t guid);

#endif
