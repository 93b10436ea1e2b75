/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The control channel: one command a line, one line of JSON as its answer. README.md has the list.
 */
#ifndef EMULATOR_CONTROL_H
#define EMULATOR_CONTROL_H

#include "emulator_proxy.h"
#include <stdbool.h>
#include <stdio.h>

/* Does a command, and writes its answer with the newline. False: the command was `quit`. */
bool control_command(struct proxy *proxy, char *line, FILE *answer);

#endif
