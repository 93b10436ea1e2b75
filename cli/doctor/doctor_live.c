/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the switches and hosts themselves say, asked by Gets alone. */
#include "doctor_site.h"
#include "need.h"
#include "progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#ifdef HEDDLE_MAD

#include <heddle/ar_manager.h>
#include <heddle/mad/queue.h>
#include <heddle/mad/umad_port.h>

/* An answer. */
struct said {
	int rc; /* 0, or the negative errno of the request; 1: not asked */
	uint8_t data[HD_SMP_DATA];
};

struct asking {
	struct doctor_site *site;
	struct hd_umad_port *port;
	struct hd_smp_queue *queue; /* destinations: the nodes of the fabric */
	struct hd_port_info *infos; /* [port_count]; of ports that answered */
	struct said *ports; /* [port_count] PortInfo */
	struct said *nodes; /* [node_count] NodeInfo */
	struct said *abilities, *adaptive; /* [switch_count] GeneralInfo, AdaptiveRoutingInfo */
	struct said *managers; /* [port_count] SMInfo */
	uint32_t limited, first_limited; /* cables with less enabled than supported; a port */
};

static void take(void *cookie, const struct hd_smp_result *result)
{
	struct said *said = cookie;

	said->rc = result->rc;
	if (!result->rc)
		memcpy(said->data, result->data, sizeof(said->data));
}

static void ask(struct asking *asking, uint32_t node, uint16_t attribute, uint32_t modifier,
		struct said *said)
{
	const struct hd_smp smp = {
	    .method = HD_SMP_GET, .attribute = attribute, .modifier = modifier};

	need_enough(hd_smp_queue_submit(asking->queue, node, &smp, take, said));
}

/* The port by which a node is asked, HD_NONE: it has no LID. */
static uint32_t port_of(const struct hd_fabric *fabric, uint32_t node)
{
	if (hd_is_switch(fabric, node))
		return fabric->lid[fabric->port_base[node]] ? fabric->port_base[node] : HD_NONE;
	for (uint32_t port = fabric->port_base[node]; port < fabric->port_base[node + 1]; port++)
		if (fabric->lid[port] && fabric->peer[port] != HD_NONE)
			return port;
	return HD_NONE;
}

static int run(struct asking *asking, const char *what)
{
	progress_begin("asking the fabric: %s", what);
	const int rc = hd_smp_queue_run(asking->queue);
	progress_end();
	return rc;
}

/* All ports with cables, with extended speeds where the node knows them. */
static int ask_ports(struct asking *asking)
{
	const struct hd_fabric *fabric = asking->site->fabric;

	for (uint32_t port = 0; port < fabric->port_count; port++) {
		const uint32_t node = fabric->port_node[port], own = port_of(fabric, node);
		if (own == HD_NONE || asking->ports[own].rc || fabric->peer[port] == HD_NONE)
			continue;
		const bool extended =
		    asking->infos[own].capability_mask & HD_PORT_HAS_EXTENDED_SPEEDS;
		ask(asking, node, HD_SMP_PORT_INFO,
		    hd_port_number(fabric, port) | (extended ? HD_SMP_EXTENDED_SPEEDS : 0),
		    &asking->ports[port]);
	}
	int rc = run(asking, "ports");
	for (uint32_t port = 0; port < fabric->port_count; port++)
		if (!asking->ports[port].rc)
			hd_port_info_decode(asking->ports[port].data, &asking->infos[port]);
	return rc;
}

static int ask_abilities(struct asking *asking)
{
	const struct hd_fabric *fabric = asking->site->fabric;

	for (uint32_t sw = 0; sw < fabric->switch_count; sw++) {
		const uint32_t own = port_of(fabric, sw);
		if (own == HD_NONE || asking->ports[own].rc)
			continue;
		ask(asking, sw, HD_AR_GENERAL_INFO, HD_AR_GENERAL_INFO_CAPABILITIES,
		    &asking->abilities[sw]);
	}
	int rc = run(asking, "abilities");
	for (uint32_t sw = 0; !rc && sw < fabric->switch_count; sw++) {
		struct hd_ar_capability_mask mask;
		if (asking->abilities[sw].rc)
			continue;
		hd_ar_capability_mask_decode(asking->abilities[sw].data, &mask);
		if (hd_ar_capability_mask_has(&mask, HD_AR_CAN_OLD) ||
		    hd_ar_capability_mask_has(&mask, HD_AR_CAN_REV1))
			ask(asking, sw, HD_AR_INFO, 0, &asking->adaptive[sw]);
	}
	return rc ? rc : run(asking, "adaptive routing");
}

