/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A line on the terminal that says what takes so long; nothing where stderr is no terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <heddle/base/error.h>

/* Shows the line from one second on, with the seconds passed. Ends what was begun before. */
void progress_begin(const char *format, ...) HD_PRINTF(1, 2);

/* Takes the line away. Harmless when nothing was begun. */
void progress_end(void);

#endif
