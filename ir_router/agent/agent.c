/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The agent's state and its events: one router of the firmware, and a connection to the plugin of each subnet.
 *
 * agent_main.c makes it with agent_new() and calls agent_run(), which returns when a signal comes. Events are: a
 * message of a plugin (agent_link.c), which on_message() gives to the firmware; an answer of a switch; and timers for
 * the firmware's work, for advertisements to other routers, for lists that are handed over again, and for connections
 * that are silent. After each of them work_now() lets the firmware ask switches.
 *
 * The agent never relays a packet. All runs in one thread.
 */
#include "agent_parts.h"

#include <errno.h>
#include <heddle/base/error.h>
#include <inttypes.h>
#include <router_session.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* What the agent tells one plugin about the subnets of the others. */

/* A plugin listens to lists once it has told the router its own. */
static bool wants_lists(const struct agent *agent, const struct agent_link *link)
{
	return agent_link_is_open(link) && agent->router->subnets[link->subnet].ready;
}

static void send_list(struct agent *agent, struct agent_link *to, uint8_t of)
{
	uint32_t first = 0;

	while (agent_link_is_open(to) &&
	       first < hd_router_lists_of(agent->router, of)->host_count &&
	       agent->router->subnets[of].ready) {
		struct hd_router_message message = {.type = HD_ROUTER_FOREIGN};
		uint32_t length;

		hd_router_session_stamp(&to->session, &message);
		length = hd_router_write_foreign(agent->router, of, &first, &message, agent->bytes,
						 HD_ROUTER_MESSAGE_MAX);
		agent_link_send_bytes(to, agent->bytes, length);
	}
}

/* Hands the list of hosts of a subnet over to the plugins of all others that are ready. */
static void agent_lists_hand_over(struct agent *agent, uint8_t of)
{
	for (uint32_t s = 0; s < agent->link_count; s++)
		if (s != of && wants_lists(agent, &agent->links[s]))
			send_list(agent, &agent->links[s], of);
}

/* Passes a list on that a plugin has from another router, one hop further. */
static void agent_lists_pass_on(struct agent *agent, const struct agent_link *from,
				const struct hd_router_message *message)
{
	/* lists of attached subnets come from their own plugins */
	if (message->hops >= HD_ROUTER_HOPS_MAX ||
	    hd_router_subnet_of(agent->router, message->prefix) >= 0)
		return;
	for (uint32_t s = 0; s < agent->link_count; s++)
		if (s != from->subnet && wants_lists(agent, &agent->links[s])) {
			/* The same entries, with the stamp of another session. */
			struct agent_link *to = &agent->links[s];
			struct hd_router_message copy = *message;
			struct hd_router_writer writer;
			copy.hops++;
			hd_router_session_stamp(&to->session, &copy);
			hd_router_write_begin(&writer, agent->bytes, HD_ROUTER_MESSAGE_MAX, &copy);
			for (uint32_t i = 0; i < message->count; i++) {
				struct hd_router_host_entry entry;

				hd_router_host_at(message, i, &entry);
				hd_router_write_host(&writer, &entry);
			}
			agent_link_send_bytes(to, agent->bytes, hd_router_write_end(&writer));
		}
}

/* Advertises at each port what it leads to. */
static void agent_lists_advertise(struct agent *agent)
{
	for (uint32_t s = 0; s < agent->link_count; s++)
		if (wants_lists(agent, &agent->links[s])) {
			struct agent_link *link = &agent->links[s];
			uint32_t ports =
			    hd_router_lists_of(agent->router, link->subnet)->port_count;
			for (uint32_t p = 0; p < ports && agent_link_is_open(link); p++) {
				struct hd_router_message message = {.type = HD_ROUTER_PREFIXES};
				uint32_t length;

				hd_router_session_stamp(&link->session, &message);
				length = hd_router_write_prefixes(agent->router, link->subnet, p,
								  &message, agent->bytes,
								  HD_ROUTER_MESSAGE_MAX);
				agent_link_send_bytes(link, agent->bytes, length);
			}
		}
}

