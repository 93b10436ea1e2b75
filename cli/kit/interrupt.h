/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ctrl-C ends long work early, and the report has what was done until then. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <heddle/base/go_on.h>

/* From now on SIGINT and SIGTERM are noted; the second one ends the process. May be called again. */
void interrupt_catch(void);

/* Whether one has come. From any thread. */
bool interrupt_came(void);

/* Goes on until one has come: for requests of long computations, which then end with -ECANCELED. */
extern const struct hd_go_on interrupt_go_on;

/* The exit status after an error, which is printed: STATUS_FAULTS if a signal has ended the work, else STATUS_BAD. */
int interrupt_fail(int rc, const struct hd_error *err);

#endif