static int ask_managers(struct asking *asking)
{
	const struct hd_fabric *fabric = asking->site->fabric;

	for (uint32_t port = 0; port < fabric->port_count; port++)
		if (!asking->ports[port].rc && fabric->lid[port] &&
		    asking->infos[port].capability_mask & HD_PORT_IS_SM &&
		    port == port_of(fabric, fabric->port_node[port]))
			ask(asking, fabric->port_node[port], HD_SMP_SM_INFO, 0,
			    &asking->managers[port]);
	return run(asking, "subnet managers");
}

struct manager {
	struct hd_sm_info info;
	uint32_t port;
};

static void compare_managers(struct doctor_site *site, const struct manager *all, uint32_t count)
{
	char place[DOCTOR_PLACE_SIZE], other[DOCTOR_PLACE_SIZE];
	uint32_t masters = 0;

	for (uint32_t i = 0; i < count; i++)
		masters += all[i].info.state == HD_SM_MASTER;

	if (masters != 1)
		doctor_report_add(
		    &site->report, masters ? DOCTOR_ERROR : DOCTOR_WARNING,
		    doctor_port_place(site, all[0].port, place),
		    masters ? "end all but one; check sm_key of all, and the cables between them"
			    : "ask again after the sweep; then look at the logs of the managers",
		    "%u of %u subnet managers are the master", masters, count);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < i; j++)
			if (all[i].info.priority == all[j].info.priority)
				doctor_report_add(&site->report, DOCTOR_WARNING,
						  doctor_port_place(site, all[i].port, place),
						  "give them different sm_priority, the highest to "
						  "the one that is to be master",
						  "this subnet manager and %s have the same "
						  "priority %u: which one is the master "
						  "depends on their GUIDs",
						  doctor_port_place(site, all[j].port, other),
						  all[i].info.priority);
}

static void check_managers(struct asking *asking)
{
	struct doctor_site *site = asking->site;
	const struct hd_fabric *fabric = site->fabric;
	struct manager all[16];
	uint32_t count = 0;

	doctor_report_begin(&site->report, "subnet-managers");
	for (uint32_t port = 0; port < fabric->port_count && count < 16; port++) {
		if (asking->managers[port].rc)
			continue;
		hd_sm_info_decode(asking->managers[port].data, &all[count].info);
		all[count].port = port;
		count += all[count].info.state != HD_SM_NOT_ACTIVE;
	}
	if (count)
		compare_managers(site, all, count);
	else
		doctor_report_skip(&site->report, "no subnet manager answered");
}

/* Whether the node that answers is the one of the file. Some files have port GUIDs alone. */
static bool is_meant(const struct asking *asking, uint32_t node, struct hd_node_info *info)
{
	const struct hd_fabric *fabric = asking->site->fabric;

	if (asking->nodes[node].rc)
		return true;
	hd_node_info_decode(asking->nodes[node].data, info);
	return info->guid == fabric->node_guid[node] || info->port_guid == fabric->node_guid[node];
}

static void check_node(struct asking *asking, uint32_t node, uint32_t port)
{
	struct doctor_site *site = asking->site;
	const uint16_t expected = site->fabric->lid[port], lid = asking->infos[port].lid;
	struct hd_node_info info;
	char place[DOCTOR_PLACE_SIZE];

	doctor_port_place(site, port, place);
	if (asking->ports[port].rc)
		doctor_report_add(&site->report, DOCTOR_WARNING, place,
				  "look whether the node is up, and whether the file is of now",
				  "the node does not answer at LID %u: %s", expected,
				  strerror(-asking->ports[port].rc));
	else if (!is_meant(asking, node, &info))
		doctor_report_add(
		    &site->report, DOCTOR_ERROR, place,
		    "give the output of ibnetdiscover of now; two nodes with one LID show so, too",
		    "at LID %u another node answers, 0x%016" PRIx64, expected, info.guid);
	else if (lid != expected)
		doctor_report_add(&site->report, DOCTOR_ERROR, place,
				  "give the output of ibnetdiscover of now",
				  "the node at LID %u says that its LID is %u", expected, lid);
}

static unsigned highest(unsigned bits)
{
	unsigned bit = 0;

	while (bits >>= 1)
		bit++;
	return bit;
}

