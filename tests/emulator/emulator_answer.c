/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "emulator_answer.h"
#include "emulator_attributes.h"
#include "emulator_recovery.h"
#include "emulator_session.h"
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/*
 * Marks in a transaction ID. ibsim overwrites its highest 16 bits, and its clients use the next 16
 * for the number of an agent, which is small.
 */
#define MARK_PROBE (UINT64_C(1) << 47)
#define MARK_SWALLOW (UINT64_C(1) << 46) /* the answer is to be lost */

/* Those of the class N2N have numbers of their own. */
static uint16_t attribute_of(const struct wire_datagram *datagram)
{
	uint16_t attribute = wire_get16(datagram->mad + MAD_ATTRIBUTE);

	return datagram->mad[MAD_CLASS] == CLASS_N2N ? (uint16_t)(attribute | ATTRIBUTE_N2N)
						     : attribute;
}

static uint64_t transaction_of(const struct wire_datagram *datagram)
{
	return wire_get64(datagram->mad + MAD_TRANSACTION);
}

/* Sends ibsim a question in the name of the client, along the way of a request. */
static struct probe *send_question(struct proxy *proxy, struct session *session,
				   enum probe_kind kind, const struct wire_datagram *request,
				   struct wire_datagram *question)
{
	uint32_t sequence = proxy->sequence++;
	struct probe *probe = &proxy->probes[sequence % PROXY_PROBES];

	*probe = (struct probe){.used = true,
				.kind = kind,
				.sequence = sequence,
				.session = session->number,
				.request = *request};
	wire_put64(question->mad + MAD_TRANSACTION, MARK_PROBE | sequence);
	proxy->probes_sent++;
	session_to_ibsim(session, question);
	return probe;
}

/* The same way, but a Get of another attribute. */
static struct wire_datagram question_of(const struct wire_datagram *request, uint16_t attribute,
					uint32_t modifier)
{
	struct wire_datagram question = *request;

	question.mad[MAD_METHOD] = METHOD_GET;
	wire_put16(question.mad + MAD_ATTRIBUTE, attribute);
	wire_put32(question.mad + MAD_MODIFIER, modifier);
	return question;
}

/* Asks ibsim which node the request addresses. */
static void ask(struct proxy *proxy, struct session *session, const struct wire_datagram *request,
		bool counts_only)
{
	struct wire_datagram question = question_of(request, ATTRIBUTE_NODE_INFO, 0);

	send_question(proxy, session, counts_only ? PROBE_COUNT : PROBE_NODE, request, &question);
}

/* The same for one of the class N2N: ibsim does not know that. */
static void ask_n2n(struct proxy *proxy, struct session *session,
		    const struct wire_datagram *request)
{
	struct wire_datagram question = question_of(request, ATTRIBUTE_NODE_INFO, 0);

	question.destination_qp = 0;
	question.mad[MAD_CLASS] = CLASS_LID_ROUTED;
	memset(question.mad + MAD_GMP_DATA, 0, WIRE_MAD_SIZE - MAD_GMP_DATA);
	proxy->requests++;
	nodes_count(&proxy->nodes.counts, attribute_of(request), request->mad[MAD_METHOD]);
	send_question(proxy, session, PROBE_N2N, request, &question);
}

/* Whether it is about port 0, whose PortInfo tells what a switch can do. */
static bool is_about_port_0(const struct wire_datagram *request)
{
	return attribute_of(request) == ATTRIBUTE_PORT_INFO &&
	       !(wire_get32(request->mad + MAD_MODIFIER) & 0xFF);
}

/* Whether the emulator has a say in the answer. */
static bool is_ours(const struct proxy *proxy, const struct wire_datagram *request)
{
	uint16_t attribute = attribute_of(request);

	return attributes_are_vendor(attribute) || attribute == ATTRIBUTE_PORT_STATES ||
	       proxy->standard_faults || (proxy->states && is_about_port_0(request)) ||
	       (proxy->nodes.hosts && attribute == ATTRIBUTE_EXTENDED_PORT_INFO);
}

void answer_request(struct proxy *proxy, struct session *session,
		    const struct wire_datagram *datagram)
{
	uint16_t attribute = attribute_of(datagram);

	if (wire_is_n2n(datagram)) {
		ask_n2n(proxy, session, datagram);
		return;
	}
	if (wire_is_request(datagram)) {
		proxy->requests++;
		nodes_count(&proxy->nodes.counts, attribute, datagram->mad[MAD_METHOD]);
		if (is_ours(proxy, datagram)) {
			ask(proxy, session, datagram, false);
			return;
		}
		if (proxy->watch || (proxy->lfts && attribute == ATTRIBUTE_LFT &&
				     datagram->mad[MAD_METHOD] == METHOD_SET))
			ask(proxy, session, datagram, true);
	}
	if (session->used)
		session_to_ibsim(session, datagram);
}

