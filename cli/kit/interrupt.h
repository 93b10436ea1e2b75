/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ctrl-C ends long work early, and the report has what was done until then. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <stdbool.h>

/* From now on SIGINT and SIGTERM are noted; the second one ends the process. May be called again. */
void interrupt_catch(void);

/* Whether one has come. From any thread. */
bool interrupt_came(void);

#endif
