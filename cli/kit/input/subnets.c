/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "subnets.h"
#include "fabric_source.h"
#include "message.h"
#include "need.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A prefix is 0xfec0000000000001, or the first GID of the subnet: fec0:0:0:1::. */
static int parse_prefix(const char *text, size_t length, uint64_t *prefix, struct hd_error *err)
{
	struct hd_cursor word = {text, text + length};
	struct hd_gid gid;
	int rc = 0;

	if (!hd_take_hex(&word, prefix) || !hd_cursor_done(&word)) {
		rc = hd_gid_parse(text, length < HD_GID_TEXT ? (unsigned)length : HD_GID_TEXT, &gid,
				  NULL);
		if (rc || gid.guid)
			return hd_error_set(err, -EINVAL,
					    "'%.*s' is no subnet prefix, such as "
					    "0xfec0000000000001 or fec0:0:0:1::",
					    (int)length, text);
		*prefix = gid.prefix;
	}
	return hd_prefix_check(*prefix, err);
}

int subnets_take(const struct typed *typed, void *place)
{
	struct subnets *subnets = place;
	const char *equals = strchr(typed->text, '=');
	struct subnets_item item = {.prefix = 0};
	struct hd_error err;

	if (!equals || !equals[1])
		return message_error("option '--subnet': '%s' is not PREFIX=FABRIC[:TABLES]",
				     typed->text);
	if (parse_prefix(typed->text, (size_t)(equals - typed->text), &item.prefix, &err))
		return message_error("option '--subnet': %s", err.text);
	subnets->items =
	    need(realloc(subnets->items, (subnets->count + 1) * sizeof(*subnets->items)));
	item.fabric_path = need(strdup(equals + 1));
	char *colon = strchr(item.fabric_path, ':');
	if (colon) {
		*colon = '\0';
		item.tables_path = colon + 1;
	}
	subnets->items[subnets->count++] = item;
	return 0;
}

char *subnets_map_path(const char *folder, uint64_t prefix)
{
	return need_format("%s/%016" PRIx64 ".map", folder, prefix);
}

static int load_tables(const struct subnets *subnets, struct subnets_item *item,
		       const struct hd_log *log, struct hd_error *err)
{
	const struct table_request request = {.fabric = item->fabric, .threads = 1, .log = log};
	struct table_source source = subnets->tables;

	if (item->tables_path) {
		source.engine = NULL;
		table_source_set_paths(&source, &item->tables_path, 1);
	} else if (!source.engine) {
		source.engine = hd_engine_find("dmodk");
	}
	int rc = table_source_make(&source, &request, &item->routes, err);
	return rc ? hd_error_prefix(err, rc, "%s", item->fabric_path) : 0;
}

static int load_map(const struct subnets *subnets, struct subnets_item *item, struct hd_error *err)
{
	if (!subnets->maps)
		return hd_error_set(err, -EINVAL,
				    "no maps given; --maps FOLDER names their folder");
	char *path = subnets_map_path(subnets->maps, item->prefix);
	int rc = hd_map_read(path, &item->map, err);
	free(path);
	return rc;
}

static int join(struct subnets *subnets, struct hd_error *err)
{
	struct hd_subnet *list = need(calloc(subnets->count, sizeof(*list)));

	for (uint32_t i = 0; i < subnets->count; i++) {
		const struct subnets_item *item = &subnets->items[i];
		list[i] = (struct hd_subnet){item->prefix, item->fabric_path, item->fabric,
					     item->routes, item->map};
	}
	int rc = hd_interconnect_new(list, subnets->count, &subnets->interconnect, err);
	free(list);
	return rc;
}

int subnets_load(struct subnets *subnets, unsigned needs, const struct hd_log *log,
		 struct hd_error *err)
{
	int rc = subnets->count ? 0
				: hd_error_set(err, -EINVAL,
					       "no subnet given; --subnet PREFIX=FABRIC names one");

	for (uint32_t i = 0; !rc && i < subnets->count; i++) {
		struct subnets_item *item = &subnets->items[i];
		const struct fabric_source source = {item->fabric_path, subnets->name_map, LMC_ANY,
						     NULL};
		rc = fabric_source_load(&source, log, &item->fabric, err);
		if (!rc && needs & SUBNETS_TABLES)
			rc = load_tables(subnets, item, log, err);
		if (!rc && needs & SUBNETS_MAP)
			rc = load_map(subnets, item, err);
	}
	return rc ? rc : join(subnets, err);
}

