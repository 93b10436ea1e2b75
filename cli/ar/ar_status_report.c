/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ar_job.h"
#include "json_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct ar_difference {
	uint32_t table, lid; /* table: 0 without private tables */
	struct ar_effect planned, held;
};

static bool is_on(const struct hd_ar_switch_report *report)
{
	return report->standing >= HD_AR_ABLE && report->info.enabled;
}

struct hd_port_set ar_differences_sub_group(const struct hd_ar_switch_report *report,
					    uint32_t table, uint32_t group, uint32_t sub)
{
	const struct hd_ar_image *held = report->held;
	const uint32_t sub_groups = hd_ar_sub_groups(&report->info, &held->quirks);
	struct hd_port_set sets[HD_AR_GROUP_BLOCK];

	if (sub >= sub_groups)
		return (struct hd_port_set){{0}};
	uint32_t element =
	    hd_ar_group_element(&held->quirks, report->info.group_top + 1, sub_groups, group, sub);
	const uint8_t *block = hd_ar_image_groups(held, table, element / HD_AR_GROUP_BLOCK);
	if (!block)
		return (struct hd_port_set){{0}};
	hd_ar_group_block_decode(block, sets);
	return sets[element % HD_AR_GROUP_BLOCK];
}

struct hd_port_set ar_differences_group(const struct hd_ar_switch_report *report, uint32_t table,
					uint32_t group)
{
	const uint32_t sub_groups = hd_ar_sub_groups(&report->info, &report->held->quirks);
	struct hd_port_set all = {{0}};

	for (uint32_t sub = 0; sub < sub_groups; sub++) {
		struct hd_port_set ports = ar_differences_sub_group(report, table, group, sub);
		hd_port_set_unite(&all, &ports);
	}
	return all;
}

struct ar_effect ar_differences_held(const struct hd_ar_switch_report *report, uint32_t table,
				     uint32_t lid)
{
	const struct hd_ar_image *held = report->held;
	struct hd_ar_entry entries[HD_AR_OLD_BLOCK] = {{0}};
	struct ar_effect effect = {.known = false};
	uint32_t lids, block;

	if (!is_on(report) || !held || table >= held->table_count)
		return effect;
	lids = held->form == HD_AR_FORM_OLD ? held->quirks.old_block_lids : HD_AR_REV1_BLOCK;
	if (lid / lids >= held->lft_blocks)
		return effect;
	block = table * held->lft_blocks + lid / lids;
	if (!held->lft_known[block])
		return effect;
	if (held->form == HD_AR_FORM_OLD)
		hd_ar_old_decode(held->lft[block], entries);
	else
		hd_ar_rev1_decode(held->lft[block], entries);
	const struct hd_ar_entry *entry = &entries[lid % lids];
	effect = (struct ar_effect){
	    .known = true, .state = entry->state, .port = entry->port, .group = HD_AR_NO_GROUP};
	if (entry->state != HD_AR_STATIC) {
		effect.group = entry->group;
		effect.ports = ar_differences_group(report, table, entry->group);
	}
	return effect;
}

static struct ar_effect planned_effect(const struct hd_ar_plan *plan, uint32_t sw, uint32_t table,
				       uint32_t lid)
{
	const struct hd_ar_switch *planned = &plan->switches[sw];
	const uint32_t group = hd_ar_plan_group(plan, sw, table, lid);
	struct ar_effect effect = {.known = true,
				   .state = hd_ar_plan_state(plan, sw, table, lid),
				   .port = planned->lid_port[table][lid],
				   .group = (uint16_t)group};

	if (group == HD_AR_NO_GROUP)
		return effect;
	effect.ports = planned->groups[group].ports[0];
	hd_port_set_unite(&effect.ports, &planned->groups[group].ports[1]);
	return effect;
}