#define POLL_MS 20u /* for umad ports whose descriptor the event loop cannot watch */
#define REST_MS 60000u

static struct timeval to_timeval(uint64_t milliseconds)
{
	return (struct timeval){.tv_sec = (time_t)(milliseconds / 1000),
				.tv_usec = (suseconds_t)(milliseconds % 1000 * 1000)};
}

/* Whether a umad port must be asked for answers from time to time. */
static bool must_poll(const struct agent *agent)
{
	for (uint32_t s = 0; s < agent->link_count; s++)
		if (agent->smp.ports[s] && !agent->descriptors[s])
			return true;
	return false;
}

static void on_work(evutil_socket_t unused, short what, void *context)
{
	struct agent *agent = context;
	const struct hd_router_callbacks *callbacks = &agent->router->callbacks;
	uint64_t due = hd_router_work(agent->router), now = callbacks->now(callbacks->context);
	uint64_t wait = due <= now ? 0 : due - now;
	struct timeval rest;

	(void)unused;
	(void)what;
	if (wait > REST_MS)
		wait = REST_MS;
	if (wait > POLL_MS && must_poll(agent))
		wait = POLL_MS;
	rest = to_timeval(wait);
	event_add(agent->work, &rest);
}

static void work_now(struct agent *agent)
{
	event_active(agent->work, EV_TIMEOUT, 0);
}

static void on_answer(evutil_socket_t unused, short what, void *context)
{
	on_work(unused, what, context);
}

static enum hd_router_reason on_message(struct agent_link *link,
					const struct hd_router_message *message)
{
	struct agent *agent = link->owner;
	const uint64_t before = hd_router_lists_of(agent->router, link->subnet)->epoch;
	enum hd_router_reason reason = hd_router_update(agent->router, link->subnet, message);

	if (reason)
		return reason;
	if (message->type == HD_ROUTER_READY) {
		uint64_t epoch = message->epoch;
		if (epoch < before)
			hd_log(agent->log, HD_LOG_WARNING,
			       "subnet 0x%016" PRIx64 ": its epochs have gone back from %" PRIu64
			       " to %" PRIu64
			       ", as after a clock that was set back; the new lists count",
			       link->prefix, before, epoch);
		/* The lists of a new epoch are in use. */
		struct hd_router_message accepted = *message;
		accepted.type = HD_ROUTER_ACCEPTED;
		agent_link_send(link, accepted);
		hd_log(agent->log, HD_LOG_INFO,
		       "subnet 0x%016" PRIx64 ": epoch %" PRIu64
		       ": %u ports, %u hosts, %u mapped GIDs",
		       link->prefix, message->epoch, message->ports, message->hosts,
		       message->mapped);
		agent_lists_hand_over(agent, link->subnet);
		/* Hands the lists of all other subnets over to one plugin. */
		for (uint32_t s = 0; s < agent->link_count; s++)
			if (s != link->subnet)
				send_list(agent, link, (uint8_t)s);
		agent_lists_advertise(agent);
		work_now(agent);
	}
	if (message->type == HD_ROUTER_FOREIGN)
		agent_lists_pass_on(agent, link, message);
	return HD_ROUTER_OK;
}

/* Nothing to say before READY: the plugin does not know our ports yet. */
static void on_greeted(struct agent_link *link)
{
	(void)link;
}

static const struct agent_link_hooks hooks = {.greeted = on_greeted, .message = on_message};

static void on_advertise(evutil_socket_t unused, short what, void *context)
{
	struct agent *agent = context;
	const struct hd_router_callbacks *callbacks = &agent->router->callbacks;
	uint64_t now = callbacks->now(callbacks->context);

	(void)unused;
	(void)what;
	for (uint32_t s = 0; s < agent->link_count; s++) {
		/* without a connection nobody could renew what was learned */
		if (!agent_link_is_open(&agent->links[s]))
			continue;
		hd_router_prefixes_expire(&agent->router->prefixes, (uint8_t)s, now);
		agent_link_send(&agent->links[s],
				(struct hd_router_message){.type = HD_ROUTER_ALIVE});
	}
	agent_lists_advertise(agent);
}

