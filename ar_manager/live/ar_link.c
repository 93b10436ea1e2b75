/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program (program.h) on the queue of SMPs: MADs of the program go to switches by their paths, and answers come
 * back to it. The command and the plugin use it.
 *
 * hd_ar_link_aim() says which switches there are and by which path each is reached; hd_ar_link_run() sends and
 * waits until nothing is under way. One thread at a time.
 */
#include <errno.h>
#include <heddle/ar_manager/link.h>
#include <heddle/base/index.h>
#include <heddle/mad/queue.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_WAIT 20 /* ms between two calls of go_on */

struct hd_ar_link {
	const struct hd_smp_port *port;
	struct hd_smp_limits limits;
	struct hd_ar_program *program;
	struct hd_smp_queue *queue; /* NULL: no switches yet */
	uint32_t room; /* destinations of the queue */
	uint64_t sent; /* by queues before this one */
};

/* A MAD that is under way. */
struct errand {
	struct hd_ar_link *link;
	uint32_t slot;
	struct hd_gmp gmp; /* of the class N2N */
};

/* A node that was given up gets the next MAD all the same: the program counts its errors. */
static void on_end(void *cookie, const struct hd_smp_result *result)
{
	const struct errand *errand = cookie;
	const struct hd_gmp *gmp = result->smp->gmp;
	const struct hd_ar_answer answer = {.rc = result->rc,
					    .status = result->status,
					    .tries = result->tries,
					    .data = gmp ? gmp->data + HD_N2N_KEY : result->data};

	if (result->rc == -ETIMEDOUT || result->rc == -EHOSTDOWN)
		hd_smp_queue_forgive(errand->link->queue, result->destination);
	hd_ar_program_answer(errand->link->program, result->destination, errand->slot, &answer);
	free(cookie);
}

/* `gmp` NULL: the MAD is an SMP. */
static int ar_link_submit(struct hd_ar_link *link, uint32_t sw, uint32_t slot, struct hd_smp *smp,
			  const struct hd_gmp *gmp)
{
	struct errand *errand = malloc(sizeof(*errand));

	if (!errand)
		return -ENOMEM;
	errand->link = link;
	errand->slot = slot;
	if (gmp) {
		errand->gmp = *gmp;
		smp->gmp = &errand->gmp;
	}
	int rc = hd_smp_queue_submit(link->queue, sw, smp, on_end, errand);
	if (rc)
		free(errand);
	return rc;
}

static int send_mad(void *context, uint32_t sw, uint32_t slot, bool set,
		    const struct hd_ar_mad *mad)
{
	struct hd_smp smp = {.method = set ? HD_SMP_SET : HD_SMP_GET,
			     .attribute = (uint16_t)mad->attribute,
			     .modifier = mad->modifier};

	memcpy(smp.data, mad->data, sizeof(smp.data));
	return ar_link_submit(context, sw, slot, &smp, NULL);
}

static int send_n2n(void *context, uint32_t sw, uint32_t slot, bool set,
		    const struct hd_n2n_mad *mad)
{
	struct hd_smp smp = {.method = set ? HD_SMP_SET : HD_SMP_GET,
			     .attribute = (uint16_t)mad->attribute,
			     .modifier = mad->modifier};
	struct hd_gmp gmp = {.class = HD_N2N_CLASS, .lid = mad->lid};

	hd_n2n_mad_encode(mad, gmp.data);
	return ar_link_submit(context, sw, slot, &smp, &gmp);
}

static uint64_t now(void *context)
{
	const struct hd_ar_link *link = context;

	return link->port->now(link->port->context);
}

struct hd_ar_link *hd_ar_link_new(const struct hd_smp_port *port,
				  const struct hd_smp_limits *limits)
{
	struct hd_ar_link *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	*link = (struct hd_ar_link){.port = port, .limits = *limits};
	link->program = hd_ar_program_new(&(struct hd_ar_sender){send_mad, send_n2n, now, link});
	if (!link->program) {
		free(link);
		return NULL;
	}
	return link;
}

void hd_ar_link_free(struct hd_ar_link *link)
{
	if (!link)
		return;
	hd_smp_queue_free(link->queue);
	hd_ar_program_free(link->program);
	free(link);
}

struct hd_ar_program *hd_ar_link_program(struct hd_ar_link *link)
{
	return link->program;
}

int hd_ar_link_aim(struct hd_ar_link *link, const uint64_t *guids,
		   const struct hd_smp_address *addresses, uint32_t count)
{
	struct hd_smp_queue *larger = NULL;

	if (!link->queue || count > link->room) {
		larger = hd_smp_queue_new(link->port, &link->limits, count);
		if (!larger)
			return -ENOMEM;
	}
	if (hd_ar_program_set_switches(link->program, guids, count)) {
		hd_smp_queue_free(larger);
		return -ENOMEM;
	}
	if (larger) {
		link->sent = hd_ar_link_sent(link);
		hd_smp_queue_free(link->queue);
		link->queue = larger;
		link->room = count;
	}
	for (uint32_t i = 0; i < count; i++) {
		hd_smp_queue_aim(link->queue, i, &addresses[i]);
		hd_smp_queue_forgive(link->queue, i);
	}
	return 0;
}

int hd_ar_link_aim_fabric(struct hd_ar_link *link, const struct hd_fabric *fabric,
			  const struct hd_smp_address *addresses)
{
	uint32_t *order = calloc(fabric->switch_count + 1u, sizeof(*order));
	int rc = order ? hd_ar_program_order(fabric, order) : -ENOMEM;

	if (!rc)
		rc = hd_ar_link_aim(link, fabric->node_guid, addresses, fabric->switch_count);
	if (!rc)
		rc = hd_ar_program_set_order(link->program, order);
	if (!rc)
		hd_ar_program_set_vendors(link->program, fabric->vendor_id);
	free(order);
	return rc;
}

int hd_ar_link_run(struct hd_ar_link *link, bool (*go_on)(void *context), void *context)
{
	int rc = 0;

	while (!rc && hd_ar_program_busy(link->program)) {
		rc = hd_smp_queue_work(link->queue);
		if (!rc && go_on && !go_on(context))
			rc = -ECANCELED;
		if (!rc && hd_ar_program_busy(link->program))
			hd_smp_queue_wait_for(link->queue, LONGEST_WAIT);
	}
	if (rc) {
		/* Ends all that is under way. */
		hd_ar_program_stop(link->program);
		while (hd_ar_program_busy(link->program)) {
			hd_smp_queue_cancel(link->queue, HD_NONE);
			hd_smp_queue_work(link->queue);
		}
	}
	return rc;
}

uint64_t hd_ar_link_sent(const struct hd_ar_link *link)
{
	return link->sent + (link->queue ? hd_smp_queue_counts(link->queue)->sent : 0);
}
