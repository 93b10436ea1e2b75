/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands of `heddle`: one file each, listed in main.c. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

/* Exit statuses. */
enum cli_status { CLI_CLEAN = 0, CLI_FAULTS = 1, CLI_BAD = 2 };

struct cli_command {
	const char *name;
	const char *summary;
	/* argv[0] is the command's own name. Returns the exit status. */
	int (*run)(int argc, char **argv);
};

extern const struct cli_command cli_topo;
extern const struct cli_command cli_topo_generate;
extern const struct cli_command cli_topo_show;
extern const struct cli_command cli_topo_convert;
extern const struct cli_command cli_engines;
extern const struct cli_command cli_route;
extern const struct cli_command cli_check;
extern const struct cli_command cli_paths;
extern const struct cli_command cli_mcast;
extern const struct cli_command cli_ebb;
extern const struct cli_command cli_compare;
extern const struct cli_command cli_survive;

/* Runs the command of `table` that argv[1] names; `path` is what was typed before it. */
int cli_dispatch(const char *path, const char *summary, const struct cli_command *const *table,
		 int argc, char **argv);

#endif
