/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which hosts of a fabric are one machine: the option --machines. */
#ifndef CLI_MACHINES_SOURCE_H
#define CLI_MACHINES_SOURCE_H

#include "arguments.h"

#include <heddle/fabric.h>

struct machines_source {
	enum hd_machines_by by; /* HD_MACHINES_ALONE: not given, which means auto */
	const char *file; /* with HD_MACHINES_FILE */
};

/* The place is a struct machines_source. */
arguments_take_fn machines_source_take;

#define MACHINES_ARGUMENT(type, member)                                                            \
	{                                                                                          \
		0, "machines", "auto|name|system-guid|FILE",                                       \
		    "what says which adapters are one machine: names such as gpu01 mlx5_0, "       \
		    "system "                                                                      \
		    "image GUIDs, lines of ADAPTER MACHINE in a file, or the first two (default)", \
		    ARGUMENT_BY(machines_source_take, type, member)                                \
	}

/* Errors: those of hd_machines_find() and hd_machines_read(). */
int machines_source_load(const struct machines_source *source, const struct hd_fabric *fabric,
			 struct hd_machines **out, struct hd_error *err);

/* "auto", "name", "system-guid", "file", "none" for programs. */
const char *machines_source_word(enum hd_machines_by by);

#endif
