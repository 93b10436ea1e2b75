/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which firmware the switches have. */
#ifndef CLI_DOCTOR_FIRMWARE_H
#define CLI_DOCTOR_FIRMWARE_H

#include "doctor_site.h"

struct hd_smp_port;

/* Asks all switches of the fabric, by a queue of its own on the port. A switch that knows the class answers at once, so
 * the others are not waited for long. */
void doctor_check_firmware(struct doctor_site *site, const struct hd_smp_port *port);

#endif
