/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A module of another ABI. Nothing behind its number may be read. */
#include <stdint.h>

__attribute__((visibility("default"))) const struct {
	uint32_t abi;
} hd_engine_module = {4711};