/* Plugins forget lists that nobody repeats. */
static void on_repeat(evutil_socket_t unused, short what, void *context)
{
	struct agent *agent = context;

	(void)unused;
	(void)what;
	for (uint32_t s = 0; s < agent->link_count; s++)
		agent_lists_hand_over(agent, (uint8_t)s);
}

static void on_check(evutil_socket_t unused, short what, void *context)
{
	struct agent *agent = context;

	(void)unused;
	(void)what;
	for (uint32_t s = 0; s < agent->link_count; s++)
		agent_link_check(&agent->links[s]);
}

static void on_signal(evutil_socket_t unused, short what, void *context)
{
	struct agent *agent = context;

	(void)unused;
	(void)what;
	event_base_loopbreak(agent->base);
}

/* Watches the umad port of a subnet; if the event loop cannot, the timer asks it. */
static void watch(struct agent *agent, uint8_t subnet)
{
	int descriptor = agent_smp_descriptor(&agent->smp, subnet);
	struct event *event;

	if (descriptor < 0)
		return;
	event = event_new(agent->base, descriptor, EV_READ | EV_PERSIST, on_answer, agent);
	if (event && !event_add(event, NULL)) {
		agent->descriptors[subnet] = event;
		return;
	}
	if (event)
		event_free(event);
}

static int attach(struct agent *agent, unsigned index, const struct agent_subnet_config *subnet,
		  struct hd_error *err)
{
	const struct hd_umad_choice choice = {
	    .port_guid = subnet->port_guid, .device = subnet->device, .number = subnet->number};
	struct agent_link *link = &agent->links[index];
	uint8_t place;
	enum hd_router_reason reason = hd_router_attach(agent->router, subnet->prefix, &place);
	int rc = 0;

	if (reason)
		return hd_error_set(err, -EINVAL, "[router.subnet 0x%016" PRIx64 "]: %s",
				    subnet->prefix, hd_router_reason_text(reason));
	if (subnet->smp)
		rc = agent_smp_open(&agent->smp, place, &choice, err);
	if (rc)
		return hd_error_prefix(err, rc, "[router.subnet 0x%016" PRIx64 "]", subnet->prefix);
	watch(agent, place);
	*link = (struct agent_link){.base = agent->base,
				    .prefix = subnet->prefix,
				    .node_guid = agent->config->node_guid,
				    .address = subnet->socket,
				    .hooks = &hooks,
				    .log = agent->log,
				    .owner = agent,
				    .subnet = place};
	return agent_link_start(link, err);
}

static int add_timer(struct agent *agent, uint32_t milliseconds, event_callback_fn function,
		     struct event **event)
{
	const struct timeval period = to_timeval(milliseconds);

	*event = event_new(agent->base, -1, EV_PERSIST, function, agent);
	return *event && !event_add(*event, &period) ? 0 : -ENOMEM;
}

static int add_signal(struct agent *agent, int number, struct event **event)
{
	*event = evsignal_new(agent->base, number, on_signal, agent);
	return *event && !event_add(*event, NULL) ? 0 : -ENOMEM;
}

static int make_events(struct agent *agent)
{
	int rc;

	agent->work = evtimer_new(agent->base, on_work, agent);
	if (!agent->work)
		return -ENOMEM;
	rc = add_timer(agent, agent->config->advertise_ms, on_advertise, &agent->advertise);
	if (!rc)
		rc = add_timer(agent, agent->config->repeat_ms, on_repeat, &agent->repeat);
	if (!rc)
		rc = add_timer(agent, agent->config->settings.expire_ms, on_check, &agent->check);
	if (!rc)
		rc = add_signal(agent, SIGTERM, &agent->signals[0]);
	return rc ? rc : add_signal(agent, SIGINT, &agent->signals[1]);
}