/* In the old form only static entries have a port. */
static bool is_same(const struct ar_effect *planned, const struct ar_effect *held, bool old)
{
	const bool adaptive = planned->state != HD_AR_STATIC;

	if (!held->known)
		return false;
	if (adaptive != (held->state != HD_AR_STATIC) ||
	    !hd_port_set_equal(&planned->ports, &held->ports))
		return false;
	return (old && adaptive) || planned->port == held->port;
}

/* A LID above a base LID, whose entry is static by the port of the forwarding table: as the part of a routing key. */
static bool is_keyed(const struct hd_fabric *fabric, const struct ar_difference *difference)
{
	const struct ar_effect *held = &difference->held;
	const uint32_t owner = fabric->lid_owner[difference->lid];

	return !difference->table && held->known && held->state == HD_AR_STATIC &&
	       held->port == difference->planned.port && owner != HD_NONE &&
	       fabric->lid[owner] != difference->lid;
}

/* Blocks of private tables; AR is on. */
static uint32_t private_differences(const struct hd_ar_plan *plan, uint32_t sw,
				    const struct hd_ar_switch_report *report)
{
	uint32_t count = 1;

	if (plan->table_count == 1)
		return 0;
	if (report->held)
		hd_ar_private_differences(plan, sw, report->held, &count);
	return count;
}

/*
 * Calls found(), which may be NULL, for each LID with a route that the switch treats otherwise than
 * planned, and returns how many there are. If either has no AR and the other has, all LIDs that are
 * adaptive in the one differ. Bounded and free entries do not differ, and entries of routing keys, of which *keyed
 * becomes the number, neither. With private tables the
 * number includes blocks that say which packets use which table, for which found() is not called.
 * Cost: O(tables * LIDs).
 */
static uint32_t
ar_differences_find(const struct ar_job *job, uint32_t sw, const struct hd_ar_switch_report *report,
		    void (*found)(void *context, const struct ar_difference *difference),
		    void *context, uint32_t *keyed)
{
	const struct hd_ar_plan *plan = job->plan;
	const bool wanted = plan->switches[sw].used > 0, on = is_on(report);
	const bool old = plan->switches[sw].form == HD_AR_FORM_OLD;
	uint32_t count = 0;

	*keyed = 0;
	if (!wanted && !on)
		return 0;
	if (on)
		count = private_differences(plan, sw, report);
	for (uint32_t i = 0; i < plan->table_count * plan->lid_count; i++) {
		const uint32_t table = i / plan->lid_count, lid = i % plan->lid_count;
		const struct ar_difference difference = {table, lid,
							 planned_effect(plan, sw, table, lid),
							 ar_differences_held(report, table, lid)};
		if (difference.planned.port == HD_NO_PORT)
			continue;
		if (!on && difference.planned.state == HD_AR_STATIC)
			continue; /* the forwarding table decides */
		if (is_same(&difference.planned, &difference.held, old))
			continue;
		if (plan->table_count == 1 && is_keyed(job->fabric, &difference)) {
			++*keyed;
			continue;
		}
		count++;
		if (found)
			found(context, &difference);
	}
	return count;
}

static uint32_t switch_count(const struct ar_live *live)
{
	return live->job.fabric->switch_count;
}

static uint32_t differences_of(const struct ar_live *live, uint32_t sw)
{
	const struct hd_ar_switch_report report = ar_live_report(live, sw);
	uint32_t keyed;

	return live->job.plan ? ar_differences_find(&live->job, sw, &report, NULL, NULL, &keyed)
			      : 0;
}

/* Entries of routing keys. */
static uint64_t keyed_entries(const struct ar_live *live)
{
	uint64_t count = 0;

	for (uint32_t sw = 0; live->job.plan && sw < switch_count(live); sw++) {
		const struct hd_ar_switch_report report = ar_live_report(live, sw);
		uint32_t keyed;
		ar_differences_find(&live->job, sw, &report, NULL, NULL, &keyed);
		count += keyed;
	}
	return count;
}

uint64_t ar_status_report_differences(const struct ar_live *live)
{
	uint64_t count = 0;

	for (uint32_t sw = 0; sw < switch_count(live); sw++)
		count += differences_of(live, sw);
	return count;
}

