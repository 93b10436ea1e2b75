/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SMPs to many nodes, with many outstanding at the same time. The queue repeats an SMP that gets no
 * answer. Each request ends with one call of its callback.
 *
 *   queue = hd_smp_queue_new(port, &limits, switch_count);
 *   hd_smp_queue_aim(queue, s, &address);                      for each switch s
 *   hd_smp_queue_submit(queue, s, &smp, on_done, cookie);       as often as wanted
 *   hd_smp_queue_run(queue);                                   or poll() and hd_smp_queue_work()
 *
 * Order: of all requests that may be sent, the queue sends the one that was submitted first. It
 * sends requests to one destination in the order of their submission; but several may be
 * outstanding, and a lost one is repeated later. A caller that needs one request done before
 * another submits the other in the callback of the first.
 *
 * Nodes that do not answer: a node gets one request at a time until it has answered for the first
 * time, and again between a time-out and its next answer. A request that is repeated does not count
 * in the window. So a silent switch costs the others one place of the window for one time-out.
 * After `errors` unanswered requests in a row the queue gives the node up: all requests to it end
 * at once, until hd_smp_queue_forgive().
 *
 * Not for several threads at a time. Only wait, wait_for, run and ask block.
 */
#ifndef HEDDLE_MAD_QUEUE_H
#define HEDDLE_MAD_QUEUE_H

#include <heddle/base/error.h>
#include <heddle/mad/smp.h>
#include <stdbool.h>
#include <stdint.h>

struct hd_smp_limits {
	uint32_t window; /* outstanding requests to nodes that answer, 1 .. 65535 */
	uint32_t each; /* of these to one node, 1 or more */
	uint32_t timeout_ms; /* of the first try, 1 or more; each further try has twice the time */
	uint32_t retries; /* further tries, 0 .. 10 */
	uint32_t errors; /* unanswered requests in a row that make us give a node up, 1 or more */
	/* Tries that one call of hd_smp_queue_work() sends at most, and answers that it takes; 0: all. */
	uint32_t at_once;
};

/* window 64, each 4, timeout 200 ms, 3 retries, 1 error. */
#define HD_SMP_LIMITS_DEFAULT                                                                      \
	{                                                                                          \
		.window = 64, .each = 4, .timeout_ms = 200, .retries = 3, .errors = 1              \
	}

/* How a request has ended. */
struct hd_smp_result {
	uint32_t destination;
	const struct hd_smp *smp; /* as submitted */
	/*
	 * 0: done, `data` is the answer. -EREMOTEIO: refused, see `status`. -ETIMEDOUT: no answer
	 * to any try. -EHOSTDOWN: not sent, since the node was given up. -ECANCELED. Other negative
	 * errno: the port could not send it.
	 */
	int rc;
	uint16_t status;
	uint32_t tries; /* times sent */
	const uint8_t *data; /* [HD_SMP_DATA]; NULL unless the node answered */
};

/* Called once for each request, by hd_smp_queue_work(). It may call any function of the queue but
 * wait, wait_for, run, ask, work and free. What `result` points to is valid during the call. */
typedef void hd_smp_done(void *cookie, const struct hd_smp_result *result);

struct hd_smp_counts {
	uint64_t sent; /* tries, first ones and repeated ones */
	uint64_t repeated; /* of these */
	uint64_t done, refused, unanswered, given_up, canceled; /* requests by their end */
	uint64_t late; /* answers that came when nobody waited for them any more */
};

struct hd_smp_queue;

/* A queue for the destinations 0 .. destinations - 1, to be freed with hd_smp_queue_free(). The
 * port must outlive it. NULL: no memory. */
struct hd_smp_queue *hd_smp_queue_new(const struct hd_smp_port *port,
				      const struct hd_smp_limits *limits, uint32_t destinations);

/* Forgets all requests, without calling back. NULL is allowed. */
void hd_smp_queue_free(struct hd_smp_queue *queue);

/* Sets where a destination is, which is copied. Requests use the address of the time at which they
 * are sent. */
void hd_smp_queue_aim(struct hd_smp_queue *queue, uint32_t destination,
		      const struct hd_smp_address *address);

/* Queues a request, which is copied, to a destination that has an address. Nothing is sent before
 * hd_smp_queue_work(). Errors: -ENOMEM, nothing is queued. Cost: O(1). */
int hd_smp_queue_submit(struct hd_smp_queue *queue, uint32_t destination, const struct hd_smp *smp,
			hd_smp_done *done, void *cookie);

