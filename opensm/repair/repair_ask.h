/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks switches which of their ports are down: by the table of all port states where they have it, else port by port.
 * A port that is down by the table is asked for once more by itself, so that no table alone takes a cable out of use.
 * Several directed routes to each switch are tried at the same time, and the first that answers is used. A neighbour
 * that has lost a cable and is silent itself is looked at from its other neighbours, so that a switch that died is
 * found without a time-out.
 */
#ifndef OPENSM_REPAIR_ASK_H
#define OPENSM_REPAIR_ASK_H

#include <heddle/base/error.h>
#include <heddle/fabric/graph.h>
#include <heddle/mad/queue.h>
#include <stdbool.h>

#define REPAIR_ASK_ROUTES 4u /* to each switch */
#define REPAIR_ASK_MOST 2048u /* switches to ask */

/* Runs hd_smp_queue_work() once if that is still allowed; else returns -ECANCELED. */
typedef int repair_work_fn(void *context, struct hd_smp_queue *queue);

struct repair_ask {
	const struct hd_fabric *fabric;
	uint64_t own_port; /* GUID */
	uint64_t m_key;
	const bool *port_states; /* [switch_count] it has SwitchPortStateTable; NULL: none has */
	struct hd_smp_queue *queue; /* its destinations from `first` on are used */
	const struct hd_smp_port *port;
	uint32_t first; /* room for REPAIR_ASK_ROUTES * REPAIR_ASK_MOST destinations */
	repair_work_fn *work;
	void *context;
	/* [port_count] the cable at the port is lost, as far as is known; both ends are set */
	bool *cut;
	/* ---- results ---- */
	uint32_t asked; /* ports, one by one */
	uint32_t silent; /* switches that did not answer */
	uint32_t found; /* cables that are lost now and were not before */
};

/*
 * Asks the issuers (switches, [count]) and adds to ask->cut. Errors: -EINVAL our own port is not in
 * the fabric, -ECANCELED, -E2BIG too many switches, -ENOMEM; the errno of the port. With a reason.
 */
int repair_ask_run(struct repair_ask *ask, const uint32_t *issuers, uint32_t count,
		   struct hd_error *err);

#endif