int subnets_relay(struct subnets *subnets, bool isfr, struct hd_relay *out, struct hd_error *err)
{
	int rc = 0;

	if (isfr && !subnets->plan)
		rc = hd_isfr_plan_new(subnets->interconnect, &subnets->plan, err);
	if (rc)
		return rc;
	subnets->relay_tables =
	    (struct hd_relay_tables){subnets->interconnect, isfr ? subnets->plan : NULL};
	*out = isfr ? hd_relay_isfr(&subnets->relay_tables) : hd_relay_issr(&subnets->relay_tables);
	return 0;
}

void subnets_release(struct subnets *subnets)
{
	hd_isfr_plan_free(subnets->plan);
	hd_interconnect_free(subnets->interconnect);
	for (uint32_t i = 0; i < subnets->count; i++) {
		hd_map_free(subnets->items[i].map);
		hd_routes_free(subnets->items[i].routes);
		hd_fabric_free(subnets->items[i].fabric);
		free(subnets->items[i].fabric_path);
	}
	free(subnets->items);
	table_source_release(&subnets->tables);
}

static int host_of_port(const struct hd_subnet *subnet, uint32_t port, const char *text,
			uint32_t *host, struct hd_error *err)
{
	*host = hd_fabric_find_host(subnet->fabric, port);
	if (*host == HD_NONE)
		return hd_error_set(err, -ENOENT, "'%s' in %s is no host", text, subnet->name);
	return 0;
}

static int resolve_gid(const struct subnets *subnets, const char *text, const struct hd_gid *gid,
		       uint32_t *subnet, uint32_t *host, struct hd_error *err)
{
	*subnet = hd_interconnect_find_subnet(subnets->interconnect, gid->prefix);
	if (*subnet == HD_NONE)
		return hd_error_set(err, -ENOENT, "no subnet has the prefix of '%s'", text);
	const struct hd_subnet *found = &subnets->interconnect->subnets[*subnet];
	uint32_t port = hd_fabric_find_port(found->fabric, gid->guid);
	if (port == HD_NONE)
		return hd_error_set(err, -ENOENT, "%s has no port with the GUID of '%s'",
				    found->name, text);
	return host_of_port(found, port, text, host, err);
}

static int resolve_name(const struct subnets *subnets, const char *text, uint32_t *subnet,
			uint32_t *host, struct hd_error *err)
{
	const struct hd_interconnect *interconnect = subnets->interconnect;
	uint32_t found = 0, port = HD_NONE;

	for (uint32_t i = 0; i < interconnect->subnet_count; i++) {
		struct hd_error reason;
		uint32_t one;
		int rc = hd_fabric_resolve(interconnect->subnets[i].fabric, text, HD_RESOLVE_HOSTS,
					   &one, &reason);
		if (rc == -EEXIST)
			return hd_error_set(err, rc, "%s: %s", interconnect->subnets[i].name,
					    reason.text);
		if (rc)
			continue;
		if (found++)
			return hd_error_set(err, -EEXIST,
					    "'%s' is a host of %s and of %s; give a GID, or "
					    "PREFIX/%s",
					    text, interconnect->subnets[*subnet].name,
					    interconnect->subnets[i].name, text);
		*subnet = i;
		port = one;
	}
	if (!found)
		return hd_error_set(err, -ENOENT, "no subnet has a host '%s'", text);
	return host_of_port(&interconnect->subnets[*subnet], port, text, host, err);
}

int subnets_resolve(const struct subnets *subnets, const char *text, uint32_t *subnet,
		    uint32_t *host, struct hd_error *err)
{
	const char *slash = strchr(text, '/');
	struct hd_gid gid;
	uint64_t prefix;

	if (!hd_gid_parse(text, (unsigned)strlen(text), &gid, NULL))
		return resolve_gid(subnets, text, &gid, subnet, host, err);
	if (!slash || parse_prefix(text, (size_t)(slash - text), &prefix, NULL))
		return resolve_name(subnets, text, subnet, host, err);
	*subnet = hd_interconnect_find_subnet(subnets->interconnect, prefix);
	if (*subnet == HD_NONE)
		return hd_error_set(err, -ENOENT, "no subnet has the prefix of '%s'", text);
	const struct hd_subnet *found = &subnets->interconnect->subnets[*subnet];
	uint32_t port;
	int rc = hd_fabric_resolve(found->fabric, slash + 1, HD_RESOLVE_HOSTS, &port, err);
	return rc ? hd_error_prefix(err, rc, "%s", found->name)
		  : host_of_port(found, port, text, host, err);
}
