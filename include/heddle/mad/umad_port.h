/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A port of an adapter of this machine, through libibumad. It has agents of its own, so it may be
 * open beside OpenSM's in the same process; the kernel gives each its own answers.
 */
#ifndef HEDDLE_MAD_UMAD_PORT_H
#define HEDDLE_MAD_UMAD_PORT_H

#include <heddle/base/error.h>
#include <heddle/mad/smp.h>
#include <stdint.h>

/* Which port: by GUID, else by device and number, else the first active one. */
struct hd_umad_choice {
	uint64_t port_guid; /* host byte order; 0: not by GUID */
	const char *device; /* "mlx5_0"; NULL: any */
	int number; /* from 1; 0: any */
};

struct hd_umad_port;

/* Opens a port, to be closed with hd_umad_port_close(). Errors: -ENODEV no such port, -EACCES and
 * others from the device, -ENOMEM; with a reason. */
int hd_umad_port_open(const struct hd_umad_choice *choice, struct hd_umad_port **port,
		      struct hd_error *err);

/* Closes a port; no answer comes after that. NULL is allowed. */
void hd_umad_port_close(struct hd_umad_port *port);

/* The port for queues, one at a time: the next queue begins when nothing of the one before is pending. Valid
 * until hd_umad_port_close(). */
const struct hd_smp_port *hd_umad_port_smp(const struct hd_umad_port *port);

#endif