static int agent_start(struct agent *agent, struct hd_error *err)
{
	int rc;

	agent->base = event_base_new();
	agent->link_count = agent->config->limits.subnets;
	agent->links = calloc(agent->link_count, sizeof(*agent->links));
	agent->descriptors = calloc(agent->link_count, sizeof(*agent->descriptors));
	agent->bytes = malloc(HD_ROUTER_MESSAGE_MAX);
	if (!agent->base || !agent->links || !agent->descriptors || !agent->bytes)
		return hd_error_no_memory(err);
	if (make_events(agent))
		return hd_error_no_memory(err);
	const struct hd_router_limits *limits = &agent->config->limits;
	const struct hd_router_callbacks callbacks = agent_smp_callbacks(&agent->smp);
	size_t size = hd_router_size(limits);
	agent->memory = aligned_alloc(8, size);
	if (!agent->memory)
		return hd_error_no_memory(err);
	agent->router =
	    hd_router_init(agent->memory, size, limits, &agent->config->settings, &callbacks);
	rc = agent->router ? 0 : hd_error_set(err, -EINVAL, "a limit is out of range");
	if (!rc) {
		struct agent_subnet_config subnet;

		for (unsigned i = 0; !rc && agent_config_subnet(agent->config, i, &subnet); i++)
			rc = attach(agent, i, &subnet, err);
	}
	if (!rc) {
		struct agent_prefix_config prefix;

		for (unsigned i = 0; agent_config_prefix(agent->config, i, &prefix); i++) {
			int subnet = hd_router_subnet_of(agent->router, prefix.via);
			enum hd_router_reason reason = HD_ROUTER_WRONG_PREFIX;

			if (subnet < 0)
				return hd_error_set(
				    err, -EINVAL,
				    "[router.prefix 0x%016" PRIx64
				    "]: the router is not attached to via = 0x%016" PRIx64,
				    prefix.prefix, prefix.via);
			reason = hd_router_prefixes_add_static(&agent->router->prefixes,
							       prefix.prefix, (uint8_t)subnet,
							       prefix.port_guid, prefix.lid);
			if (reason)
				return hd_error_set(err, -EINVAL,
						    "[router.prefix 0x%016" PRIx64 "]: %s",
						    prefix.prefix, hd_router_reason_text(reason));
		}
	}
	if (!rc)
		rc = agent_control_new(agent, agent->config->control, &agent->control, err);
	if (!rc)
		work_now(agent);
	return rc;
}

int agent_new(const struct agent_config *config, const struct hd_log *log, struct agent **out,
	      struct hd_error *err)
{
	struct agent *agent = calloc(1, sizeof(*agent));
	int rc;

	if (!agent)
		return hd_error_no_memory(err);
	agent->config = config;
	agent->log = log;
	agent->smp.timeout_ms = config->settings.timeout_ms;
	rc = agent_start(agent, err);
	if (rc)
		agent_free(agent);
	else
		*out = agent;
	return rc;
}

int agent_run(struct agent *agent)
{
	return event_base_dispatch(agent->base) < 0 ? -EIO : 0;
}

static void free_event(struct event *event)
{
	if (event)
		event_free(event);
}

void agent_free(struct agent *agent)
{
	if (!agent)
		return;
	agent_control_free(agent->control);
	for (uint32_t s = 0; s < agent->link_count; s++) {
		if (agent->links)
			agent_link_stop(&agent->links[s]);
		if (agent->descriptors)
			free_event(agent->descriptors[s]);
	}
	free_event(agent->work);
	free_event(agent->advertise);
	free_event(agent->repeat);
	free_event(agent->check);
	free_event(agent->signals[0]);
	free_event(agent->signals[1]);
	if (agent->base)
		event_base_free(agent->base);
	agent_smp_close(&agent->smp);
	free(agent->links);
	free(agent->descriptors);
	free(agent->bytes);
	free(agent->memory);
	free(agent);
}