/* Lanes by the bits of a width: 1, 4, 8, 12 and 2. */
static unsigned lanes_of(unsigned bits)
{
	static const unsigned lanes[] = {1, 4, 8, 12, 2};
	unsigned most = 0;

	for (unsigned bit = 0; bit < 5; bit++)
		if (bits >> bit & 1 && lanes[bit] > most)
			most = lanes[bit];
	return most;
}

static const char *speed_name(const struct hd_port_info *info)
{
	static const char *const extended[] = {"FDR", "EDR", "HDR", "NDR"};
	static const char *const plain[] = {"SDR", "DDR", "QDR"};
	unsigned bit = highest(info->extended_active);

	if (info->extended_active)
		return bit < 4 ? extended[bit] : "?";
	bit = highest(info->speed_active);
	return bit < 3 ? plain[bit] : "?";
}

/* What the two ends of a cable have in common. */
struct common {
	unsigned lanes, extended, plain; /* lanes, and bits of speeds */
};

static bool is_slower(const struct hd_port_info *info, const struct common *common)
{
	if (common->lanes > lanes_of(info->width_active))
		return true;
	if (common->extended)
		return !info->extended_active ||
		       highest(common->extended) > highest(info->extended_active);
	return !info->extended_active && common->plain &&
	       highest(common->plain) > highest(info->speed_active);
}

static bool is_below_enabled(const struct hd_port_info *a, const struct hd_port_info *b)
{
	const struct common enabled = {lanes_of(a->width_enabled & b->width_enabled),
				       a->extended_enabled & b->extended_enabled &
					   a->extended_supported & b->extended_supported,
				       a->speed_enabled & b->speed_enabled};

	return is_slower(a, &enabled);
}

static bool is_below_supported(const struct hd_port_info *a, const struct hd_port_info *b)
{
	const struct common supported = {lanes_of(a->width_supported & b->width_supported),
					 a->extended_supported & b->extended_supported,
					 a->speed_supported & b->speed_supported};

	return is_slower(a, &supported);
}

static void check_rate(struct asking *asking, uint32_t port, uint32_t peer)
{
	struct doctor_site *site = asking->site;
	const struct hd_port_info *a = &asking->infos[port], *b = &asking->infos[peer];
	char place[DOCTOR_PLACE_SIZE], other[DOCTOR_PLACE_SIZE];

	doctor_port_place(site, port, place);
	doctor_port_place(site, peer, other);
	if (a->width_active != b->width_active || a->speed_active != b->speed_active ||
	    (a->extended_active && b->extended_active && a->extended_active != b->extended_active))
		doctor_report_add(&site->report, DOCTOR_ERROR, place,
				  "reset the port; if it stays so, replace the cable",
				  "the two ends of the cable have different widths or speeds: "
				  "%ux%s here, %ux%s at %s",
				  lanes_of(a->width_active), speed_name(a),
				  lanes_of(b->width_active), speed_name(b), other);
	else if (is_below_enabled(a, b))
		doctor_report_add(
		    &site->report, DOCTOR_WARNING, place,
		    "reset the port; if it stays so, replace the cable",
		    "the cable to %s runs at %ux%s, though more is enabled at both ends", other,
		    lanes_of(a->width_active), speed_name(a));
	else if (is_below_supported(a, b) && !asking->limited++)
		asking->first_limited = port;
}

static void check_mtu(struct asking *asking, uint32_t port, uint32_t peer)
{
	struct doctor_site *site = asking->site;
	const struct hd_port_info *a = &asking->infos[port], *b = &asking->infos[peer];
	const unsigned most = a->mtu_cap < b->mtu_cap ? a->mtu_cap : b->mtu_cap;
	char place[DOCTOR_PLACE_SIZE], other[DOCTOR_PLACE_SIZE];

	doctor_port_place(site, port, place);
	doctor_port_place(site, peer, other);
	if (a->mtu != b->mtu)
		doctor_report_add(&site->report, DOCTOR_ERROR, place,
				  "have OpenSM sweep (SIGHUP); if it stays so, reset the port",
				  "the MTU is %u here, and %u at %s", 128u << a->mtu,
				  128u << b->mtu, other);
	else if (a->mtu < most)
		doctor_report_add(
		    &site->report, DOCTOR_WARNING, place,
		    "have OpenSM sweep (SIGHUP); see mtu= in partitions.conf for the groups",
		    "the MTU to %s is %u, though both ends support %u", other, 128u << a->mtu,
		    128u << most);
}

