/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rendezvous hashing: of several choices the one with the highest score is taken. If a choice is lost, only those who had
 * taken it choose again, and what they take does not depend on what was lost before. Source: D. G. Thaler, C. V. Ravishankar, Using
 * name-based mappings to increase hit rates (1998).
 */
#ifndef HEDDLE_BASE_RENDEZVOUS_H
#define HEDDLE_BASE_RENDEZVOUS_H

#include <stdint.h>

/* Mixes a word so that each bit depends on all (the finalizer of SplitMix64). */
static inline uint64_t hd_rendezvous_mix(uint64_t word)
{
	word = (word ^ word >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	word = (word ^ word >> 27) * UINT64_C(0x94D049BB133111EB);
	return word ^ word >> 31;
}

/* The score of a choice for somebody: numbers of any kind. */
static inline uint64_t hd_rendezvous(uint64_t who, uint64_t choice)
{
	return hd_rendezvous_mix(hd_rendezvous_mix(who) + choice);
}

#endif