bool ar_status_report_is_unread(const struct ar_live *live, uint32_t sw)
{
	const struct hd_ar_switch_report report = ar_live_report(live, sw);

	return report.standing != HD_AR_UNABLE && (report.standing < HD_AR_UNABLE || report.rc);
}

uint32_t ar_status_report_unread(const struct ar_live *live)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < switch_count(live); sw++)
		count += ar_status_report_is_unread(live, sw);
	return count;
}

static const char *state_of(const struct hd_ar_switch_report *report)
{
	if (report->standing != HD_AR_ABLE && report->standing != HD_AR_LEFT)
		return hd_ar_standing_name(report->standing);
	if (report->rc)
		return "not readable";
	return report->info.enabled ? "on" : "off";
}

static uint32_t sl_mask_of(const struct hd_ar_switch_report *report)
{
	return report->info.by_sl_en ? report->info.enable_by_sl_mask : 0xFFFF;
}

static const char *transports_of(const struct hd_ar_switch_report *report, char text[32])
{
	size_t used = 0;

	strcpy(text, "none");
	for (uint32_t i = 0; i < HD_AR_TRANSPORTS; i++)
		if (!(report->info.by_transport_disable >> i & 1))
			used += (size_t)sprintf(text + used, "%s%s", used ? "," : "",
						hd_ar_transport_name(i));
	return text;
}

struct held_counts {
	uint32_t groups, adaptive;
};

/* Groups that entries use, and adaptive entries. */
static struct held_counts counts_of(const struct ar_live *live,
				    const struct hd_ar_switch_report *report)
{
	const struct hd_ar_plan *plan = live->job.plan;
	struct held_counts counts = {0};

	for (uint32_t i = 0; plan && i < plan->table_count * plan->lid_count; i++) {
		const struct ar_effect effect =
		    ar_differences_held(report, i / plan->lid_count, i % plan->lid_count);
		counts.adaptive += effect.known && effect.state != HD_AR_STATIC;
	}
	for (uint32_t i = 0; report->held && report->info.enabled && i <= report->info.group_top;
	     i++) {
		const struct hd_port_set ports = ar_differences_group(report, 0, i);
		counts.groups += !hd_port_set_is_empty(&ports);
	}
	return counts;
}

static void print_raw(const char *name, const uint8_t data[HD_AR_DATA])
{
	printf("  %s", name);
	for (unsigned i = 0; i < HD_AR_DATA; i++)
		printf("%s%02x", i % 4 ? "" : " ", data[i]);
	printf("\n");
}

static enum hd_ar_recovery supported_by(const struct hd_ar_switch_report *report)
{
	return hd_ar_recovery_supported(&report->info);
}

static const char *supported_name(enum hd_ar_recovery level)
{
	return level == HD_AR_RECOVERY_OFF ? "none" : hd_ar_recovery_name(level);
}

/* Of the switches that say what they can do, those that support each level, and that have it enabled. */
struct recovery_counts {
	uint32_t supported[HD_AR_RECOVERY_LEVELS], enabled[HD_AR_RECOVERY_LEVELS];
};

static void print_switch(const struct ar_live *live, uint32_t sw)
{
	const struct hd_ar_switch_report report = ar_live_report(live, sw);
	const struct held_counts counts = counts_of(live, &report);
	char transports[32];

	printf("0x%016" PRIx64 "  %-19s", report.guid, state_of(&report));
	if (report.standing >= HD_AR_ABLE)
		printf("  %6u  %8u  0x%04X  %-11s  %10u  %-8s  %-9s", counts.groups,
		       counts.adaptive, sl_mask_of(&report), transports_of(&report, transports),
		       report.info.ageing_time_value, hd_ar_recovery_name(report.recovery),
		       supported_name(supported_by(&report)));
	else
		printf("  %6s  %8s  %6s  %-11s  %10s  %-8s  %-9s", "-", "-", "-", "-", "-", "-",
		       "-");
	printf("  %11u  '%s'\n", differences_of(live, sw), live->job.fabric->node_name[sw]);
	if (!live->raw || report.standing < HD_AR_ABLE)
		return;
	print_raw("GeneralInfo        ", report.raw_mask);
	print_raw("AdaptiveRoutingInfo", report.raw_info);
}

