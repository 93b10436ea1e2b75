/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* heddle topo: fabrics made, described and rewritten. */
#include "command.h"

#include <stddef.h>

static const struct cli_command *const commands[] = {
    &cli_topo_generate,
    &cli_topo_show,
    &cli_topo_convert,
    NULL,
};

static int topo(int argc, char **argv)
{
	return cli_dispatch("heddle topo", "Fabrics made, described and rewritten.", commands, argc,
			    argv);
}

const struct cli_command cli_topo = {
    .name = "topo",
    .summary = "generate, describe or convert a fabric",
    .run = topo,
};
