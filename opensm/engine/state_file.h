/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file in which a restarted OpenSM finds the tables that the switches have: those of the last
 * routing, and the baselines. Only the sweeper thread uses this.
 */
#ifndef OPENSM_STATE_FILE_H
#define OPENSM_STATE_FILE_H

#include "log.h"
#include "routing.h"

#include <heddle/config.h>

/*
 * The path: [heddle] state of heddle.conf, or `heddle-tables` in the folder in which OpenSM keeps
 * guid2lid. guid: of the port that opensm.conf or -g names; it is a part of the default name, because
 * several OpenSMs of a machine share the folder. 0: none. To be freed with free(). NULL: there is to be
 * no file, or memory is short.
 */
char *state_file_path(const struct hd_config *config, uint64_t guid);

/*
 * Where the tables are if there is no file at the default path yet: in the file without a GUID, from a
 * version that had no other, or from the time when no port was named. To be freed with free().
 * NULL: there is no such place.
 */
char *state_file_old_path(const struct hd_config *config, uint64_t guid, const char *path);

/*
 * Reads the file into the memory, which is empty. `list` is OpenSM's list of engines. The log says
 * what was read, or warns of a file that cannot be used. No file is no fault.
 */
void state_file_load(const char *path, const char *list, struct routing_memory *memory,
		     struct opensm_log *log);

/*
 * Replaces the file by one of the routing and the memory, or removes it if `routing` is NULL. On an
 * error the old file stays. Does not wait for the disk: a file that a power failure damages
 * is noticed when it is read. Errors: errno of the system's calls, -ENOMEM.
 */
int state_file_store(const char *path, const char *list, const struct routing_memory *memory,
		     const struct routing *routing, struct hd_error *err);

#endif
