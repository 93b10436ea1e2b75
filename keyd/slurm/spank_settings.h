/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The arguments of the plugin's line in plugstack.conf. */
#ifndef SPANK_SETTINGS_H
#define SPANK_SETTINGS_H

#include <heddle/keyd_client.h>

struct spank_settings {
	char keyd[256]; /* where heddle-keyd listens */
	char munge[256]; /* munged's socket; "": the default one */
	unsigned timeout_ms; /* of each call to heddle-keyd */
};

/* Reads keyd=ADDRESS, timeout=MILLISECONDS, munge=SOCKET. NULL, or the argument that is wrong. */
const char *spank_settings_read(int count, char **arguments, struct spank_settings *out);

/* A client with these settings. As hd_key_client_new(). */
int spank_settings_client(const struct spank_settings *settings, struct hd_key_client **out,
			  struct hd_key_client_problem *problem);

#endif
