/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "repair_ask.h"
#include "repair_paths.h"
#include "writer.h"

#include <errno.h>
#include <heddle/mad/smp.h>
#include <stdlib.h>

#define QUIET_MS 5 /* without an answer: a switch that did not answer till then is suspected */
#define QUIET_TIMES 4 /* or as many times as the first answer took, if that is longer */
#define MUTE_MS 20 /* the same while there has been no answer at all: this machine may be busy */

/* A switch to be asked. */
struct target {
	struct asking *asking;
	uint32_t sw;
	uint32_t toward; /* only ports that lead to that switch; HD_NONE: all */
	uint32_t routes_left; /* that may still answer first */
	uint32_t chosen; /* destination in the queue, HD_NONE: none has answered */
	uint32_t ports_left; /* questions under way */
};

/* A question about a port. */
struct question {
	struct target *target;
	uint32_t port;
};

struct asking {
	struct repair_ask *ask;
	struct repair_paths paths;
	struct target *targets; /* [REPAIR_ASK_MOST] */
	uint32_t count;
	bool *known; /* [switch_count] the switch is a target with all its ports */
	bool *suspect; /* [port_count] like `cut`, with cables whose both ends are issuers */
	bool *avoid; /* [switch_count] switches that may have died */
	struct question *questions; /* [port_count] */
	bool failed; /* memory was short */
	/* by the port's clock: */
	uint64_t asked_ms; /* when it began to wait */
	uint64_t answered_ms; /* when the last answer came; asked_ms: none yet */
	uint64_t first_ms; /* from asked_ms to the first answer; HD_NONE: none yet */
};

/* ---- answers ---- */

static void note_answer(struct asking *asking)
{
	asking->answered_ms = asking->ask->port->now(asking->ask->port->context);
	if (asking->first_ms == HD_NONE)
		asking->first_ms = asking->answered_ms - asking->asked_ms;
}

static void note_state(struct repair_ask *ask, uint32_t port, uint8_t state)
{
	ask->asked++;
	if (state != HD_PORT_DOWN || ask->cut[port])
		return;
	ask->cut[port] = ask->cut[ask->fabric->peer[port]] = true;
	ask->found++;
}

static void on_port(void *cookie, const struct hd_smp_result *result)
{
	struct question *question = cookie;
	struct hd_port_info info;

	question->target->ports_left--;
	if (result->rc)
		return;
	note_answer(question->target->asking);
	hd_port_info_decode(result->data, &info);
	note_state(question->target->asking->ask, question->port, info.state);
}

static bool wants_port(const struct target *target, uint32_t port)
{
	const struct hd_fabric *fabric = target->asking->ask->fabric;
	uint32_t peer = fabric->peer[port];

	return peer != HD_NONE && !target->asking->ask->cut[port] &&
	       (target->toward == HD_NONE || fabric->port_node[peer] == target->toward);
}

static void ask_port(struct target *target, uint32_t number)
{
	struct asking *asking = target->asking;
	const uint32_t port = hd_port_index(asking->ask->fabric, target->sw, number);
	const struct hd_smp smp = {
	    .method = HD_SMP_GET, .attribute = HD_SMP_PORT_INFO, .modifier = number};

	if (!wants_port(target, port))
		return;
	asking->questions[port] = (struct question){target, port};
	if (hd_smp_queue_submit(asking->ask->queue, target->chosen, &smp, on_port,
				&asking->questions[port]))
		asking->failed = true;
	else
		target->ports_left++;
}

/* The ports with these numbers, one by one. */
static void ask_each(struct target *target, uint32_t first, uint32_t last)
{
	for (uint32_t number = first; number <= last; number++)
		ask_port(target, number);
}

/* The numbers of the ports in a block of the table. */
static void block_ports(const struct target *target, uint32_t block, uint32_t *first,
			uint32_t *last)
{
	const uint32_t ports = hd_node_ports(target->asking->ask->fabric, target->sw);

	*first = block ? block * HD_PORT_STATES : 1;
	*last = (block + 1) * HD_PORT_STATES - 1;
	if (*last > ports)
		*last = ports;
}

