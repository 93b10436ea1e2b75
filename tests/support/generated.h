/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Generated fabrics and options from a line of text. */
#ifndef SUPPORT_GENERATED_H
#define SUPPORT_GENERATED_H

#include <heddle/fabric.h>

/* Sets options from "name=value name=value". Errors: those of hd_options_set(), -ENOMEM. */
int generated_set(struct hd_options *options, const char *settings, struct hd_error *err);

/* A fabric of the generator `kind` with these settings. Errors: -ENOENT no such generator, those of
 * generated_set() and of the generator. */
int generated_fabric(const char *kind, const char *settings, struct hd_fabric **out,
		     struct hd_error *err);

#endif
