/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel matches answers to requests by the lower half of the transaction ID, drops answers
 * that come after the time-out, and hands a request without an answer back. We ask it for no
 * retries: the queue does them, with more time for each.
 */
#include <errno.h>
#include <heddle/base/clock.h>
#include <heddle/mad/umad_port.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAD_SIZE 256
#define SMP_VERSION 1
#define GMP_VERSION 1
#define DATA_OFFSET 64
#define GMP_OFFSET 24
#define GMP_QUEUE_PAIR 1
#define GMP_CLASS_FIRST 0x09
#define GMP_CLASSES 7

struct hd_umad_port {
	struct hd_smp_port smp;
	int descriptor; /* libibumad's number of the port */
	int lid_agent, direct_agent;
	int gmp_agents[GMP_CLASSES]; /* number + 1; 0: none yet */
	uint32_t last_id; /* that a queue has sent */
	void *sent, *received; /* buffers, umad_size() + MAD_SIZE each */
};

static uint64_t now_ms(void *context)
{
	(void)context;
	return (uint64_t)hd_clock_ms();
}

/* Writes the SMP into port->sent. Returns 0 or -EINVAL. */
static int build(struct hd_umad_port *port, const struct hd_smp_address *address,
		 const struct hd_smp *smp, uint32_t id)
{
	ib_portid_t to = {.lid = address->lid};
	uint8_t data[HD_SMP_DATA] = {0};
	ib_rpc_t rpc = {.mgtclass = address->lid ? IB_SMI_CLASS : IB_SMI_DIRECT_CLASS,
			.method = (int)smp->method,
			.attr = {.id = smp->attribute, .mod = smp->modifier},
			.dataoffs = DATA_OFFSET,
			.datasz = HD_SMP_DATA,
			.mkey = address->m_key,
			.trid = id};

	if (address->hop_count > HD_SMP_HOPS)
		return -EINVAL;
	if (smp->method == HD_SMP_SET)
		memcpy(data, smp->data, sizeof(data));
	to.drpath.cnt = address->hop_count;
	memcpy(to.drpath.p, address->path, (size_t)address->hop_count + 1);
	memset(port->sent, 0, umad_size() + MAD_SIZE);
	return mad_build_pkt(port->sent, &rpc, &to, NULL, data) < 0 ? -EINVAL : 0;
}

static int build_gmp(struct hd_umad_port *port, const struct hd_smp *smp, uint32_t id)
{
	ib_portid_t to = {.lid = smp->gmp->lid, .qp = GMP_QUEUE_PAIR, .qkey = IB_DEFAULT_QP1_QKEY};
	ib_rpc_t rpc = {.mgtclass = smp->gmp->class,
			.method = (int)smp->method,
			.attr = {.id = smp->attribute, .mod = smp->modifier},
			.dataoffs = GMP_OFFSET,
			.datasz = HD_GMP_DATA,
			.trid = id};

	memset(port->sent, 0, umad_size() + MAD_SIZE);
	return mad_build_pkt(port->sent, &rpc, &to, NULL, smp->gmp->data) < 0 ? -EINVAL : 0;
}

/* The agent for a class, which is registered when it is used for the first time. */
static int gmp_agent(struct hd_umad_port *port, uint8_t class)
{
	int *agent, registered;

	if (class < GMP_CLASS_FIRST || class >= GMP_CLASS_FIRST + GMP_CLASSES)
		return -EINVAL;
	agent = &port->gmp_agents[class - GMP_CLASS_FIRST];
	if (!*agent) {
		registered = umad_register(port->descriptor, class, GMP_VERSION, 0, NULL);
		if (registered < 0)
			return -EPERM;
		*agent = registered + 1;
	}
	return *agent - 1;
}

static int send_smp(void *context, const struct hd_smp_address *address, const struct hd_smp *smp,
		    uint32_t id, uint32_t timeout_ms)
{
	struct hd_umad_port *port = context;
	int agent = smp->gmp	   ? gmp_agent(port, smp->gmp->class)
		    : address->lid ? port->lid_agent
				   : port->direct_agent;
	int rc = agent < 0  ? agent
		 : smp->gmp ? build_gmp(port, smp, id)
			    : build(port, address, smp, id);

	if (rc)
		return rc;
	errno = 0;
	if (umad_send(port->descriptor, agent, port->sent, MAD_SIZE, (int)timeout_ms, 0) >= 0)
		return 0;
	if (errno == ENOMEM || errno == EINTR)
		return -EAGAIN;
	return errno ? -errno : -EIO;
}

/* What a received packet means; false: nothing to us. */
static bool read_event(const struct hd_umad_port *port, int length, struct hd_smp_event *event)
{
	uint8_t *mad = umad_get_mad(port->received);
	int status = umad_status(port->received);
	unsigned class;
	bool direct, gmp;

	event->id = (uint32_t)mad_get_field64(mad, 0, IB_MAD_TRID_F);
	event->rc = -status;
	if (status)
		return true;
	if (length < MAD_SIZE || !(mad_get_field(mad, 0, IB_MAD_RESPONSE_F)))
		return false;
	class = mad_get_field(mad, 0, IB_MAD_MGMTCLASS_F);
	direct = class == IB_SMI_DIRECT_CLASS;
	gmp = class >= GMP_CLASS_FIRST && class < GMP_CLASS_FIRST + GMP_CLASSES;
	event->attribute = (uint16_t)mad_get_field(mad, 0, IB_MAD_ATTRID_F);
	event->status =
	    (uint16_t)mad_get_field(mad, 0, direct ? IB_DRSMP_STATUS_F : IB_MAD_STATUS_F);
	if (gmp)
		memcpy(event->data, mad + GMP_OFFSET, HD_GMP_DATA);
	else
		memcpy(event->data, mad + DATA_OFFSET, HD_SMP_DATA);
	return true;
}

