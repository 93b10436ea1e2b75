/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values in heddle.conf that have a form of their own: the tables of the sections check them, and their owners read
 * them. Library: heddle_config_sections.
 */
#ifndef HEDDLE_CONFIG_SECTION_VALUES_H
#define HEDDLE_CONFIG_SECTION_VALUES_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Calls take() for each word of a list whose words are separated by commas or blanks, until it fails. Errors: those of
 * take(); -ENOMEM. Cost: O(bytes).
 */
int hd_value_each_word(const char *text, int (*take)(void *, const char *, struct hd_error *),
		       void *context, struct hd_error *err);

/* A user of this machine: a number, or a name. Errors: -EINVAL, with the reason. Not for several threads. */
int hd_value_uid(const char *word, uid_t *uid, struct hd_error *err);

/* A GUID in hexadecimal digits, with or without 0x. Errors: -EINVAL. */
int hd_value_guid(const char *text, uint64_t *guid, struct hd_error *err);

#define HD_LIFETIME_LONGEST 19
#define HD_LIFETIME_INFINITE 20
#define HD_LIFETIME_LONGEST_US 2147483 /* 4.096 * 2^19, rounded down */

/*
 * Finds the smallest HOQLife (PortInfo; 4.096 us * 2^value) whose lifetime is not shorter than `text`, in whole
 * microseconds. The value is HD_LIFETIME_INFINITE for "infinite", and -1 for "0", which means OpenSM's own. Errors:
 * -EINVAL `text` is no lifetime, -ERANGE it is longer than HD_LIFETIME_LONGEST_US. Source: InfiniBand Architecture
 * Specification 1.3, 18.2.5.4.
 */
int hd_value_lifetime(const char *text, int *value, struct hd_error *err);

/* "" or an absolute path that is not too long for messages about it. Errors: -EINVAL. */
int hd_value_path(const char *text, struct hd_error *err);

/* "" or an absolute path that is short enough for a socket. Errors: -EINVAL. */
int hd_value_socket(const char *text, struct hd_error *err);

/* Whether a path is short enough for a socket. Errors: -EINVAL. */
int hd_value_socket_path(const char *path, struct hd_error *err);

/* The same for a path, an address with a port, or "". The form of the address is not checked. */
int hd_value_socket_or_port(const char *address, struct hd_error *err);

/* Whether this is a numeric address with a port: "192.0.2.1:7471" or "[2001:db8::1]:7471". */
bool hd_value_is_address(const char *text);

#endif
