/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Several subnets from the command line, for the commands that look across subnets. */
#ifndef CLI_SUBNETS_H
#define CLI_SUBNETS_H

#include "shared_arguments.h"

#include <heddle/ir_router.h>

struct subnets_item {
	uint64_t prefix;
	char *fabric_path; /* its own copy of what was typed */
	const char *tables_path; /* in fabric_path; NULL: the engine computes the tables */
	struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_map *map;
};

struct subnets {
	struct subnets_item *items; /* in the order typed */
	uint32_t count;
	const char *maps; /* folder of the maps; NULL: none */
	const char *name_map; /* of all subnets; NULL: none */
	struct table_source tables; /* its engine, for subnets without tables */
	struct hd_interconnect *interconnect;
	struct hd_isfr_plan *plan; /* NULL until subnets_relay() */
	struct hd_relay_tables relay_tables;
};

/* Rows of such a command's table; `member` is a struct subnets. */
#define SUBNETS_ARGUMENT(type, member)                                                             \
	{                                                                                          \
		0, "subnet", "PREFIX=FABRIC[:TABLES]",                                             \
		    "a subnet: its prefix, its fabric, and its tables; give one for each subnet",  \
		    ARGUMENT_BY(subnets_take, type, member)                                        \
	}
#define SUBNETS_NAMES(type, member) SHARED_NAME_MAP(type, member.name_map)
#define SUBNETS_MAPS(type, member)                                                                 \
	{                                                                                          \
		0, "maps", "FOLDER",                                                               \
		    "the maps of the subnets, as 'heddle map issr -o' writes them",                \
		    ARGUMENT_TEXT(type, member.maps)                                               \
	}
#define SUBNETS_ENGINE(type, member)                                                               \
	{                                                                                          \
		'e', "engine", "NAME[:KEY=VALUE,...]",                                             \
		    "compute the tables of subnets without TABLES with this engine (default "      \
		    "dmodk)",                                                                      \
		    ARGUMENT_BY(table_source_take_engine, type, member.tables)                     \
	}

/* Takes one --subnet; the place is a struct subnets. */
arguments_take_fn subnets_take;

/* What a command needs of each subnet, besides the fabric. */
enum { SUBNETS_TABLES = 1, SUBNETS_MAP = 2 };

/*
 * Reads all subnets and joins them: subnets->interconnect. Its subnets are ordered by prefix.
 * Errors: those of the readers and of hd_interconnect_new(); -EINVAL no maps are given.
 */
int subnets_load(struct subnets *subnets, unsigned needs, const struct hd_log *log,
		 struct hd_error *err);

/* The relay: of ISFR, or of ISSR. Errors: -ENOMEM. */
int subnets_relay(struct subnets *subnets, bool isfr, struct hd_relay *out, struct hd_error *err);

/* The host of a subnet that a text means: PREFIX/NAME with a name, LID or GUID as other commands
 * take them, a GID, or without PREFIX/ whatever only one subnet has. */
int subnets_resolve(const struct subnets *subnets, const char *text, uint32_t *subnet,
		    uint32_t *host, struct hd_error *err);

/* Path of a subnet's map in a folder: "FOLDER/fec0000000000001.map". Malloc'ed; NULL: no memory. */
char *subnets_map_path(const char *folder, uint64_t prefix);

void subnets_release(struct subnets *subnets);

#endif