/* Answers a request the way ibsim has answered the question: `route` shows the way back. */
static void send_answer(struct session *session, const struct wire_datagram *request,
			const struct wire_datagram *route, uint16_t status, const uint8_t *data)
{
	struct wire_datagram answer = *route;
	uint64_t kept = transaction_of(route) & ~UINT64_C(0xFFFFFFFFFFFF);
	uint64_t asked = transaction_of(request) & UINT64_C(0xFFFFFFFFFFFF);

	if (request->mad[MAD_CLASS] == CLASS_DIRECT)
		status |= STATUS_DIRECTION;
	wire_put16(answer.mad + MAD_STATUS, status);
	wire_put64(answer.mad + MAD_TRANSACTION, kept | asked);
	memcpy(answer.mad + MAD_ATTRIBUTE, request->mad + MAD_ATTRIBUTE, 8);
	memcpy(answer.mad + MAD_DATA, data, WIRE_DATA_SIZE);
	session_to_client(session, &answer);
}

/* A Set that a switch has done. Readers look at the file while it grows. */
static void record(struct proxy *proxy, const struct node *node,
		   const struct wire_datagram *request)
{
	struct timespec now;

	if (!proxy->record || request->mad[MAD_METHOD] != METHOD_SET)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	fprintf(proxy->record, "%" PRIu64 " 0x%016" PRIx64 " 0x%04x 0x%08x ",
		(uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, node->guid,
		attribute_of(request), wire_get32(request->mad + MAD_MODIFIER));
	for (unsigned i = 0; i < WIRE_DATA_SIZE; i++)
		fprintf(proxy->record, "%02x", request->mad[MAD_DATA + i]);
	fputc('\n', proxy->record);
	fflush(proxy->record);
}

/* ---- port states ---- */

/* Asks ibsim for the states of all ports of a block. */
static void gather(struct proxy *proxy, struct session *session, const struct node *node,
		   const struct wire_datagram *request, const struct wire_datagram *route)
{
	uint32_t block = wire_get32(request->mad + MAD_MODIFIER);
	int first = (int)(block * STATES_PORTS), last = states_last(node->ports, block);
	uint32_t number = ++proxy->gathering_count;
	struct gathering *gathering = &proxy->gatherings[number % PROXY_GATHERINGS];
	uint16_t status = request->mad[MAD_METHOD] == METHOD_SET ? STATUS_UNSUPPORTED_METHOD
								 : STATUS_INVALID_VALUE;

	if (request->mad[MAD_METHOD] == METHOD_SET || last < first) {
		send_answer(session, request, route, status, request->mad + MAD_DATA);
		return;
	}
	*gathering = (struct gathering){.number = number,
					.left = (uint32_t)(last - first + 1),
					.request = *request,
					.route = *route};
	for (int port = first; port <= last; port++) {
		struct wire_datagram question =
		    question_of(request, ATTRIBUTE_PORT_INFO, (uint32_t)port);
		send_question(proxy, session, PROBE_STATE, &question, &question)->gathering =
		    number;
	}
}

/* The answer about one of the ports. */
static void take_state(struct proxy *proxy, struct session *session, const struct probe *probe,
		       const struct wire_datagram *answer)
{
	struct gathering *gathering = &proxy->gatherings[probe->gathering % PROXY_GATHERINGS];
	unsigned port = wire_get32(probe->request.mad + MAD_MODIFIER) % STATES_PORTS;

	if (gathering->number != probe->gathering)
		return;
	if (!answer->status)
		states_put(gathering->data, port, answer->mad + MAD_DATA);
	if (!--gathering->left)
		send_answer(session, &gathering->request, &gathering->route, STATUS_OK,
			    gathering->data);
}

/* The PortInfo of port 0 of a switch that has the table. */
static void announce(struct session *session, const struct probe *probe,
		     struct wire_datagram *answer)
{
	states_announce(answer->mad + MAD_DATA);
	send_answer(session, &probe->request, answer,
		    wire_get16(answer->mad + MAD_STATUS) & (uint16_t)~STATUS_DIRECTION,
		    answer->mad + MAD_DATA);
}

/* Whether the request is about port states, and is being answered. */
static bool perform_states(struct proxy *proxy, struct session *session, const struct node *node,
			   const struct wire_datagram *request, const struct wire_datagram *route,
			   bool lost)
{
	const bool table = attribute_of(request) == ATTRIBUTE_PORT_STATES;
	struct wire_datagram copy = *request;

	if (!table && !is_about_port_0(request))
		return false;
	if (!nodes_have_states(&proxy->nodes, node)) {
		if (table && !lost)
			send_answer(session, request, route, STATUS_UNSUPPORTED_ATTRIBUTE,
				    request->mad + MAD_DATA);
		return table;
	}
	if (lost && table)
		return true;
	if (lost)
		return false;
	if (table)
		gather(proxy, session, node, request, route);
	else
		send_question(proxy, session, PROBE_PORT_INFO, request, &copy);
	return true;
}

/* ---- what a node does ---- */

/* The switch does what the request says. `lost`: its answer is lost. */
static void perform(struct proxy *proxy, struct session *session, struct node *node,
		    const struct wire_datagram *request, const struct wire_datagram *route,
		    bool lost)
{
	uint16_t attribute = attribute_of(request), status = STATUS_UNSUPPORTED_ATTRIBUTE;
	struct wire_datagram copy = *request;

	const bool host = nodes_are_hosts(&proxy->nodes, node);

	if (perform_states(proxy, session, node, request, route, lost))
		return;
	if (!attributes_are_vendor(attribute) &&
	    !(host && attribute == ATTRIBUTE_EXTENDED_PORT_INFO)) {
		if (lost)
			wire_put64(copy.mad + MAD_TRANSACTION,
				   transaction_of(&copy) | MARK_SWALLOW);
		session_to_ibsim(session, &copy);
		return;
	}
	if (host && nodes_records(node))
		status = host_do(node->records, node->ports, request->mad[MAD_METHOD], attribute,
				 wire_get32(request->mad + MAD_MODIFIER), copy.mad + MAD_DATA);
	else if (nodes_have_ar(&proxy->nodes, node) && nodes_switch(&proxy->nodes, node)) {
		status =
		    attributes_do(node->sw, request->mad[MAD_METHOD], attribute,
				  wire_get32(request->mad + MAD_MODIFIER), copy.mad + MAD_DATA);
		if (!status)
			record(proxy, node, request);
	} else if (proxy->nodes.silent)
		return;
	if (!lost)
		send_answer(session, request, route, status, copy.mad + MAD_DATA);
}

/* ---- the class N2N ---- */

static void answer_n2n(struct session *session, const struct wire_datagram *request,
		       const struct wire_datagram *route, uint16_t status, const uint8_t *bytes)
{
	struct wire_datagram answer = *route;
	uint64_t kept = transaction_of(route) & ~UINT64_C(0xFFFFFFFFFFFF);
	uint64_t asked = transaction_of(request) & UINT64_C(0xFFFFFFFFFFFF);

	answer.destination_qp = request->source_qp;
	answer.source_qp = request->destination_qp;
	memcpy(answer.mad, request->mad, MAD_GMP_DATA);
	memcpy(answer.mad + MAD_GMP_DATA, bytes, WIRE_MAD_SIZE - MAD_GMP_DATA);
	answer.mad[MAD_METHOD] = METHOD_ANSWER;
	wire_put16(answer.mad + MAD_STATUS, status);
	wire_put64(answer.mad + MAD_TRANSACTION, kept | asked);
	session_to_client(session, &answer);
}

static void perform_n2n(struct proxy *proxy, struct session *session, struct node *node,
			const struct wire_datagram *request, const struct wire_datagram *route,
			bool lost)
{
	uint16_t status = STATUS_UNSUPPORTED_ATTRIBUTE;
	struct wire_datagram copy = *request;

	if (node->type == NODE_SWITCH)
		node->lid = be16toh((uint16_t)request->destination_lid);
	if (nodes_have_ar(&proxy->nodes, node) && nodes_switch(&proxy->nodes, node) &&
	    !recovery_n2n(
		node->sw, request->mad[MAD_METHOD], wire_get16(request->mad + MAD_ATTRIBUTE),
		wire_get32(request->mad + MAD_MODIFIER), copy.mad + MAD_GMP_DATA, &status))
		return;
	if (!lost)
		answer_n2n(session, request, route, status, copy.mad + MAD_GMP_DATA);
}

/* Does a request, and answers unless the answer is lost. */
static void perform_any(struct proxy *proxy, struct session *session, struct node *node,
			const struct wire_datagram *request, const struct wire_datagram *route,
			bool lost)
{
	if (request->mad[MAD_CLASS] == CLASS_N2N)
		perform_n2n(proxy, session, node, request, route, lost);
	else
		perform(proxy, session, node, request, route, lost);
}

/* A block of a forwarding table that goes to ibsim. */
static void note_lft(struct proxy *proxy, struct node *node, const struct wire_datagram *request)
{
	uint32_t first = wire_get32(request->mad + MAD_MODIFIER) * WIRE_DATA_SIZE;

	if (first >= SWITCH_LIDS)
		return;
	if (!node->lft) {
		node->lft = malloc(SWITCH_LIDS);
		if (!node->lft)
			return;
		memset(node->lft, 0xFF, SWITCH_LIDS);
	}
	memcpy(node->lft + first, request->mad + MAD_DATA, WIRE_DATA_SIZE);
	for (uint32_t lid = first; lid < first + WIRE_DATA_SIZE; lid++)
		if (node->lft[lid] != 0xFF && lid > proxy->nodes.top_lid)
			proxy->nodes.top_lid = lid;
}

static void refuse(struct session *session, const struct wire_datagram *request,
		   const struct wire_datagram *route, uint16_t status)
{
	if (request->mad[MAD_CLASS] == CLASS_N2N)
		answer_n2n(session, request, route, status, request->mad + MAD_GMP_DATA);
	else
		send_answer(session, request, route, status, request->mad + MAD_DATA);
}

/* Gives a request for a known node what a fault leaves of it. */
static void befall(struct proxy *proxy, struct session *session, struct node *node,
		   const struct wire_datagram *request, const struct wire_datagram *route)
{
	struct fault fault =
	    nodes_fault(&proxy->nodes, node, attribute_of(request), request->mad[MAD_METHOD]);
	struct delayed item = {.guid = node->guid, .session = session->number};

	switch (fault.kind) {
	case FAULT_SILENT:
		proxy->lost++;
		break;
	case FAULT_REFUSE:
		refuse(session, request, route, (uint16_t)fault.value);
		break;
	case FAULT_SLOW:
		item.due = proxy_now() + fault.value;
		item.request = *request;
		item.route = *route;
		delays_add(&proxy->delays, &item);
		break;
	case FAULT_LOSE:
		proxy->lost++;
		if (fault.value)
			perform_any(proxy, session, node, request, route, true);
		break;
	case FAULT_NONE:
		perform_any(proxy, session, node, request, route, false);
	}
}

static void trace(struct proxy *proxy, const struct node *node, const struct wire_datagram *request)
{
	if (proxy->trace)
		fprintf(proxy->trace, "0x%016" PRIx64 " %s 0x%04x 0x%08x\n", node->guid,
			request->mad[MAD_METHOD] == METHOD_SET ? "set" : "get",
			attribute_of(request), wire_get32(request->mad + MAD_MODIFIER));
}

/* The node that a NodeInfo tells of. */
static struct node *node_of(struct proxy *proxy, const struct wire_datagram *answer)
{
	const uint8_t *info = answer->mad + MAD_DATA;
	struct node *node = nodes_get(&proxy->nodes, wire_get64(info + 12));

	if (node) {
		node->type = info[2];
		node->ports = info[3];
	}
	return node;
}

/* ibsim has answered a question of ours. */
static void found(struct proxy *proxy, struct session *session, struct wire_datagram *answer)
{
	uint32_t sequence = (uint32_t)transaction_of(answer);
	struct probe *probe = &proxy->probes[sequence % PROXY_PROBES];
	struct node *node;

	if (!probe->used || probe->sequence != sequence || probe->session != session->number)
		return;
	probe->used = false;
	if (probe->kind == PROBE_STATE) {
		take_state(proxy, session, probe, answer);
		return;
	}
	if (answer->status) { /* the request would not have arrived either */
		probe->request.status = answer->status;
		if (probe->kind != PROBE_COUNT)
			session_to_client(session, &probe->request);
		return;
	}
	if (probe->kind == PROBE_PORT_INFO) {
		announce(session, probe, answer);
		return;
	}
	node = node_of(proxy, answer);
	if (!node)
		return;
	nodes_count(&node->counts, attribute_of(&probe->request), probe->request.mad[MAD_METHOD]);
	trace(proxy, node, &probe->request);
	if (proxy->lfts && attribute_of(&probe->request) == ATTRIBUTE_LFT &&
	    probe->request.mad[MAD_METHOD] == METHOD_SET)
		note_lft(proxy, node, &probe->request);
	if (probe->kind != PROBE_COUNT)
		befall(proxy, session, node, &probe->request, answer);
}

void answer_response(struct proxy *proxy, struct session *session, struct wire_datagram *datagram)
{
	uint64_t transaction = transaction_of(datagram);

	if (proxy->no_traps && datagram->mad[MAD_METHOD] == METHOD_TRAP)
		proxy->traps_lost++;
	else if (transaction & MARK_PROBE)
		found(proxy, session, datagram);
	else if (!(transaction & MARK_SWALLOW))
		session_to_client(session, datagram);
}

void answer_delayed(struct proxy *proxy, const struct delayed *item)
{
	struct session *session = session_of_number(proxy, item->session);
	struct node *node = nodes_get(&proxy->nodes, item->guid);

	if (session && node)
		perform_any(proxy, session, node, &item->request, &item->route, false);
}