static void on_table(void *cookie, const struct hd_smp_result *result)
{
	struct target *target = cookie;
	uint8_t states[HD_PORT_STATES];
	uint32_t first, last;

	target->ports_left--;
	block_ports(target, result->smp->modifier, &first, &last);
	if (result->rc == -EREMOTEIO) /* it said that it has the table, and has not */
		ask_each(target, first, last);
	if (result->rc)
		return;
	note_answer(target->asking);
	hd_port_states_decode(result->data, states);
	for (uint32_t number = first; number <= last; number++)
		if (states[number % HD_PORT_STATES] == HD_PORT_DOWN)
			ask_port(target, number);
}

static void ask_table(struct target *target)
{
	struct asking *asking = target->asking;
	const uint32_t ports = hd_node_ports(asking->ask->fabric, target->sw);

	for (uint32_t block = 0; block < hd_port_states_blocks(ports); block++) {
		const struct hd_smp smp = {
		    .method = HD_SMP_GET, .attribute = HD_SMP_PORT_STATES, .modifier = block};
		if (hd_smp_queue_submit(asking->ask->queue, target->chosen, &smp, on_table, target))
			asking->failed = true;
		else
			target->ports_left++;
	}
}

static void ask_ports(struct target *target)
{
	const struct repair_ask *ask = target->asking->ask;

	/* a few ports that lead to one switch cost no more than the table */
	if (target->toward == HD_NONE && ask->port_states && ask->port_states[target->sw])
		ask_table(target);
	else
		ask_each(target, 1, hd_node_ports(ask->fabric, target->sw));
}

static void on_node(void *cookie, const struct hd_smp_result *result)
{
	struct target *target = cookie;
	const struct hd_fabric *fabric = target->asking->ask->fabric;
	struct hd_node_info info;

	target->routes_left--;
	if (result->rc || target->chosen != HD_NONE)
		return;
	hd_node_info_decode(result->data, &info);
	if (info.guid != fabric->node_guid[target->sw])
		return; /* the path leads elsewhere now */
	target->chosen = result->destination;
	note_answer(target->asking);
	ask_ports(target);
}

/* ---- questions ---- */

static int add_target(struct asking *asking, uint32_t sw, uint32_t toward)
{
	if (asking->known[sw])
		return 0;
	for (uint32_t i = asking->count; i-- && asking->targets[i].toward == toward;)
		if (asking->targets[i].sw == sw)
			return 0; /* parallel cables, or a switch that is an issuer twice */
	if (asking->count == REPAIR_ASK_MOST)
		return -E2BIG;
	asking->known[sw] |= toward == HD_NONE;
	asking->targets[asking->count++] =
	    (struct target){.asking = asking, .sw = sw, .toward = toward, .chosen = HD_NONE};
	return 0;
}

static int ask_node(struct asking *asking, uint32_t index, unsigned route)
{
	struct repair_ask *ask = asking->ask;
	struct target *target = &asking->targets[index];
	const struct hd_smp smp = {.method = HD_SMP_GET, .attribute = HD_SMP_NODE_INFO};
	uint32_t destination = ask->first + index * REPAIR_ASK_ROUTES + route;
	struct hd_smp_address address;

	if (!repair_paths_address(&asking->paths, target->sw, ask->m_key, &address))
		return 0;
	hd_smp_queue_aim(ask->queue, destination, &address);
	hd_smp_queue_forgive(ask->queue, destination);
	if (hd_smp_queue_submit(ask->queue, destination, &smp, on_node, target))
		return -ENOMEM;
	target->routes_left++;
	return 0;
}

/* The targets from `begin` on. */
static int ask_nodes(struct asking *asking, uint32_t begin)
{
	int rc = 0;

	/* a switch that is avoided may be one of the few that lead to the targets: so only once */
	for (unsigned route = 0; !rc && route < REPAIR_ASK_ROUTES; route++) {
		const bool last = route + 1 == REPAIR_ASK_ROUTES;
		repair_paths_search(&asking->paths, last ? asking->ask->cut : asking->suspect,
				    route ? NULL : asking->avoid, last ? 0 : route);
		for (uint32_t i = begin; !rc && i < asking->count; i++)
			rc = ask_node(asking, i, route);
	}
	return rc;
}

/* All cables between the switch and others are lost: it need not answer. */
static bool is_cut_off(const struct asking *asking, uint32_t sw)
{
	const struct hd_fabric *fabric = asking->ask->fabric;

	for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
		if (!asking->ask->cut[hd_port_index(fabric, sw, fabric->isl_port[link])])
			return false;
	return true;
}

