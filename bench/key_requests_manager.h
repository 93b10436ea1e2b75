/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A subnet manager that answers each key at once with DONE, and programs nothing. */
#ifndef KEY_REQUESTS_MANAGER_H
#define KEY_REQUESTS_MANAGER_H

#include <event2/event.h>
#include <stdint.h>

struct key_requests_manager;

/* Listens at a path. The netlist must stay as it is. NULL: it cannot. */
struct key_requests_manager *key_requests_manager_new(struct event_base *base, const char *path,
						      const char *netlist, size_t length);

/* How many keys it has got, and how many entries these had on average. */
uint64_t key_requests_manager_keys(const struct key_requests_manager *manager);
double key_requests_manager_entries(const struct key_requests_manager *manager);

#endif
