/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `heddle topo show` shows, counted but not printed. */
#ifndef CLI_TOPO_FACTS_H
#define CLI_TOPO_FACTS_H

#include <heddle/fabric.h>

struct radix_count {
	uint32_t radix, switches;
};

struct link_count {
	uint32_t width;
	enum hd_speed speed;
	uint32_t between_switches, to_hosts;
};

struct topo_facts {
	uint32_t adapters, routers; /* nodes that are not switches */
	uint32_t uncabled; /* adapters and routers without a cable */
	uint32_t cables; /* between two switches */
	uint32_t self_looped; /* cables from a node to itself, which `links` leaves out */
	struct radix_count *radixes; /* ascending */
	uint32_t radix_count;
	struct link_count *links; /* by width, then speed */
	uint32_t link_count;
	uint32_t *levels; /* switches at 1 + their distance from a switch with hosts */
	uint32_t level_count;
	uint32_t unlevelled; /* switches that no host reaches */
	uint32_t components; /* of all nodes */
	uint32_t lids, last_lid;
	uint32_t lmc_hosts[HD_LMC_INFINIBAND + 1]; /* hosts with each LMC */
	int largest_lmc; /* topo_lids_largest_lmc() */
	struct hd_arena arena; /* holds the arrays */
};

/* Counts; released with hd_arena_release(&facts->arena). -ENOMEM. */
int topo_facts_count(const struct hd_fabric *fabric, struct topo_facts *facts,
		     struct hd_error *err);

#endif