/* Calls check() for each cable of which both ends have answered; false: no cable has. */
static bool each_cable(struct asking *asking,
		       void (*check)(struct asking *, uint32_t port, uint32_t peer))
{
	const struct hd_fabric *fabric = asking->site->fabric;
	bool any = false;

	for (uint32_t port = 0; port < fabric->port_count; port++) {
		const uint32_t peer = fabric->peer[port];
		if (peer == HD_NONE || peer < port || asking->ports[port].rc ||
		    asking->ports[peer].rc || asking->infos[port].state < HD_PORT_INITIALIZE)
			continue;
		check(asking, port, peer);
		any = true;
	}
	return any;
}

static void check_cables(struct asking *asking)
{
	struct doctor_report *report = &asking->site->report;

	doctor_report_begin(report, "live-rates");
	if (!each_cable(asking, check_rate))
		doctor_report_skip(report, "no cable has answered at both ends");
	/* Cables on which the manager, or somebody, allows less than both ends can do. */
	struct doctor_site *site = asking->site;
	char place[DOCTOR_PLACE_SIZE];
	if (asking->limited)
		doctor_report_add(
		    &site->report, DOCTOR_NOTE,
		    doctor_port_place(site, asking->first_limited, place),
		    "if nobody meant it, see force_link_speed, force_link_speed_ext and "
		    "force_link_width in opensm.conf",
		    "on %u cables less is enabled than both ends support; the first one is this",
		    asking->limited);
	doctor_report_begin(report, "live-mtu");
	if (!each_cable(asking, check_mtu))
		doctor_report_skip(report, "no cable has answered at both ends");
}

struct abilities {
	uint32_t answered, adaptive, recovery, notices, states, silent;
};

static void count_switch(const struct asking *asking, uint32_t sw, struct abilities *abilities)
{
	const uint32_t own = port_of(asking->site->fabric, sw);
	struct hd_ar_info info = {0};

	if (own == HD_NONE || asking->ports[own].rc) {
		abilities->silent++;
		return;
	}
	const struct hd_port_info *port = &asking->infos[own];
	abilities->answered++;
	abilities->states +=
	    hd_port_states_supported(port->capability_mask, port->capability_mask2);
	if (asking->adaptive[sw].rc)
		return;
	hd_ar_info_decode(asking->adaptive[sw].data, &info);
	abilities->adaptive += info.group_cap != 0;
	abilities->recovery += info.is_fr_sup != 0;
	abilities->notices += info.pfrn_sup != 0;
}

static bool wants_notices(const struct doctor_site *site)
{
	const struct hd_option_value *wanted = doctor_setting(site, "ar", "fast_recovery");

	return wanted && !strcmp(wanted->text, "notices");
}

static void check_abilities(struct asking *asking)
{
	struct doctor_site *site = asking->site;
	struct abilities all = {0};

	doctor_report_begin(&site->report, "abilities");
	for (uint32_t sw = 0; sw < site->fabric->switch_count; sw++)
		count_switch(asking, sw, &all);
	if (!all.answered) {
		doctor_report_skip(&site->report, "no switch has answered");
		return;
	}
	doctor_report_add(
	    &site->report, DOCTOR_NOTE, "", "",
	    "of %u switches that answered, %u have adaptive routing, %u go round dead ports by "
	    "themselves, %u send notices, %u have SwitchPortStateTable; %u did not answer",
	    all.answered, all.adaptive, all.recovery, all.notices, all.states, all.silent);
	if (doctor_wants_adaptive(site) && !all.adaptive)
		doctor_report_add(
		    &site->report, DOCTOR_ERROR, "",
		    "update the firmware of the switches, or name the engine without ar_",
		    "adaptive routing is wanted, but no switch has it");
	if (doctor_wants_adaptive(site) && wants_notices(site) && all.notices < all.adaptive)
		doctor_report_add(
		    &site->report, DOCTOR_WARNING, "",
		    "update their firmware, or write fast_recovery = local",
		    "[ar] fast_recovery = notices, but %u switches with adaptive routing send none",
		    all.adaptive - all.notices);
}