static bool is_done(const struct target *target)
{
	return target->chosen == HD_NONE
		   ? !target->routes_left || is_cut_off(target->asking, target->sw)
		   : !target->ports_left;
}

static bool all_done(const struct asking *asking, uint32_t begin)
{
	for (uint32_t i = begin; i < asking->count; i++)
		if (!is_done(&asking->targets[i]))
			return false;
	return true;
}

/* How long those that are missing may be silent. */
static uint64_t patience(const struct asking *asking)
{
	if (asking->first_ms == HD_NONE)
		return MUTE_MS;
	return asking->first_ms * QUIET_TIMES > QUIET_MS ? asking->first_ms * QUIET_TIMES
							 : QUIET_MS;
}

/* Those that are missing have been silent for a while, and no question to others is under way. */
static bool is_quiet(const struct asking *asking, uint32_t begin)
{
	const struct hd_smp_port *port = asking->ask->port;

	for (uint32_t i = begin; i < asking->count; i++)
		if (asking->targets[i].chosen != HD_NONE && asking->targets[i].ports_left)
			return false;
	return port->now(port->context) - asking->answered_ms >= patience(asking);
}

static void cancel(struct repair_ask *ask)
{
	while (hd_smp_queue_pending(ask->queue)) {
		hd_smp_queue_cancel(ask->queue, HD_NONE);
		hd_smp_queue_work(ask->queue);
	}
}

/* Works until all targets from `begin` on have answered, or cannot; with `hurry` only while answers
 * come. Forgets what it knows of targets that are silent. */
static int wait_for(struct asking *asking, uint32_t begin, bool hurry)
{
	struct repair_ask *ask = asking->ask;
	int rc = 0;

	asking->asked_ms = asking->answered_ms = ask->port->now(ask->port->context);
	asking->first_ms = HD_NONE;
	while (!rc && !all_done(asking, begin) && !(hurry && is_quiet(asking, begin))) {
		rc = ask->work(ask->context, ask->queue);
		if (rc || all_done(asking, begin))
			break;
		writer_pause(ask->queue);
	}
	cancel(ask);
	for (uint32_t i = begin; i < asking->count; i++)
		if (asking->targets[i].chosen == HD_NONE) {
			asking->known[asking->targets[i].sw] = false;
			ask->silent += !is_cut_off(asking, asking->targets[i].sw);
		}
	return rc ? rc : asking->failed ? -ENOMEM : 0;
}

/* ---- what may be lost before anyone is asked ---- */

static void suspect_cables(struct asking *asking)
{
	const struct hd_fabric *fabric = asking->ask->fabric;

	for (uint32_t i = 0; i < asking->count; i++) {
		uint32_t sw = asking->targets[i].sw;
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			if (asking->known[fabric->isl_to[link]])
				asking->suspect[hd_port_index(fabric, sw, fabric->isl_port[link])] =
				    true;
	}
}

/* A switch that is no issuer, but half of its neighbours and more than one are. */
static void suspect_switches(struct asking *asking)
{
	const struct hd_fabric *fabric = asking->ask->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		uint32_t links = fabric->isl_base[sw + 1] - fabric->isl_base[sw], issuers = 0;
		for (uint32_t link = fabric->isl_base[sw]; link < fabric->isl_base[sw + 1]; link++)
			issuers += asking->known[fabric->isl_to[link]];
		asking->avoid[sw] = !asking->known[sw] && issuers > 1 && 2 * issuers >= links;
	}
}

/* Asks all other neighbours of a switch about their cables to it. */
static int ask_around(struct asking *asking, uint32_t sw)
{
	const struct hd_fabric *fabric = asking->ask->fabric;
	int rc = 0;

	if (asking->avoid[sw])
		return 0;
	asking->avoid[sw] = true; /* once; and no path passes it now */
	for (uint32_t link = fabric->isl_base[sw]; !rc && link < fabric->isl_base[sw + 1]; link++)
		if (!asking->ask->cut[hd_port_index(fabric, sw, fabric->isl_port[link])])
			rc = add_target(asking, fabric->isl_to[link], sw);
	return rc;
}

