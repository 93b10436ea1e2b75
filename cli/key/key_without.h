/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Jobs of which some flows have no key, for the commands that show what heddle-keyd has. */
#ifndef CLI_KEY_WITHOUT_H
#define CLI_KEY_WITHOUT_H

#include <heddle/keyd_client.h>
#include <jansson.h>

/* A line for each job, or nothing. */
void key_without_print(const struct hd_key_client_withouts *jobs);

/* An array; NULL: no memory. */
json_t *key_without_json(const struct hd_key_client_withouts *jobs);

#endif