static int begin(struct asking *asking, struct hd_error *err)
{
	const struct doctor_site *site = asking->site;
	const struct hd_fabric *fabric = site->fabric;
	const struct hd_umad_choice choice = {.device = site->device, .number = site->port_number};
	struct hd_smp_limits limits = HD_SMP_LIMITS_DEFAULT;
	int rc = hd_umad_port_open(&choice, &asking->port, err);

	if (rc)
		return rc;
	limits.timeout_ms = (uint32_t)site->timeout_ms;
	asking->queue =
	    need(hd_smp_queue_new(hd_umad_port_smp(asking->port), &limits, fabric->node_count));
	asking->infos = need(calloc(fabric->port_count + 1u, sizeof(*asking->infos)));
	asking->ports = need(calloc(fabric->port_count + 1u, sizeof(*asking->ports)));
	asking->nodes = need(calloc(fabric->node_count + 1u, sizeof(*asking->nodes)));
	asking->managers = need(calloc(fabric->port_count + 1u, sizeof(*asking->managers)));
	asking->abilities = need(calloc(fabric->switch_count + 1u, sizeof(*asking->abilities)));
	asking->adaptive = need(calloc(fabric->switch_count + 1u, sizeof(*asking->adaptive)));
	for (uint32_t port = 0; port < fabric->port_count; port++)
		asking->ports[port].rc = asking->managers[port].rc = 1;
	for (uint32_t node = 0; node < fabric->node_count; node++)
		asking->nodes[node].rc = 1;
	for (uint32_t sw = 0; sw < fabric->switch_count; sw++)
		asking->abilities[sw].rc = asking->adaptive[sw].rc = 1;
	return 0;
}

static int look(struct doctor_site *site, struct hd_error *err)
{
	struct asking asking = {.site = site};
	int rc = begin(&asking, err);

	if (!rc) {
		/* The ports that answer for their nodes. */
		const struct hd_fabric *fabric = asking.site->fabric;
		for (uint32_t node = 0; node < fabric->node_count; node++) {
			const uint32_t port = port_of(fabric, node);
			if (port == HD_NONE)
				continue;
			const struct hd_smp_address address = {.lid = fabric->lid[port]};
			hd_smp_queue_aim(asking.queue, node, &address);
			ask(&asking, node, HD_SMP_PORT_INFO, hd_port_number(fabric, port),
			    &asking.ports[port]);
			ask(&asking, node, HD_SMP_NODE_INFO, 0, &asking.nodes[node]);
		}
		rc = run(&asking, "nodes");
		for (uint32_t node = 0; node < fabric->node_count; node++) {
			const uint32_t port = port_of(fabric, node);
			if (port == HD_NONE)
				continue;
			if (!asking.ports[port].rc)
				hd_port_info_decode(asking.ports[port].data, &asking.infos[port]);
		}
		rc = rc ? rc : ask_ports(&asking);
		rc = rc ? rc : ask_managers(&asking);
		/* last: a switch that keeps silent about what it does not know is given up */
		rc = rc ? rc : ask_abilities(&asking);
		if (rc)
			hd_error_set(err, rc, "the port is broken: %s", strerror(-rc));
	}
	if (!rc) {
		check_managers(&asking);
		const struct hd_fabric *fabric = asking.site->fabric;
		doctor_report_begin(&asking.site->report, "live-lids");
		for (uint32_t node = 0; node < fabric->node_count; node++) {
			const uint32_t port = port_of(fabric, node);
			if (port != HD_NONE)
				check_node(&asking, node, port);
		}
		check_cables(&asking);
		check_abilities(&asking);
		doctor_check_firmware(site, hd_umad_port_smp(asking.port));
	}
	hd_smp_queue_free(asking.queue);
	hd_umad_port_close(asking.port);
	free(asking.infos);
	free(asking.ports);
	free(asking.managers);
	free(asking.nodes);
	free(asking.abilities);
	free(asking.adaptive);
	return rc;
}
#else

static int look(struct doctor_site *site, struct hd_error *err)
{
	(void)site;
	return hd_error_set(err, -ENOTSUP,
			    "this heddle was built without libibumad, so it cannot ask switches");
}
#endif

static void skip_all(struct doctor_site *site, const char *why)
{
	static const char *const names[] = {"subnet-managers", "live-lids", "live-rates",
					    "live-mtu",	       "abilities", "firmware"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		doctor_report_begin(&site->report, names[i]);
		doctor_report_skip(&site->report, "%s", why);
	}
}

void doctor_check_live(struct doctor_site *site)
{
	struct hd_error err = {""};

	if (!site->live)
		skip_all(site, "switches and hosts are asked with --live only");
	else if (!site->fabric)
		skip_all(site, "the fabric was not read");
	else if (look(site, &err))
		skip_all(site, err.text);
}