/*
 * Takes answers, repeats what was lost, sends what may go, and calls back. Returns 0, or a negative
 * errno when the port is broken: then cancel and free. Cost: O(log destinations) for each request,
 * and O(window) for each call.
 */
int hd_smp_queue_work(struct hd_smp_queue *queue);

/* Requests that have not ended. */
uint32_t hd_smp_queue_pending(const struct hd_smp_queue *queue);

/* Milliseconds after which hd_smp_queue_work() has something to do even if no answer comes; 0: now;
 * -1: never. */
int hd_smp_queue_timeout(const struct hd_smp_queue *queue);

/* Blocks until hd_smp_queue_work() has something to do. */
void hd_smp_queue_wait(struct hd_smp_queue *queue);

/* The same, but not longer than that. */
void hd_smp_queue_wait_for(struct hd_smp_queue *queue, int milliseconds);

/* Works until no request is pending. Returns 0 or what hd_smp_queue_work() returned. */
int hd_smp_queue_run(struct hd_smp_queue *queue);

/*
 * A request has had no answer so far, or the node was busy. `tries` were made, 1 or more, and at least one is
 * left. The function may call hd_smp_queue_aim() for the destination, and nothing else of the queue. False:
 * no more tries; the request ends as if this had been the last one.
 */
typedef bool hd_smp_late(void *context, uint32_t destination, uint32_t tries);

/* From now on the queue calls `late` before it repeats a request. NULL: it calls nothing. */
void hd_smp_queue_on_late(struct hd_smp_queue *queue, hd_smp_late *late, void *context);

/* Ends all requests to a destination; HD_NONE: to all. Their callbacks say -ECANCELED, in the next
 * hd_smp_queue_work() or before the present one returns. The queue ignores late answers to
 * them. */
void hd_smp_queue_cancel(struct hd_smp_queue *queue, uint32_t destination);

/* Whether the queue has given a destination up. */
bool hd_smp_queue_is_given_up(const struct hd_smp_queue *queue, uint32_t destination);

/* Gives a destination another chance, as if it were new; requests already ended stay so. */
void hd_smp_queue_forgive(struct hd_smp_queue *queue, uint32_t destination);

/* What has happened since the queue was made. */
const struct hd_smp_counts *hd_smp_queue_counts(const struct hd_smp_queue *queue);

/* ---- linear forwarding tables ---- */

/* Linear forwarding tables: read back from many switches at once, and set block by block. */

#define HD_LFT_BLOCK 64u /* LIDs of a block */

/* The table of one switch while it is read. */
struct hd_lft_row {
	uint32_t destination; /* the switch in the queue */
	uint16_t top_lid; /* highest LID to read; SwitchInfo.linear_top */
	uint8_t *ports; /* [hd_lft_size(top_lid)]; blocks that could not be read are left alone */
	uint32_t left; /* blocks that have not ended: 0, the row is done */
	int rc; /* 0, or the first failure, as in hd_smp_result */
};

/* Bytes of a row up to that LID: whole blocks. */
static inline uint32_t hd_lft_size(uint16_t top_lid)
{
	return (top_lid / HD_LFT_BLOCK + 1) * HD_LFT_BLOCK;
}

/*
 * Queues the reading of a switch's table. The row must live until row->left is 0. `left` and `rc`
 * are set here. Errors: -ENOMEM; blocks that were queued before that are read all the same. Cost:
 * one SMP for each block.
 */
int hd_lft_read(struct hd_smp_queue *queue, struct hd_lft_row *row);

/* Queues the setting of a block: the ports of the LIDs 64 * block .. 64 * block + 63, 0xFF for
 * none. Errors: as hd_smp_queue_submit(). */
int hd_lft_set(struct hd_smp_queue *queue, uint32_t destination, uint32_t block,
	       const uint8_t ports[HD_LFT_BLOCK], hd_smp_done *done, void *cookie);

/* ---- multicast forwarding tables ---- */

/* Multicast forwarding tables, set block by block. */

#define HD_MFT_MASKS 32u /* MLIDs of a block */

/*
 * Queues the setting of a block: for the MLIDs 0xC000 + 32 * block and on, which of the 16 ports from
 * 16 * position on get copies. Bit p of masks[m] is port 16 * position + p. block < 512, position < 16.
 * Errors: as hd_smp_queue_submit(). (InfiniBand specification, volume 1, 14.2.5.12,
 * MulticastForwardingTable.)
 */
int hd_mft_set(struct hd_smp_queue *queue, uint32_t destination, uint32_t block, uint32_t position,
	       const uint16_t masks[HD_MFT_MASKS], hd_smp_done *done, void *cookie);

#endif