void ar_status_report_print(const struct ar_live *live)
{
	printf("%-18s  %-19s  %6s  %8s  %6s  %-11s  %10s  %-8s  %-9s  %11s  name\n", "switch",
	       "state", "groups", "adaptive", "SLs", "transports", "ageing us", "recovery",
	       "supported", "differences");
	for (uint32_t sw = 0; sw < switch_count(live); sw++)
		print_switch(live, sw);
	struct recovery_counts counts = {{0}, {0}};
	for (uint32_t sw = 0; sw < switch_count(live); sw++) {
		const struct hd_ar_switch_report report = ar_live_report(live, sw);
		if (report.standing < HD_AR_ABLE)
			continue;
		counts.supported[supported_by(&report)]++;
		counts.enabled[report.recovery]++;
	}
	printf("fast recovery: %u switches have notices, %u local, %u none; %u support notices, "
	       "%u local, %u none\n",
	       counts.enabled[HD_AR_RECOVERY_NOTICES], counts.enabled[HD_AR_RECOVERY_LOCAL],
	       counts.enabled[HD_AR_RECOVERY_OFF], counts.supported[HD_AR_RECOVERY_NOTICES],
	       counts.supported[HD_AR_RECOVERY_LOCAL], counts.supported[HD_AR_RECOVERY_OFF]);
	/* The last line: whether all is well. */
	uint64_t differences = ar_status_report_differences(live);
	uint32_t unread = ar_status_report_unread(live);
	uint64_t keyed = keyed_entries(live);
	if (keyed)
		printf("%" PRIu64
		       " entries of LIDs above base LIDs are static, as routing keys need them\n",
		       keyed);
	if (unread)
		printf("%u switches could not be read; ", unread);
	if (!live->job.plan) {
		printf("%s is no plan to compare with: %s\n", unread ? "there" : "There",
		       live->job.refusal.text);
		if (table_source_advice(live->job.routes))
			puts(table_source_advice(live->job.routes));
	} else if (differences) {
		printf("%" PRIu64 " entries differ from the plan\n", differences);
	} else {
		printf("%s\n", unread ? "all others hold the plan" : "All switches hold the plan.");
	}
}

static json_t *raw_json(const uint8_t data[HD_AR_DATA])
{
	char text[2 * HD_AR_DATA + 1];

	for (unsigned i = 0; i < HD_AR_DATA; i++)
		sprintf(text + 2 * i, "%02x", data[i]);
	return json_value_text(text);
}

static json_t *transports_json(const struct hd_ar_switch_report *report)
{
	char text[32], *place = NULL;
	json_t *list = json_array();

	if ((report->info.by_transport_disable & 0xF) == 0xF)
		return list;
	transports_of(report, text);
	for (char *name = strtok_r(text, ",", &place); name; name = strtok_r(NULL, ",", &place))
		list = json_value_append(list, json_string(name));
	return list;
}

