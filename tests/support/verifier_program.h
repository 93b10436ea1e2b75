/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programs of tools as functions. Each is included in a file of its own, with functions of the system replaced: it
 * reads texts, returns in place of ending, and its memory is freed afterwards. It begins with all of its own
 * variables zero.
 */
#ifndef VERIFIER_PROGRAM_H
#define VERIFIER_PROGRAM_H

#include <stddef.h>
#include <stdio.h>

typedef int verifier_main_fn(int count, char **arguments);

verifier_main_fn verifier_certificate_main;
verifier_main_fn verifier_adaptive_main;
verifier_main_fn verifier_change_main;
verifier_main_fn verifier_adaptive_change_main;

FILE *verifier_open(const char *path, const char *mode);
void *verifier_calloc(size_t count, size_t size);
_Noreturn void verifier_exit(int status);
int verifier_say(const char *format, ...);

#endif
