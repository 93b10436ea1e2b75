/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A heddle-keyd of its own on a fat tree, and calls to it that wait for their answers. */
#ifndef KEY_SITE_H
#define KEY_SITE_H

#include <stddef.h>
#include <sys/types.h>

struct key_site {
	char folder[64], socket[96], manager_socket[96];
	char *netlist; /* of the fat tree, with LMC 2 */
	size_t length;
	pid_t daemon, manager; /* manager 0: none */
};

struct key_site_stream {
	int descriptor;
	char *answer; /* [room] the last one: head and as much of the body as comes with it */
	size_t room;
};

/* Says what is wrong and ends the process. */
void key_site_die(const char *what) __attribute__((noreturn));

/* A folder, and the text of the fabric. */
void key_site_make(struct key_site *site, const char *children, const char *parents);

/* Starts the daemon and waits until it has a fabric. */
void key_site_start(struct key_site *site, const char *program);

/* Ends all. */
void key_site_end(struct key_site *site);

struct key_site_stream key_site_open(const struct key_site *site);

/* One call; its status. body NULL: none. */
int key_site_call(struct key_site_stream *stream, const char *method, const char *path,
		  const char *body);

#endif
