/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the administrator of a site says about adaptive routing: the sections [ar], [ar.switch GUID]
 * and [ar.quirks] of heddle.conf, and the vendor's file that ar.legacy_conf names. The plugin and
 * the command `heddle ar` both read it here. Library: heddle_ar_manager_site.
 */
#ifndef HEDDLE_AR_MANAGER_SITE_H
#define HEDDLE_AR_MANAGER_SITE_H

#include <heddle/ar_manager/ar_config.h>

struct hd_config;
struct hd_config_sections;

struct hd_ar_site {
	struct hd_ar_config config; /* owned */
	struct hd_ar_quirks quirks;
	bool legacy; /* `config` comes from a vendor's file */
};

/* Registers the three sections. Errors: as hd_config_sections_add(). */
int hd_ar_site_sections(struct hd_config_sections *sections, struct hd_error *err);

/*
 * The settings that `values` have. `named`: AR is asked for in another way, too, as the name
 * ar_dmodk does; only a vendor's file can then say no, and a site that leaves AR to another manager. The caller releases *out with
 * hd_ar_site_release(). Errors: -EEXIST, those of hd_text_open_regular() and hd_ar_legacy_parse(),
 * -ENOMEM. Cost: O(bytes of the vendor's file + switches^2).
 */
int hd_ar_site_from(const struct hd_config *values, bool named, const struct hd_log *log,
		    struct hd_ar_site *out, struct hd_error *err);

/*
 * Reads a heddle.conf for a program that needs no other sections of it; NULL: all defaults. AR
 * counts as asked for. Errors: as hd_config_read() and hd_ar_site_from().
 */
int hd_ar_site_read(const char *path, const struct hd_log *log, struct hd_ar_site *out,
		    struct hd_error *err);

/* A zeroed struct is allowed. */
void hd_ar_site_release(struct hd_ar_site *site);

#endif
