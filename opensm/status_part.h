/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `heddle status` and `heddle metrics`, and writes the metrics to a file: doc/guide/status.md.
 * A thread of the part asks all parts for their sections. The part's own sections are about the subnet:
 * sweeps, what the fabric has lost, and loads, which the thread counts when somebody asks.
 */
#ifndef OPENSM_STATUS_PART_H
#define OPENSM_STATUS_PART_H

struct part;

extern const struct part status_part;

#endif
