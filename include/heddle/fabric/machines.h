/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Machines with several adapters. A host of a fabric is a port; a machine such as a GPU server has
 * eight of them or more. Nothing in a subnet says for certain which adapters are in one machine, so
 * there are three sources:
 *
 * - Names. A node description such as "gpu01 mlx5_0" or "gpu01 HCA-1" has the machine before the
 *   last blank and the device after it; the device ends in a digit. Names of a node name map may
 *   have one of - _ / : . in place of the blank ("gpu01-mlx5_0") before the names of devices that
 *   drivers give: mlx4_, mlx5_, mlx5_bond_, HCA, hfi1_, qib, ib, nic or rail, and a number.
 * - System image GUIDs. Adapters of one machine may share one. Many have one each.
 * - A file: one adapter a line, and the machine after it.
 *
 * An adapter for which the source has no answer is a machine of its own. Adapters that are set
 * aside, such as aggregation nodes in switches (heddle/fabric/aside.h), are no hosts and in no
 * machine. Routers and adapters with the system image GUID of a switch are machines of their own.
 */
#ifndef HEDDLE_FABRIC_MACHINES_H
#define HEDDLE_FABRIC_MACHINES_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A system image GUID of more ports than this is no machine's. */
#define HD_MACHINE_PORTS_MAX 64u

enum hd_machines_by {
	HD_MACHINES_ALONE, /* each adapter is a machine */
	HD_MACHINES_AUTO, /* asked for, never found: the source that gives fewer machines */
	HD_MACHINES_NAME,
	HD_MACHINES_SYSTEM_GUID,
	HD_MACHINES_FILE
};

struct hd_machines {
	enum hd_machines_by by; /* how they were found */
	uint32_t count;
	/* [count + 1]: where the hosts of a machine begin in `host`. Machines are in the order of
	 * their first hosts. */
	const uint32_t *base;
	/* [host_count of the fabric] hosts, machine by machine. In a machine they are in the order
	 * of their rails: by device name, its number last (mlx5_2 before mlx5_10), then by GUID and
	 * port; or as in the file. */
	const uint32_t *host;
	const uint32_t *of_host; /* [host_count] machine of a host */
	const char *const *name; /* [count] "gpu01"; without a name that of its first adapter */
	/* Why sources were not used, for people; "" where there is nothing to say. */
	char why[HD_ERROR_TEXT];
};

/*
 * Groups the hosts of a fabric into machines, by any source but a file. With HD_MACHINES_AUTO, the
 * source that gives fewer machines is used, system image GUIDs if both give as many; if neither is
 * of use, each adapter is a machine, and `why` gives the reasons. *out is freed with
 * hd_machines_free() and needs the fabric only for its names.
 * Errors: -ENODATA the source is of no use (says why: no name has the form; two adapters have one
 * name; no GUIDs; one GUID for too many ports, or for adapters whose names say that they are in
 * different machines; no machine has two adapters), -ENOMEM. Cost: O(hosts * log hosts).
 */
int hd_machines_find(const struct hd_fabric *fabric, enum hd_machines_by by,
		     struct hd_machines **out, struct hd_error *err);

/*
 * The same from the text of a file: `ADAPTER MACHINE` on each line, in the form of
 * heddle/base/text.h; names with blanks stand in quotes. hd_fabric_resolve() finds the adapter. An
 * adapter that the file does not name is a machine of its own. `name` stands for the file in
 * messages. Errors: -EINVAL an unknown, ambiguous or repeated adapter, or a line of another form
 * (names the line); -ENODATA no adapter in the file; -ENOMEM. Cost: O(lines * nodes).
 */
int hd_machines_parse(const struct hd_fabric *fabric, const char *text, size_t length,
		      const char *name, struct hd_machines **out, struct hd_error *err);

/* The same from a file. Errors: also errno of open and read. */
int hd_machines_read(const struct hd_fabric *fabric, const char *path, struct hd_machines **out,
		     struct hd_error *err);

/* NULL is allowed. */
void hd_machines_free(struct hd_machines *machines);

/* "names", "system image GUIDs" ... for messages. */
const char *hd_machines_source(enum hd_machines_by by);

/* Hosts of a machine. */
static inline uint32_t hd_machines_size(const struct hd_machines *machines, uint32_t machine)
{
	return machines->base[machine + 1] - machines->base[machine];
}

#ifdef __cplusplus
}
#endif

#endif