/* Switches that are silent, and neighbours that have lost a cable and were not asked. */
static int add_others(struct asking *asking)
{
	const struct hd_fabric *fabric = asking->ask->fabric;
	uint32_t end = asking->count;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < end; i++) {
		uint32_t sw = asking->targets[i].sw;
		if (!asking->known[sw])
			rc = ask_around(asking, sw);
		for (uint32_t link = fabric->isl_base[sw]; !rc && link < fabric->isl_base[sw + 1];
		     link++)
			if (asking->ask->cut[hd_port_index(fabric, sw, fabric->isl_port[link])] &&
			    !asking->known[fabric->isl_to[link]])
				rc = ask_around(asking, fabric->isl_to[link]);
	}
	return rc;
}

/* ---- all of it ---- */

static int allocate(struct asking *asking)
{
	const struct hd_fabric *fabric = asking->ask->fabric;

	asking->targets = calloc(REPAIR_ASK_MOST, sizeof(*asking->targets));
	asking->known = calloc(fabric->switch_count + 1u, sizeof(bool));
	asking->avoid = calloc(fabric->switch_count + 1u, sizeof(bool));
	asking->suspect = malloc(fabric->port_count + 1u);
	asking->questions = malloc((fabric->port_count + 1u) * sizeof(*asking->questions));
	return asking->targets && asking->known && asking->avoid && asking->suspect &&
		       asking->questions
		   ? 0
		   : -ENOMEM;
}

/* Paths avoid what is known to be lost, and nothing else. */
static void suspect_nothing(struct asking *asking)
{
	const struct hd_fabric *fabric = asking->ask->fabric;

	for (uint32_t port = 0; port < fabric->port_count; port++)
		asking->suspect[port] = asking->ask->cut[port];
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		asking->avoid[sw] = false;
}

/* Nothing is lost as far as the others know: so the issuers that were silent, among the first `count`
 * targets, are slow. Asks them once more and waits for the answers. */
static int ask_again(struct asking *asking, uint32_t count)
{
	uint32_t begin = asking->count;
	int rc = 0;

	asking->ask->silent = 0;
	for (uint32_t i = 0; !rc && i < count; i++)
		if (asking->targets[i].chosen == HD_NONE)
			rc = add_target(asking, asking->targets[i].sw, HD_NONE);
	if (rc || asking->count == begin)
		return rc;
	suspect_nothing(asking);
	rc = ask_nodes(asking, begin);
	int waited = wait_for(asking, begin, false);
	return rc ? rc : waited;
}

static int ask_all(struct asking *asking, const uint32_t *issuers, uint32_t count)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < count; i++)
		rc = add_target(asking, issuers[i], HD_NONE);
	for (uint32_t port = 0; port < asking->ask->fabric->port_count; port++)
		asking->suspect[port] = asking->ask->cut[port];
	suspect_cables(asking);
	suspect_switches(asking);
	if (!rc)
		rc = ask_nodes(asking, 0);
	int waited = wait_for(asking, 0, true);
	if (rc || waited)
		return rc ? rc : waited;
	uint32_t begin = asking->count;
	suspect_nothing(asking);
	rc = add_others(asking);
	if (rc || asking->count == begin)
		return rc;
	rc = ask_nodes(asking, begin);
	waited = wait_for(asking, begin, false);
	if (!rc && !waited && !asking->ask->found)
		return ask_again(asking, begin);
	return rc ? rc : waited;
}

int repair_ask_run(struct repair_ask *ask, const uint32_t *issuers, uint32_t count,
		   struct hd_error *err)
{
	struct asking asking = {.ask = ask};
	int rc = allocate(&asking);

	if (!rc)
		rc = repair_paths_init(&asking.paths, ask->fabric, ask->own_port);
	ask->asked = ask->silent = ask->found = 0;
	if (!rc)
		rc = ask_all(&asking, issuers, count);
	repair_paths_release(&asking.paths);
	free(asking.targets);
	free(asking.known);
	free(asking.avoid);
	free(asking.suspect);
	free(asking.questions);
	switch (rc) {
	case 0:
		return 0;
	case -EINVAL:
		return hd_error_set(err, rc, "our own port is not in the fabric");
	case -E2BIG:
		return hd_error_set(err, rc, "more than %u switches to ask", REPAIR_ASK_MOST);
	case -ECANCELED:
		return hd_error_set(err, rc, WRITER_LOST_TURN);
	case -ENOMEM:
		return hd_error_no_memory(err);
	default:
		return hd_error_set(err, rc, "the port does not send");
	}
}
