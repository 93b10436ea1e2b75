/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle: generates fabrics, computes forwarding tables, checks and measures them, all offline. */
#include "commands.h"
#include "message.h"
#include "need.h"

#include <ctype.h>
#include <errno.h>
#include <heddle/base/plain.h>
#include <heddle/base/suggest.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct command {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
	const struct command *subcommands; /* in place of run; the last has no name */
};

static int help(int argc, char **argv);

static const struct command topo_commands[] = {
    {"generate", "make a fabric: fat tree, torus, irregular and others", .run = topo_generate},
    {"show", "show what a fabric consists of", .run = topo_show},
    {"convert", "write a fabric in another format", .run = topo_convert},
    {"diff", "list where a fabric is not cabled as planned", .run = topo_diff},
    {.name = NULL},
};

static const struct command ar_commands[] = {
    {"plan", "plan groups of ports, and prove that they cannot deadlock", .run = ar_plan},
    {"fairness", "show where flows can get unequal shares", .run = ar_fairness},
    {"status", "read from the switches which adaptive routing they have", .run = ar_status},
    {"diff", "list where the switches differ from the plan", .run = ar_diff},
    {"probe", "ask the switches whether their formats are as assumed", .run = ar_probe_command},
    {NULL},
};

static const struct command map_commands[] = {
    {"issr", "spread destinations over all router ports", .run = map_issr},
    {"isfr", "route subnets and routers like one fat tree", .run = map_isfr},
    {"show", "show a map, or where it sends a GID", .run = map_show},
    {"check", "check maps, alone or against the subnets", .run = map_check},
    {"diff", "list where two maps differ", .run = map_diff},
    {"walk", "follow packets across subnets", .run = map_walk},
    {NULL},
};

static const struct command key_commands[] = {
    {"make", "make routing keys offline", .run = key_make},
    {"propose", "have heddle-keyd propose hosts for a job", .run = key_propose},
    {"place", "have heddle-keyd make the keys of a job", .run = key_place},
    {"request", "a phase begins: put its key into force", .run = key_request},
    {"done", "a phase has ended", .run = key_done},
    {"release", "a job has ended: take its keys out of the switches", .run = key_release},
    {"list", "list the jobs that have keys", .run = key_list},
    {"links", "show the flows of keys on each link", .run = key_links},
    {NULL},
};

static const struct command config_commands[] = {
    {"check", "validate a heddle.conf for all programs that read it", .run = config_check},
    {NULL},
};

static const struct command commands[] = {
    {"topo", "generate, show or convert a fabric, or compare it with its plan",
     .subcommands = topo_commands},
    {"engines", "list the routing engines and their options", .run = engines_command},
    {"route", "compute forwarding tables", .run = route_command},
    {"check", "prove that forwarding tables are right, or show what is wrong",
     .run = check_command},
    {"certify", "write a certificate of tables, which others can verify", .run = certify_command},
    {"paths", "show the path from one port to each LID of another", .run = paths_command},
    {"mcast", "plan multicast trees, or check those in the switches", .run = mcast_command},
    {"ebb", "measure the bandwidth that tables give: effective bisection bandwidth",
     .run = ebb_command},
    {"compare", "measure several tables with the same patterns", .run = compare_command},
    {"survive", "measure what is left after links fail", .run = survive_command},
    {"drain", "say what happens if cables are pulled, or route around them", .run = drain_command},
    {"reroute", "have a running OpenSM route afresh", .run = reroute_command},
    {"sim", "send packets through the tables", .run = sim_command},
    {"reproduce", "compare simulations with what papers measured", .run = reproduce_command},
    {"why", "find out from counters what slows a fabric down, and what would help",
     .run = why_command},
    {"ar", "plan and examine adaptive routing", .subcommands = ar_commands},
    {"map", "make and examine the maps of subnets that routers join", .subcommands = map_commands},
    {"key", "make routing keys, and ask heddle-keyd for them", .subcommands = key_commands},
    {"doctor", "look at a site, and say what is wrong and how to mend it", .run = doctor_command},
    {"config", "validate heddle.conf", .subcommands = config_commands},
    {"status", "ask a running OpenSM how it is", .run = status_command},
    {"metrics", "print figures of a running OpenSM for Prometheus", .run = metrics_command},
    {"help", "show how to use a command", .run = help},
    {.name = NULL},
};

