/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a certificate proves, by walking every path of every packet. It shares nothing with the programs of tools, nor
 * with what makes certificates. For small fabrics.
 */
#ifndef CERTIFICATE_ORACLE_H
#define CERTIFICATE_ORACLE_H

#include <heddle/ar_manager.h>
#include <heddle/fabric/certificate.h>
#include <stdbool.h>
#include <stddef.h>

/* Everything that the program reads. It may be changed. */
struct certificate_world {
	const struct hd_fabric *fabric;
	struct hd_routes *routes;
	struct hd_ar_plan *plan; /* NULL: none */
	struct hd_certificate *certificate;
	struct hd_routes *before; /* of a change; NULL: none */
	struct hd_ar_plan *held; /* on `before`; NULL: none */
	struct hd_certificate_change *change;
	struct hd_routes *other; /* a mixture with these tables: packets may get lost */
	/* Of a mixture with groups, [switch_count * lid_count]: enum hd_certificate_held before and after the step. */
	const struct certificate_world *whole; /* with the plans; NULL: there are none */
	uint8_t *is, *becomes;
	char *topology;
	size_t topology_length;
};

/* Whether the certificate proves the tables, with the plan if there is one. */
bool certificate_oracle(const struct certificate_world *world);

/* Whether the certificate of the change proves the tables after, and each step from those before. */
bool certificate_oracle_change(const struct certificate_world *world);

#endif
