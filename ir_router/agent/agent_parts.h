/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The agent: a router without a data path, between the plugins of its subnets and their
 * switches. What its parts are. */
#ifndef AGENT_PARTS_H
#define AGENT_PARTS_H

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <heddle/base/error.h>
#include <heddle/config.h>
#include <heddle/mad.h>
#include <jansson.h>
#include <router.h>
#include <router_session.h>

/* ---- heddle.conf ---- */

/* What heddle.conf says to the agent: [router], [router.subnet PREFIX], [router.prefix PREFIX]. */

/* Texts are valid as long as the configuration. */
struct agent_config {
	struct hd_config_sections *sections;
	struct hd_config *values;
	uint64_t node_guid;
	const char *control; /* path of the control socket */
	uint32_t advertise_ms;
	uint32_t repeat_ms; /* between two times that hosts are handed over */
	struct hd_router_settings settings;
	struct hd_router_limits limits; /* subnets as the file has */
};

/* A section [router.subnet PREFIX]. */
struct agent_subnet_config {
	uint64_t prefix;
	const char *socket; /* of the plugin: a path, or ADDRESS:PORT */
	bool smp; /* ask the switches of this subnet */
	uint64_t port_guid; /* our port in it; 0: by device and number */
	const char *device; /* NULL: any */
	int number; /* 0: any */
};

/* A section [router.prefix PREFIX]: a static row of the prefix table. */
struct agent_prefix_config {
	uint64_t prefix, via, port_guid;
	uint16_t lid;
};

/* Reads the file. *config is released with agent_config_release(). Errors: as hd_config_read(), and
 * -EINVAL no subnet. */
int agent_config_read(const char *path, struct agent_config *config, struct hd_error *err);
void agent_config_release(struct agent_config *config);

/* Section number `index`, in the order of the file; false: there are not so many. */
bool agent_config_subnet(const struct agent_config *config, unsigned index,
			 struct agent_subnet_config *subnet);
bool agent_config_prefix(const struct agent_config *config, unsigned index,
			 struct agent_prefix_config *prefix);

/* ---- the plugin ---- */

/*
 * The connection to the plugin of one subnet: connects, greets, cuts the stream into messages, and
 * connects again after a failure, first after 1 s, at last every 60 s.
 */

struct agent_link;

/* What the owner of a link does. */
struct agent_link_hooks {
	/* The other side has greeted. */
	void (*greeted)(struct agent_link *link);
	/* A message has come. Returns why it is refused, or HD_ROUTER_OK. */
	enum hd_router_reason (*message)(struct agent_link *link,
					 const struct hd_router_message *message);
};

struct agent_link {
	struct event_base *base;
	struct bufferevent *stream; /* NULL between connections */
	struct event *again; /* the timer until the next connection */
	struct hd_router_session session;
	uint64_t prefix, node_guid;
	const char *address; /* a path, or ADDRESS:PORT */
	const struct agent_link_hooks *hooks;
	const struct hd_log *log;
	void *owner;
	uint8_t subnet;
	uint32_t wait_ms; /* before the next connection */
	uint64_t heard; /* messages since the last agent_link_check() */
	uint64_t connections, refused,
	    refusals; /* counters: refused by us, and by the other side */
	uint8_t *bytes; /* [HD_ROUTER_MESSAGE_MAX] for writing */
};

/* Begins to connect. The fields base, prefix, node_guid, address, hooks, log, owner and subnet are
 * set. Errors: -ENOMEM. */
int agent_link_start(struct agent_link *link, struct hd_error *err);

void agent_link_stop(struct agent_link *link);

/* Whether messages can be sent. */
static inline bool agent_link_is_open(const struct agent_link *link)
{
	return link->stream && link->session.greeted;
}

/* Sends a message without entries. */
void agent_link_send(struct agent_link *link, struct hd_router_message message);

/* Sends bytes that hold a complete message with the session's stamp. Drops the connection if the
 * other side does not read what was sent before. */
void agent_link_send_bytes(struct agent_link *link, const uint8_t *bytes, uint32_t length);

/* Drops the connection if nothing has come since the last check. */
void agent_link_check(struct agent_link *link);

/* ---- SMPs to the switches ---- */

/* The SMPs of the firmware module: by LID, over one umad port for each subnet. */

/* Zero-initialise before use. */
struct agent_smp {
	struct hd_umad_port *ports[HD_ROUTER_SUBNETS_LIMIT]; /* NULL: no SMPs there */
	uint32_t timeout_ms;
};

/* Opens the port for a subnet. Errors: as hd_umad_port_open(). */
int agent_smp_open(struct agent_smp *smp, uint8_t subnet, const struct hd_umad_choice *choice,
		   struct hd_error *err);

void agent_smp_close(struct agent_smp *smp);

/* For poll(); -1: the subnet has no port, or the port no descriptor. */
int agent_smp_descriptor(const struct agent_smp *smp, uint8_t subnet);

/* The callbacks for a router. `smp` must outlive it. */
struct hd_router_callbacks agent_smp_callbacks(struct agent_smp *smp);

/* ---- control ---- */

/*
 * The control socket: a client sends one line, the name of a table, and gets the table as a JSON array of objects, or
 * {"error": "..."}.
 */

struct agent;
struct agent_control;

/*
 * Listens at a path, which only the owner and the group may use. Replaces a socket of this user that nobody listens at,
 * and nothing else. Errors: -EADDRINUSE an agent listens there, -EEXIST it is no socket, -EPERM it is another user's;
 * those of bind().
 */
int agent_control_new(struct agent *agent, const char *path, struct agent_control **out,
		      struct hd_error *err);

/* Removes the socket, if its file is still that one. NULL is allowed. */
void agent_control_free(struct agent_control *control);

/* ---- the agent ---- */

struct agent {
	const struct agent_config *config;
	const struct hd_log *log;
	struct event_base *base;
	struct hd_router *router;
	void *memory; /* of the router */
	struct agent_smp smp;
	struct agent_link *links; /* [link_count], by the index of the subnet in the router */
	struct event **descriptors; /* [link_count] of umad ports; NULL: none */
	uint32_t link_count;
	struct event *work, *advertise, *repeat, *check; /* timers */
	struct event *signals[2];
	struct agent_control *control;
	uint8_t *bytes; /* [HD_ROUTER_MESSAGE_MAX] */
};

/* Opens umad ports and sockets, and begins to connect. *out is freed with agent_free(). The
 * configuration and the log must outlive it. Errors: of the ports and of the control socket, and
 * -ENOMEM, with a reason. */
int agent_new(const struct agent_config *config, const struct hd_log *log, struct agent **out,
	      struct hd_error *err);

/* Works until SIGTERM or SIGINT. Returns 0, or -EIO if the event loop fails. */
int agent_run(struct agent *agent);

void agent_free(struct agent *agent);

/* ---- tables for people ---- */

/* The agent's tables for people and programs: heddle-router show NAME. */

/* What they show. */
struct agent_state {
	struct hd_router *router;
	const struct agent_link *links; /* [link_count], by the index of the subnet in the router */
	uint32_t link_count;
};

/* Name and summary of table number `index`; false: there are not so many. */
bool agent_tables_at(unsigned index, const char **name, const char **summary);

#endif
