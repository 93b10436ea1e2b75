/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engines that commands know: the built-in ones, and those of the modules in the folders of
 * HEDDLE_ENGINE_PATH. The first call loads the modules and says which are refused; it comes while a
 * command reads its arguments, before there are threads. The environment does not count in a program
 * that has more rights than its user.
 */
#ifndef CLI_KNOWN_ENGINES_H
#define CLI_KNOWN_ENGINES_H

#include <heddle/engines.h>

#define KNOWN_ENGINES_PATH "HEDDLE_ENGINE_PATH"

/* All of them; *count of them. */
const struct hd_engine *const *known_engines_all(unsigned *count);

/* Engine by name, or NULL. */
const struct hd_engine *known_engines_find(const char *name);

/* Unloads the modules; the next call loads them again. For tests. */
void known_engines_forget(void);

#endif