static int receive_smp(void *context, struct hd_smp_event *event)
{
	struct hd_umad_port *port = context;

	for (;;) {
		int length = MAD_SIZE;
		int rc = umad_recv(port->descriptor, port->received, &length, 0);

		if (rc == -EAGAIN || rc == -EINTR)
			return 0;
		if (rc < 0)
			return rc;
		if (read_event(port, length, event))
			return 1;
	}
}

static void wait_for_smp(void *context, int milliseconds)
{
	const struct hd_umad_port *port = context;

	umad_poll(port->descriptor, milliseconds);
}

static int descriptor_of(void *context)
{
	const struct hd_umad_port *port = context;

	return umad_get_fd(port->descriptor);
}

/* Whether a device has a port of that GUID; its number. */
static bool has_guid(const char *device, uint64_t guid, int *number)
{
	umad_ca_t adapter;
	bool found = false;

	if (umad_get_ca(device, &adapter) < 0)
		return false;
	for (int i = 0; i <= adapter.numports && !found; i++) {
		found = adapter.ports[i] && be64toh(adapter.ports[i]->port_guid) == guid;
		*number = i;
	}
	umad_release_ca(&adapter);
	return found;
}

/* Replaces a GUID by the device, whose name is written to `name`, and the number. */
static int find_guid(struct hd_umad_choice *choice, char name[UMAD_CA_NAME_LEN],
		     struct hd_error *err)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
	int count = umad_get_cas_names(names, UMAD_MAX_DEVICES);

	for (int i = 0; i < count; i++) {
		if (!has_guid(names[i], choice->port_guid, &choice->number))
			continue;
		memcpy(name, names[i], UMAD_CA_NAME_LEN);
		choice->device = name;
		return 0;
	}
	return hd_error_set(err, -ENODEV, "no adapter has a port with the GUID 0x%016" PRIx64,
			    choice->port_guid);
}

static int open_descriptor(struct hd_umad_port *port, const struct hd_umad_choice *asked,
			   struct hd_error *err)
{
	struct hd_umad_choice choice = *asked;
	char name[UMAD_CA_NAME_LEN];
	int rc;

	if (umad_init() < 0)
		return hd_error_set(err, -ENODEV, "this machine has no umad devices");
	if (choice.port_guid) {
		rc = find_guid(&choice, name, err);
		if (rc)
			return rc;
	}
	rc = umad_open_port(choice.device, choice.number);
	if (rc < 0)
		return hd_error_set(err, rc, "cannot open port %d of %s: %s", choice.number,
				    choice.device ? choice.device : "any adapter", strerror(-rc));
	port->descriptor = rc;
	return 0;
}

static int register_agents(struct hd_umad_port *port, struct hd_error *err)
{
	port->lid_agent = umad_register(port->descriptor, IB_SMI_CLASS, SMP_VERSION, 0, NULL);
	port->direct_agent =
	    umad_register(port->descriptor, IB_SMI_DIRECT_CLASS, SMP_VERSION, 0, NULL);
	if (port->lid_agent < 0 || port->direct_agent < 0)
		return hd_error_set(err, -EPERM, "cannot register for SMPs at the port");
	return 0;
}

int hd_umad_port_open(const struct hd_umad_choice *choice, struct hd_umad_port **port,
		      struct hd_error *err)
{
	struct hd_umad_port *made = calloc(1, sizeof(*made));
	int rc;

	if (!made)
		return hd_error_no_memory(err);
	made->descriptor = -1;
	rc = open_descriptor(made, choice, err);
	if (!rc)
		rc = register_agents(made, err);
	if (!rc) {
		made->sent = calloc(1, umad_size() + MAD_SIZE);
		made->received = calloc(1, umad_size() + MAD_SIZE);
		if (!made->sent || !made->received)
			rc = hd_error_no_memory(err);
	}
	if (rc) {
		hd_umad_port_close(made);
		return rc;
	}
	made->smp = (struct hd_smp_port){.send = send_smp,
					 .receive = receive_smp,
					 .wait = wait_for_smp,
					 .descriptor = descriptor_of,
					 .now = now_ms,
					 .context = made,
					 .last_id = &made->last_id};
	*port = made;
	return 0;
}

void hd_umad_port_close(struct hd_umad_port *port)
{
	if (!port)
		return;
	/* the kernel drops the agents and what they wait for */
	if (port->descriptor >= 0)
		umad_close_port(port->descriptor);
	free(port->sent);
	free(port->received);
	free(port);
}

const struct hd_smp_port *hd_umad_port_smp(const struct hd_umad_port *port)
{
	return &port->smp;
}