static json_t *switch_json(const struct ar_live *live, uint32_t sw)
{
	const struct hd_ar_switch_report report = ar_live_report(live, sw);
	const struct held_counts counts = counts_of(live, &report);
	json_t *value =
	    json_pack("{s:o, s:o, s:s, s:I}", "guid", json_value_guid(report.guid), "name",
		      json_value_text(live->job.fabric->node_name[sw]), "state", state_of(&report),
		      "differences", (json_int_t)differences_of(live, sw));

	if (report.standing < HD_AR_ABLE)
		return value;
	value = json_value_set(value, "groups", json_integer(counts.groups));
	value = json_value_set(value, "adaptive", json_integer(counts.adaptive));
	value = json_value_set(value, "sl_mask", json_integer(sl_mask_of(&report)));
	value = json_value_set(value, "transports", transports_json(&report));
	value =
	    json_value_set(value, "ageing_time_us", json_integer(report.info.ageing_time_value));
	value = json_value_set(value, "fast_recovery",
			       json_pack("{s:s, s:s}", "supported",
					 hd_ar_recovery_name(supported_by(&report)), "enabled",
					 hd_ar_recovery_name(report.recovery)));
	if (!live->raw)
		return value;
	value = json_value_set(value, "general_info", raw_json(report.raw_mask));
	return json_value_set(value, "adaptive_routing_info", raw_json(report.raw_info));
}

json_t *ar_status_report_json(const struct ar_live *live)
{
	json_t *switches = json_array();

	for (uint32_t sw = 0; sw < switch_count(live); sw++)
		switches = json_value_append(switches, switch_json(live, sw));
	return json_pack("{s:b, s:I, s:I, s:I, s:o}", "planned", live->job.plan != NULL,
			 "differences", (json_int_t)ar_status_report_differences(live), "keyed",
			 (json_int_t)keyed_entries(live), "unread",
			 (json_int_t)ar_status_report_unread(live), "switches", switches);
}

struct listing {
	const struct ar_live *live;
	uint64_t guid;
	json_t *list; /* NULL: print */
};

static void print_effect(const struct ar_effect *effect, char *text, size_t size)
{
	size_t used;

	if (!effect->known) {
		snprintf(text, size, "no adaptive routing");
		return;
	}
	used = (size_t)snprintf(text, size, "%s port %u", hd_ar_state_name(effect->state),
				effect->port);
	HD_PORT_SET_FOREACH(port, &effect->ports)
		if (used < size)
			used += (size_t)snprintf(text + used, size - used, " %u", port);
}

static json_t *effect_json(const struct ar_effect *effect)
{
	json_t *ports = json_array();

	if (!effect->known) {
		json_decref(ports);
		return json_null();
	}
	HD_PORT_SET_FOREACH(port, &effect->ports)
		ports = json_value_append(ports, json_integer(port));
	return json_pack("{s:s, s:i, s:o}", "state", hd_ar_state_name(effect->state), "port",
			 (int)effect->port, "ports", ports);
}

static void list_one(void *context, const struct ar_difference *difference)
{
	struct listing *listing = context;
	char planned[1200], held[1200];

	if (listing->list) {
		listing->list = json_value_append(
		    listing->list,
		    json_pack("{s:o, s:I, s:I, s:o, s:o}", "guid", json_value_guid(listing->guid),
			      "table", (json_int_t)difference->table, "lid",
			      (json_int_t)difference->lid, "planned",
			      effect_json(&difference->planned), "held",
			      effect_json(&difference->held)));
		return;
	}
	print_effect(&difference->planned, planned, sizeof(planned));
	print_effect(&difference->held, held, sizeof(held));
	printf("0x%016" PRIx64 "  ", listing->guid);
	if (listing->live->job.plan->table_count > 1)
		printf("table %u  ", difference->table);
	printf("LID %u  planned: %s  held: %s\n", difference->lid, planned, held);
}

static void list_all(struct listing *listing)
{
	const struct ar_live *live = listing->live;

	for (uint32_t sw = 0; live->job.plan && sw < switch_count(live); sw++) {
		const struct hd_ar_switch_report report = ar_live_report(live, sw);
		uint32_t keyed;
		listing->guid = report.guid;
		ar_differences_find(&live->job, sw, &report, list_one, listing, &keyed);
	}
}

void ar_status_report_print_differences(const struct ar_live *live)
{
	struct listing listing = {.live = live};

	list_all(&listing);
}

json_t *ar_status_report_differences_json(const struct ar_live *live)
{
	struct listing listing = {.live = live, .list = json_array()};

	list_all(&listing);
	return listing.list;
}