static void print_commands(FILE *stream, const char *path, const char *summary,
			   const struct command *table)
{
	fprintf(stream, "Usage: %s COMMAND [OPTION]... [ARGUMENT]...\n%c%s.\n\nCommands:\n", path,
		toupper((unsigned char)*summary), summary + 1);
	for (; table->name; table++)
		fprintf(stream, "  %-12s%s\n", table->name, table->summary);
	fprintf(stream, "\n'%s COMMAND --help' shows the options of a command.\n", path);
}

static int refuse_option(const char *path, const char *word)
{
	struct hd_suggestion suggestion = hd_suggestion_for(word);

	hd_suggestion_offer(&suggestion, "--help");
	if (!strchr(path, ' '))
		hd_suggestion_offer(&suggestion, "--version");
	if (suggestion.nearest)
		return message_error("unknown option '%s'; did you mean '%s'?", word,
				     suggestion.nearest);
	return message_error("unknown option '%s'; options of a command follow its name: see '%s "
			     "--help'",
			     word, path);
}

static int refuse_command(const char *path, const struct command *table, const char *word)
{
	struct hd_suggestion suggestion = hd_suggestion_for(word);

	if (*word == '-')
		return refuse_option(path, word);
	for (; table->name; table++)
		hd_suggestion_offer(&suggestion, table->name);
	if (suggestion.nearest)
		return message_error("unknown command '%s'; did you mean '%s'?", word,
				     suggestion.nearest);
	return message_error("unknown command '%s'; '%s --help' lists the commands", word, path);
}

/* Runs the command of `table` that words[0] names; `path` is what was typed before it. */
static int dispatch(const char *path, const char *summary, const struct command *table, int count,
		    char **words)
{
	const struct command *command = table;
	char longer[64];

	if (count > 0 && (!strcmp(words[0], "--help") || !strcmp(words[0], "-h"))) {
		print_commands(stdout, path, summary, table);
		return STATUS_CLEAN;
	}
	while (count > 0 && command->name && strcmp(command->name, words[0]))
		command++;
	if (count > 0 && command->run)
		return command->run(count, words);
	if (count > 0 && command->subcommands) {
		snprintf(longer, sizeof(longer), "%s %s", path, command->name);
		return dispatch(longer, command->summary, command->subcommands, count - 1,
				words + 1);
	}
	if (count > 0)
		return refuse_command(path, table, words[0]);
	message_error("no command given");
	print_commands(stderr, path, summary, table);
	return STATUS_BAD;
}

static int run(int count, char **words)
{
	/* A report may name any of its files, on a line that is its own. */
	for (int i = 0; i < count; i++)
		if (strchr(words[i], '\n'))
			return message_error("an argument has several lines: '%s'", words[i]);
	return dispatch("heddle",
			"generate fabrics, compute forwarding tables, check and measure them",
			commands, count, words);
}

/* `help COMMAND...` is `COMMAND... --help`. */
static int help(int argc, char **argv)
{
	static char option[] = "--help";

	memmove(argv, argv + 1, (size_t)(argc - 1) * sizeof(*argv));
	argv[argc - 1] = option;
	return run(argc, argv);
}

int main(int argc, char **argv)
{
	int status = STATUS_CLEAN;

	json_set_alloc_funcs(need_bytes, free);
	/* A file that may not become longer is an error of writing, with its reason. */
	signal(SIGXFSZ, SIG_IGN);
	if (hd_plain_stdio())
		need(NULL);
	if (argc == 2 && !strcmp(argv[1], "--version"))
		puts("heddle " HEDDLE_VERSION);
	else
		status = run(argc - 1, argv + 1);
	errno = 0;
	const bool failed = ferror(stdout);
	if ((fclose(stdout) || failed) && status != STATUS_BAD)
		return message_error("cannot write standard output: %s",
				     strerror(errno ? errno : EIO));
	return status;
}
