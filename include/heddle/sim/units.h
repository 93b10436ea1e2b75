/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Amounts as people write them: "33.3 ms", "2 kB", "40 Gb/s", "60%". A number, which may have a
 * decimal point, and a unit; blanks between the two are allowed. What does not fit exactly is
 * rounded to the nearest whole number.
 */
#ifndef HEDDLE_SIM_UNITS_H
#define HEDDLE_SIM_UNITS_H

#include <heddle/base/error.h>
#include <stdint.h>

/* All of them: -EINVAL with what is expected, -ERANGE too large. O(length of the text). */

/* ps, ns, us, ms, s to picoseconds. A time needs its unit, except 0; "never" is HD_SIM_NEVER. */
int hd_sim_parse_time(const char *text, uint64_t *picoseconds, struct hd_error *err);

/* B (or no unit), kB or KB, MB, GB (thousands), KiB, MiB, GiB (1024) to bytes. At most 2^32 - 1. */
int hd_sim_parse_size(const char *text, uint64_t *bytes, struct hd_error *err);

/* b/s, kb/s, Mb/s, Gb/s (bits), B/s, kB/s or KB/s, MB/s, GB/s (bytes) to bits per second. A rate needs its
 * unit, except 0. */
int hd_sim_parse_rate(const char *text, uint64_t *bits_per_second, struct hd_error *err);

/* "60%" or "0.6" to millionths: 600000. A share is at most 1. */
int hd_sim_parse_share(const char *text, uint64_t *millionths, struct hd_error *err);

/* Checks of option tables: the form of a text (hd_option.validate). */
int hd_sim_check_time(const char *text, struct hd_error *err);
int hd_sim_check_size(const char *text, struct hd_error *err);
int hd_sim_check_rate(const char *text, struct hd_error *err);
int hd_sim_check_share(const char *text, struct hd_error *err);

#endif
