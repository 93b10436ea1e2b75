/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads what `heddle ar probe` judges, by Gets alone. */
#ifndef CLI_AR_PROBE_H
#define CLI_AR_PROBE_H

#include <heddle/ar_manager/probe.h>

/* Zero-initialise before use, but for what is typed; to be released with ar_probe_release(). */
struct ar_probe {
	const char *device; /* NULL: any */
	int32_t port_number; /* 0: any */
	int64_t timeout_ms;
	uint32_t most; /* switches that are read in full */
	struct hd_fabric *fabric; /* the caller's */
	struct hd_ar_probe_switch *switches; /* [count] all of the fabric */
	uint32_t count;
	uint32_t answered, able, full; /* GeneralInfo; adaptive routing; tables */
};

/* Asks all switches of the fabric, by their LIDs. `path` names its file in messages. Errors: those of the port, -EINVAL
 * a switch without a LID, -ENOMEM. */
int ar_probe_read(struct ar_probe *probe, const char *path, struct hd_error *err);

void ar_probe_release(struct ar_probe *probe);

#endif
