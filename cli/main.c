/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle: topologies, routing tables and what they are worth, without a subnet manager. */
#include "command.h"
#include "common.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct cli_command *const commands[] = {
    &cli_topo,	&cli_engines, &cli_route,   &cli_check,	  &cli_paths,
    &cli_mcast, &cli_ebb,     &cli_compare, &cli_survive, NULL,
};

static void print_commands(FILE *stream, const char *path, const char *summary,
			   const struct cli_command *const *table)
{
	fprintf(stream, "Usage: %s COMMAND [OPTION]... [ARGUMENT]...\n%s\n\nCommands:\n", path,
		summary);
	for (; *table; table++)
		fprintf(stream, "  %-12s%s\n", (*table)->name, (*table)->summary);
	fprintf(stream, "\n'%s COMMAND --help' tells more.\n", path);
}

int cli_dispatch(const char *path, const char *summary, const struct cli_command *const *table,
		 int argc, char **argv)
{
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		print_commands(stdout, path, summary, table);
		return CLI_CLEAN;
	}
	for (const struct cli_command *const *command = table; argc > 1 && *command; command++)
		if (!strcmp((*command)->name, argv[1]))
			return (*command)->run(argc - 1, argv + 1);
	if (argc > 1)
		cli_error("unknown command '%s'", argv[1]);
	else
		cli_error("which command?");
	print_commands(stderr, path, summary, table);
	return CLI_BAD;
}

int main(int argc, char **argv)
{
	int status = CLI_CLEAN;

	if (argc == 2 && !strcmp(argv[1], "--version"))
		puts("heddle " HEDDLE_VERSION);
	else
		status = cli_dispatch("heddle",
				      "Routing tables for InfiniBand fabrics: made, checked, "
				      "compared.",
				      commands, argc, argv);
	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && status != CLI_BAD)
		return cli_error("cannot write standard output: %s", strerror(errno ? errno : EIO));
	return status;
}
