/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Collective operations of MPI, one step at a time.
 *
 * traffic_ranks.c asks exchange_step() for the step of a rank; chakra.c makes operations of a schedule from the same
 * steps. A step depends on operation, ranks, rank, root, size and number alone, so nothing is kept between calls.
 * Steps of both ends agree: if a rank sends to another in a step, that one receives from it in the same step.
 */
#include "traffic_exchange.h"

#define BARRIER_BYTES 8u
#define BRUCK_MOST 256u
#define DOUBLING_MOST 2048u
#define GATHER_RING_FROM 524288u

const char *const exchange_names[EXCHANGE_COUNT] = {
    "barrier",
    "all-to-all",
    "all-to-all-linear",
    "all-to-all-pairwise",
    "all-to-all-bruck",
    "all-reduce",
    "all-reduce-doubling",
    "all-reduce-ring",
    "all-gather",
    "all-gather-doubling",
    "all-gather-ring",
    "broadcast",
    "reduce",
    "gather",
    "scatter",
};

/* All that a step depends on. */
struct call {
	uint32_t ranks, rank, root, step;
	uint64_t bytes;
};

static uint64_t at_least_one(uint64_t bytes)
{
	return bytes ? bytes : 1;
}

static bool is_power(uint32_t number)
{
	return !(number & (number - 1));
}

/* The least n with 2^n >= number. */
static uint32_t log_up(uint32_t number)
{
	uint32_t n = 0;

	while (n < 31 && 1u << n < number)
		n++;
	return n;
}

/* To the rank `distance` further on the ring, from the one as far behind. */
static void shift(const struct call *call, uint32_t distance, struct exchange_step *out)
{
	out->to = (uint32_t)(((uint64_t)call->rank + distance) % call->ranks);
	out->from = (uint32_t)(((uint64_t)call->rank + call->ranks - distance) % call->ranks);
}

static bool barrier(const struct call *call, struct exchange_step *out)
{
	if (call->step >= log_up(call->ranks))
		return false;
	shift(call, 1u << call->step, out);
	out->bytes = BARRIER_BYTES;
	return true;
}

static bool all_to_all(const struct call *call, bool linear, struct exchange_step *out)
{
	if (call->step + 1 >= call->ranks)
		return false;
	shift(call, call->step + 1, out);
	out->bytes = call->bytes;
	out->wait = !linear || call->step + 2 == call->ranks;
	return true;
}

/* Step k sends the blocks whose number has bit k. */
static bool bruck(const struct call *call, struct exchange_step *out)
{
	uint32_t blocks = 0, bit = 1u << (call->step & 31);

	if (call->step >= log_up(call->ranks))
		return false;
	for (uint32_t low = bit; low < call->ranks; low += 2 * bit)
		blocks += (call->ranks - low < bit) ? call->ranks - low : bit;
	shift(call, bit, out);
	out->bytes = call->bytes * blocks;
	return true;
}

/* Ranks beyond the largest power of two hand their part to a neighbour before, and get the result
 * behind. */
static bool reduce_by_doubling(const struct call *call, struct exchange_step *out)
{
	uint32_t steps = log_up(call->ranks), power = 1u << steps, rank = call->rank;

	if (power > call->ranks) {
		power >>= 1;
		steps--;
	}
	uint32_t rest = call->ranks - power;
	bool paired = rank < 2 * rest, outside = paired && rank % 2 == 0;
	if (call->step >= steps + 2)
		return false;
	if (call->step == 0 || call->step == steps + 1) {
		bool sends = call->step ? !outside : outside;
		if (paired && sends)
			out->to = rank ^ 1;
		else if (paired)
			out->from = rank ^ 1;
	} else if (!outside) {
		uint32_t place = paired ? rank / 2 : rank - rest;
		uint32_t peer = place ^ 1u << (call->step - 1);
		out->to = out->from = peer < rest ? 2 * peer + 1 : peer + rest;
	}
	out->bytes = call->bytes;
	return true;
}

static bool reduce_by_ring(const struct call *call, struct exchange_step *out)
{
	if (call->step >= 2 * (call->ranks - 1))
		return false;
	shift(call, 1, out);
	out->bytes = (call->bytes + call->ranks - 1) / call->ranks;
	return true;
}

