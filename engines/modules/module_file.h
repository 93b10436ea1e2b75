/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A module as a file, which the dynamic linker loads. */
#ifndef ENGINES_MODULE_FILE_H
#define ENGINES_MODULE_FILE_H

#include <heddle/engines/module.h>

/*
 * Loads the file. *handle is for module_file_close(); *module is valid until then. The code of a
 * module runs as soon as it is loaded, so the file is checked before: it must be a regular file, and
 * if the process runs as root, belong to root with all folders above it, and be writable for root
 * only. Errors: -EPERM it is not; -EINVAL the dynamic linker refuses it (says why), or it has no
 * hd_engine_module; the errno of realpath() and stat().
 */
int module_file_open(const char *path, void **handle, const struct hd_engine_module **module,
		     struct hd_error *err);

void module_file_close(void *handle);

#endif
