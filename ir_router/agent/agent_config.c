/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent_parts.h"

#include <errno.h>
#include <heddle/config/section_values.h>
#include <heddle/config/sections.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REPEAT_MS 30000u /* plugins forget lists after three times as long */

_Static_assert(HD_CONFIG_ROUTER_PORTS_MAX == HD_ROUTER_PORTS_LIMIT, "the table of heddle.conf");
_Static_assert(HD_CONFIG_ROUTER_SUBNETS_MAX == HD_ROUTER_SUBNETS_LIMIT,
	       "the sections of heddle.conf");
_Static_assert(HD_CONFIG_ROUTER_LID_MAX == HD_ROUTER_LID_MAX, "the table of heddle.conf");

static uint64_t guid_option(const struct hd_options *options, const char *name)
{
	uint64_t guid = 0;

	hd_value_guid(hd_options_get(options, name)->text, &guid, NULL);
	return guid;
}

static uint32_t agent_number(const struct hd_options *options, const char *name)
{
	return (uint32_t)hd_options_get(options, name)->number;
}

static int agent_check(struct agent_config *config, const char *path, struct hd_error *err)
{
	struct agent_subnet_config subnet;
	unsigned subnets = 0;
	int rc = hd_config_router_check(config->values, err);

	if (rc)
		return hd_error_prefix(err, rc, "%s", path);
	while (agent_config_subnet(config, subnets, &subnet))
		subnets++;
	const struct hd_options *options = hd_config_options(config->values, "router");
	config->node_guid = guid_option(options, "node_guid");
	config->control = hd_options_get(options, "control")->text;
	config->advertise_ms = agent_number(options, "advertise_ms");
	config->repeat_ms = config->advertise_ms < REPEAT_MS ? config->advertise_ms : REPEAT_MS;
	config->settings = (struct hd_router_settings){
	    .hash = (enum hd_router_hash)agent_number(options, "hash"),
	    .timeout_ms = agent_number(options, "timeout_ms"),
	    .retries = agent_number(options, "retries"),
	    .settle_ms = agent_number(options, "settle_ms"),
	    .retry_ms = agent_number(options, "retry_ms"),
	    .refresh_ms = agent_number(options, "refresh_ms"),
	    .expire_ms = 3 * config->advertise_ms,
	};
	config->limits = (struct hd_router_limits){
	    .subnets = (uint16_t)subnets,
	    .ports = (uint16_t)agent_number(options, "max_ports"),
	    .hosts = agent_number(options, "max_hosts"),
	    .mapped = agent_number(options, "max_mapped"),
	    .prefixes = (uint16_t)agent_number(options, "max_prefixes"),
	};
	return 0;
}

int agent_config_read(const char *path, struct agent_config *config, struct hd_error *err)
{
	int rc = 0;

	*config = (struct agent_config){.sections = hd_config_sections_new()};
	if (!config->sections)
		return hd_error_no_memory(err);
	rc = hd_config_sections_add_router(config->sections, err);
	if (!rc)
		rc = hd_config_read(config->sections, path, true, &config->values, err);
	if (!rc)
		rc = agent_check(config, path, err);
	if (rc)
		agent_config_release(config);
	return rc;
}

void agent_config_release(struct agent_config *config)
{
	hd_config_free(config->values);
	hd_config_sections_free(config->sections);
	*config = (struct agent_config){0};
}

bool agent_config_subnet(const struct agent_config *config, unsigned index,
			 struct agent_subnet_config *subnet)
{
	struct hd_config_object object;

	if (!hd_config_object_at(config->values, "router.subnet", index, &object))
		return false;
	*subnet = (struct agent_subnet_config){
	    .prefix = object.guid,
	    .socket = hd_options_get(object.options, "socket")->text,
	    .smp = hd_options_get(object.options, "smp")->number,
	    .port_guid = guid_option(object.options, "port_guid"),
	    .device = hd_options_get(object.options, "device")->text,
	    .number = (int)agent_number(object.options, "port"),
	};
	if (!strcmp(subnet->device, "any"))
		subnet->device = NULL;
	return true;
}

bool agent_config_prefix(const struct agent_config *config, unsigned index,
			 struct agent_prefix_config *prefix)
{
	struct hd_config_object object;

	if (!hd_config_object_at(config->values, "router.prefix", index, &object))
		return false;
	*prefix = (struct agent_prefix_config){
	    .prefix = object.guid,
	    .via = guid_option(object.options, "via"),
	    .port_guid = guid_option(object.options, "port_guid"),
	    .lid = (uint16_t)agent_number(object.options, "lid"),
	};
	return true;
}
