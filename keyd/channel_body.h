/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The bodies of the key channel's messages (channel.h has their layout). */
#ifndef CHANNEL_BODY_H
#define CHANNEL_BODY_H

#include <heddle/keyd/channel.h>

#define CHANNEL_BODY_ENTRY 12u /* bytes of an entry of SET */
#define CHANNEL_BODY_PORT_LAST 254u

/*
 * Writes the body of a message to at, and returns its number of bytes. at NULL: only counts. The
 * lists must not have more elements than fit into HD_CHANNEL_BODY_MAX. O(bytes).
 */
size_t channel_body_write(const struct hd_channel_message *message, uint8_t *at);

/*
 * Reads the whole body of a message of a known type. Errors: -EPROTO, -ENOMEM; then nothing is left
 * to release. O(bytes).
 */
int channel_body_read(enum hd_channel_type type, const uint8_t *body, size_t length,
		      struct hd_channel_message *out, struct hd_error *err);

#endif
