/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle reroute: has the plugin in a running OpenSM route afresh, by the socket of `heddle drain`. */
#include "commands.h"
#include "drain.h"
#include "shared_arguments.h"

static const struct argument arguments[] = {
    DRAIN_ADDRESS_ARGUMENTS,
    {0, "unproved", NULL, "even if no order of the changes is proved",
     ARGUMENT_FLAG(struct drain_job, unproved)},
};

static const struct usage usage = {
    .synopsis = "heddle reroute [OPTION]...",
    .summary = "Has a running OpenSM route afresh, as if no tables were in place, and waits until "
	       "all switches have the new tables.",
    .arguments = arguments,
    .count = sizeof(arguments) / sizeof(arguments[0]),
    .statuses = {"OpenSM has routed afresh", "OpenSM refuses", "bad usage, or no answer"},
};

static int run(void *context, const struct operands *operands)
{
	const int status = arguments_expect(&usage, operands, "no operand", 0, 0);

	return status ? status : drain_live(context, NULL, 0);
}

int reroute_command(int argc, char **argv)
{
	struct drain_job job = {.reroute = true};

	return arguments_run(&usage, argc, argv, &job, run);
}
