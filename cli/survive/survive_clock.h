/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How long plans take. */
#ifndef CLI_SURVIVE_CLOCK_H
#define CLI_SURVIVE_CLOCK_H

/* Milliseconds on a clock that is never set. */
double survive_clock_ms(void);

#endif
