/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part that manages adaptive routing. A thread of its own plans and programs it after each
 * sweep. Before the switches get other tables, the sweeper thread waits until groups that could
 * become unsafe are narrowed, but not longer than AR_PART_PREPARE_MS.
 */
#ifndef OPENSM_AR_PART_H
#define OPENSM_AR_PART_H

#define AR_PART_PREPARE_MS 2000u
#define AR_PART_END_MS 5000u /* for the job that is there when OpenSM ends */

struct ar;
struct ar_job;
struct ar_worker;

/*
 * What the thread that repairs copies for its jobs: AR_REPAIR with the settings in force, without a
 * routing; to be freed with ar_job_free(). NULL: no memory, or adaptive routing was never wanted, and
 * then *worker is NULL, too. The worker lives as long as the part. For hooks of the sweeper thread.
 */
struct ar_job *ar_part_repair_job(struct ar *ar, struct ar_worker **worker);

#endif
