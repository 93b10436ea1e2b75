/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where keyd listens, and connections to there. */
#ifndef CLIENT_ADDRESS_H
#define CLIENT_ADDRESS_H

#include <heddle/keyd_client.h>

struct client_address {
	char text[256]; /* as it was given */
	bool network; /* HOST:PORT; else the path of a socket */
	char host[256], port[8];
};

/* Errors: -EINVAL. */
int client_address_parse(const char *text, struct client_address *out,
			 struct hd_key_client_problem *problem);

/* Milliseconds of a clock that never steps. */
int64_t client_address_clock(void);

/* Waits for events of poll() until the deadline. 0, -ETIMEDOUT, or another errno. *seen: the
 * events. */
int client_address_wait(int fd, short events, int64_t deadline, short *seen);

/* Connects until the deadline; *fd does not block, and programs that are executed do not get it. */
int client_address_connect(const struct client_address *address, int64_t deadline, int *fd,
			   struct hd_key_client_problem *problem);

#endif