static bool gather_by_ring(const struct call *call, struct exchange_step *out)
{
	if (call->step + 1 >= call->ranks)
		return false;
	shift(call, 1, out);
	out->bytes = call->bytes;
	return true;
}

static bool gather_by_doubling(const struct call *call, struct exchange_step *out)
{
	if (!is_power(call->ranks))
		return gather_by_ring(call, out);
	if (call->step >= log_up(call->ranks))
		return false;
	out->to = out->from = call->rank ^ 1u << call->step;
	out->bytes = call->bytes << call->step;
	return true;
}

/*
 * A binomial tree, in ranks relative to the root. In round k, the ranks below 2^k are joined to
 * those 2^k further. Downwards the rounds ascend, upwards they descend.
 */
static bool tree(const struct call *call, bool down, bool whole, struct exchange_step *out)
{
	uint32_t rounds = log_up(call->ranks), relative, peer;

	if (call->step >= rounds)
		return false;
	uint32_t half = 1u << (down ? call->step : rounds - 1 - call->step);
	relative = (uint32_t)(((uint64_t)call->rank + call->ranks - call->root) % call->ranks);
	if (relative >= 2 * half || (relative < half && relative + half >= call->ranks))
		return true;
	bool upper = relative < half;
	uint32_t lower_one = upper ? relative + half : relative;
	peer = upper ? relative + half : relative - half;
	peer = (uint32_t)(((uint64_t)peer + call->root) % call->ranks);
	if (upper == down)
		out->to = peer;
	else
		out->from = peer;
	/* the ranks below the lower one of the two, itself included */
	uint32_t below = (call->ranks - lower_one + 2 * half - 1) / (2 * half);
	out->bytes = whole ? call->bytes : call->bytes * below;
	return true;
}

static enum exchange chosen(enum exchange exchange, const struct call *call)
{
	switch (exchange) {
	case EXCHANGE_ALL_TO_ALL:
		return call->bytes <= BRUCK_MOST && call->ranks >= 8 ? EXCHANGE_ALL_TO_ALL_BRUCK
								     : EXCHANGE_ALL_TO_ALL_PAIRWISE;
	case EXCHANGE_ALL_REDUCE:
		return call->bytes <= DOUBLING_MOST ? EXCHANGE_ALL_REDUCE_DOUBLING
						    : EXCHANGE_ALL_REDUCE_RING;
	case EXCHANGE_ALL_GATHER:
		return call->bytes * call->ranks < GATHER_RING_FROM ? EXCHANGE_ALL_GATHER_DOUBLING
								    : EXCHANGE_ALL_GATHER_RING;
	default:
		return exchange;
	}
}

static bool step_of(enum exchange exchange, const struct call *call, struct exchange_step *out)
{
	switch (chosen(exchange, call)) {
	case EXCHANGE_BARRIER:
		return barrier(call, out);
	case EXCHANGE_ALL_TO_ALL_LINEAR:
		return all_to_all(call, true, out);
	case EXCHANGE_ALL_TO_ALL_PAIRWISE:
		return all_to_all(call, false, out);
	case EXCHANGE_ALL_TO_ALL_BRUCK:
		return bruck(call, out);
	case EXCHANGE_ALL_REDUCE_DOUBLING:
		return reduce_by_doubling(call, out);
	case EXCHANGE_ALL_REDUCE_RING:
		return reduce_by_ring(call, out);
	case EXCHANGE_ALL_GATHER_DOUBLING:
		return gather_by_doubling(call, out);
	case EXCHANGE_ALL_GATHER_RING:
		return gather_by_ring(call, out);
	case EXCHANGE_BROADCAST:
		return tree(call, true, true, out);
	case EXCHANGE_REDUCE:
		return tree(call, false, true, out);
	case EXCHANGE_GATHER:
		return tree(call, false, false, out);
	case EXCHANGE_SCATTER:
		return tree(call, true, false, out);
	default:
		return false;
	}
}

bool exchange_step(enum exchange exchange, uint32_t ranks, uint32_t rank, uint32_t root,
		   uint64_t bytes, uint32_t step, struct exchange_step *out)
{
	struct call call = {ranks, rank, root, step, bytes};

	*out = (struct exchange_step){.to = HD_NONE, .from = HD_NONE, .wait = true};
	bool more = ranks > 1 && step_of(exchange, &call, out);
	out->bytes = at_least_one(out->bytes);
	return more;
}
