/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a module says about itself. A program must be able to rely on it as on a built-in engine. */
#ifndef ENGINES_MODULE_FACTS_H
#define ENGINES_MODULE_FACTS_H

#include <heddle/engines/module.h>

/* The largest number of options of an engine. */
#define MODULE_FACTS_OPTIONS_MAX 64

/*
 * Checks what a module has and makes the engine that programs use: the same with the options that
 * every engine has. *out is in the arena; its texts and its function are the module's. Errors:
 * -EINVAL another ABI, or facts that are not valid (says which); -ENOMEM.
 */
int module_facts_make(const struct hd_engine_module *module, struct hd_arena *arena,
		      const struct hd_engine **out, struct hd_error *err);

#endif
