/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options that several commands take, with the same letters and meaning in all of them. A command
 * puts those that it takes into its table, and says which member of its job each value goes to.
 */
#ifndef CLI_SHARED_ARGUMENTS_H
#define CLI_SHARED_ARGUMENTS_H

#include "arguments.h"
#include "fabric_source.h"
#include "graphviz.h"
#include "output.h"
#include "table_source.h"

#include <heddle/base/parallel.h>

/* struct table_source */
#define SHARED_ENGINE(type, member)                                                                \
	{                                                                                          \
		'e', "engine", "NAME[:KEY=VALUE,...]",                                             \
		    "compute the tables with this engine (see heddle engines)",                    \
		    ARGUMENT_BY(table_source_take_engine, type, member)                            \
	}

/* int, LMC_ANY or LMC_KEEP if it is not given */
#define SHARED_LMC(type, member)                                                                   \
	{                                                                                          \
		0, "lmc", "N",                                                                     \
		    "give each host 2^N LIDs (0..7) if the file has none or another LMC",          \
		    ARGUMENT_NUMBER(type, member, 0, HD_LMC_INFINIBAND)                            \
	}

/* const char *, NULL: none */
#define SHARED_NAME_MAP(type, member)                                                              \
	{                                                                                          \
		0, "node-name-map", "FILE", "lines of GUID \"NAME\": the names of nodes",          \
		    ARGUMENT_TEXT(type, member)                                                    \
	}

/* unsigned */
#define SHARED_THREADS(type, member)                                                               \
	{                                                                                          \
		't', "threads", "T", "use T threads (1..64, default: one for each processor)",     \
		    ARGUMENT_NUMBER(type, member, 1, HD_THREADS_MAX)                               \
	}

/* bool */
#define SHARED_JSON(type, member)                                                                  \
	{                                                                                          \
		0, "json", NULL, "print JSON", ARGUMENT_FLAG(type, member)                         \
	}

/* bool */
#define SHARED_CSV(type, member)                                                                   \
	{                                                                                          \
		0, "csv", NULL, "print a table for spreadsheets", ARGUMENT_FLAG(type, member)      \
	}

/* bool */
#define SHARED_VERBOSE(type, member)                                                               \
	{                                                                                          \
		'v', "verbose", NULL, "print all remarks, not only warnings",                      \
		    ARGUMENT_FLAG(type, member)                                                    \
	}

/* const char *, NULL: standard output */
#define SHARED_OUTPUT(type, member)                                                                \
	{                                                                                          \
		'o', "output", "FILE", "write to FILE; -: standard output (default)",              \
		    ARGUMENT_TEXT(type, member)                                                    \
	}

/* enum fabric_output_format */
#define SHARED_FORMAT(type, member)                                                                \
	{                                                                                          \
		0, "format", FABRIC_OUTPUT_FORMATS, "the format to write (default netlist)",       \
		    ARGUMENT_CHOICE(type, member)                                                  \
	}

/* const char * */
#define SHARED_GRAPH(type, member)                                                                 \
	{                                                                                          \
		0, "graph", "FILE", "draw a picture (" GRAPHVIZ_ENDINGS ")",                       \
		    ARGUMENT_BY(graphviz_take_path, type, member)                                  \
	}

#endif
