/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of hosts, as Slurm writes them: "node[1-8,11],login", "rack[01-02]n[1-4]". */
#ifndef CLI_KEY_HOSTS_H
#define CLI_KEY_HOSTS_H

#include <heddle/base/error.h>
#include <stddef.h>

#define KEY_HOSTS_MAX 65536u

struct key_hosts {
	char **names; /* [count] in the order of the list */
	size_t count, room;
};

/*
 * Adds the hosts of a list: names or GUIDs between commas or white space. "[...]" has numbers and
 * ranges; a number in front of which zeros are written keeps its width. Release with
 * key_hosts_release(), also after a failure. Errors: -EINVAL, with the place; -ERANGE more than
 * KEY_HOSTS_MAX. O(characters that come out).
 */
int key_hosts_expand(const char *list, struct key_hosts *out, struct hd_error *err);

/* Adds the hosts of a file ("-": standard input), which has such a list on each line; '#' begins a comment. Errors also:
 * those of reading. */
int key_hosts_read(const char *path, struct key_hosts *out, struct hd_error *err);

void key_hosts_release(struct key_hosts *hosts);

#endif
