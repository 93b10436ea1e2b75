/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent_parts.h"

#include <errno.h>
#include <event2/util.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REPEAT_MS 30000u /* plugins forget lists after three times as long */

static int parse_guid(const char *text, uint64_t *guid, struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)};

	if (!hd_take_hex(&cursor, guid) || !hd_cursor_done(&cursor))
		return hd_error_set(err, -EINVAL, "'%s' is not a GUID, such as 0x0002c90300001234",
				    text);
	return 0;
}

static int validate_guid(const char *text, struct hd_error *err)
{
	uint64_t guid;

	return parse_guid(text, &guid, err);
}

static uint64_t guid_option(const struct hd_options *options, const char *name)
{
	uint64_t guid = 0;

	parse_guid(hd_options_get(options, name)->text, &guid, NULL);
	return guid;
}

/* A path, or a numeric address with a port. */
static int validate_socket(const char *text, struct hd_error *err)
{
	struct sockaddr_storage address;
	int length = sizeof(address);

	if (*text == '/' && strlen(text) > 100)
		return hd_error_set(err, -EINVAL, "the path is longer than 100 bytes: '%s'", text);
	if (*text != '/' && (!strchr(text, ':') || evutil_parse_sockaddr_port(
						       text, (struct sockaddr *)&address, &length)))
		return hd_error_set(err, -EINVAL,
				    "'%s' is neither a path nor ADDRESS:PORT, such as "
				    "192.0.2.1:7471 or [2001:db8::1]:7471",
				    text);
	return 0;
}

static int validate_path(const char *text, struct hd_error *err)
{
	if (*text != '/')
		return hd_error_set(err, -EINVAL, "'%s' is no absolute path", text);
	return validate_socket(text, err);
}

#define NUMBER(option, text, what, least, most)                                                    \
	{                                                                                          \
		.name = option, .summary = what, .type = HD_OPTION_INT, .fallback = text,          \
		.minimum = least, .maximum = most                                                  \
	}

static const struct hd_option router_options[] = {
    {.name = "node_guid",
     .summary = "node GUID of the router for which the agent speaks",
     .type = HD_OPTION_STRING,
     .validate = validate_guid},
    {.name = "hash",
     .summary = "how a pair of LIDs chooses its port",
     .type = HD_OPTION_CHOICE,
     .fallback = "pair",
     .choices = "pair|sum"},
    {.name = "control",
     .summary = "socket for heddle-router show",
     .type = HD_OPTION_STRING,
     .fallback = AGENT_CONTROL,
     .validate = validate_path},
    NUMBER("timeout_ms", "200", "how long a switch may take to answer", 1, 60000),
    NUMBER("retries", "3", "further tries if a switch does not answer", 0, 10),
    NUMBER("settle_ms", "500", "from the first reading of a table to the second", 1, 60000),
    NUMBER("retry_ms", "5000", "until switches that failed are asked again", 1, 3600000),
    NUMBER("refresh_ms", "60000", "until all tables are read again", 1, 3600000),
    NUMBER("advertise_ms", "30000", "between two advertisements of prefixes", 100, 3600000),
    NUMBER("max_ports", "64", "ports of the router in one subnet", 1, HD_ROUTER_PORTS_LIMIT),
    NUMBER("max_hosts", "49151", "hosts of one subnet", 1, 0x100000),
    NUMBER("max_mapped", "100000", "entries of one subnet's map", 0, 0x400000),
    NUMBER("max_prefixes", "1024", "rows of the prefix table", 0, 65535),
};

static const struct hd_option subnet_options[] = {
    {.name = "socket",
     .summary = "where the plugin of this subnet listens: a path, or ADDRESS:PORT",
     .type = HD_OPTION_STRING,
     .fallback = AGENT_SOCKET,
     .validate = validate_socket},
    {.name = "smp",
     .summary = "ask the switches of this subnet; no: the hash chooses all ports",
     .type = HD_OPTION_BOOL,
     .fallback = "yes"},
    {.name = "port_guid",
     .summary = "this machine's port in the subnet; 0: by device and port",
     .type = HD_OPTION_STRING,
     .fallback = "0",
     .validate = validate_guid},
    {.name = "device",
     .summary = "the adapter, such as mlx5_0; any: the first active port",
     .type = HD_OPTION_STRING,
     .fallback = "any"},
    NUMBER("port", "0", "number of the adapter's port; 0: the first active one", 0, 254),
};

static const struct hd_option prefix_options[] = {
    {.name = "via",
     .summary = "prefix of the attached subnet in which the next router is",
     .type = HD_OPTION_STRING,
     .validate = validate_guid},
    NUMBER("lid", NULL, "LID of the next router's port there", 1, HD_ROUTER_LID_MAX),
    {.name = "port_guid",
     .summary = "GUID of that port; the subnet's map can name it then",
     .type = HD_OPTION_STRING,
     .fallback = "0",
     .validate = validate_guid},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct hd_config_section sections[] = {
    {.name = "router", .options = router_options, .option_count = COUNT(router_options)},
    {.name = "router.subnet",
     .kind = HD_CONFIG_BY_GUID,
     .options = subnet_options,
     .option_count = COUNT(subnet_options)},
    {.name = "router.prefix",
     .kind = HD_CONFIG_BY_GUID,
     .options = prefix_options,
     .option_count = COUNT(prefix_options)},
    {.name = HD_CONFIG_ANY_OTHER, .kind = HD_CONFIG_OTHER_PROGRAM},
};

static uint32_t number(const struct hd_options *options, const char *name)
{
	return (uint32_t)hd_options_get(options, name)->number;
}

static void take_values(struct agent_config *config, unsigned subnets)
{
	const struct hd_options *options = hd_config_options(config->values, "router");

	config->node_guid = guid_option(options, "node_guid");
	config->control = hd_options_get(options, "control")->text;
	config->advertise_ms = number(options, "advertise_ms");
	config->repeat_ms = config->advertise_ms < REPEAT_MS ? config->advertise_ms : REPEAT_MS;
	config->settings = (struct hd_router_settings){
	    .hash = (enum hd_router_hash)number(options, "hash"),
	    .timeout_ms = number(options, "timeout_ms"),
	    .retries = number(options, "retries"),
	    .settle_ms = number(options, "settle_ms"),
	    .retry_ms = number(options, "retry_ms"),
	    .refresh_ms = number(options, "refresh_ms"),
	    .expire_ms = 3 * config->advertise_ms,
	};
	config->limits = (struct hd_router_limits){
	    .subnets = (uint16_t)subnets,
	    .ports = (uint16_t)number(options, "max_ports"),
	    .hosts = number(options, "max_hosts"),
	    .mapped = number(options, "max_mapped"),
	    .prefixes = (uint16_t)number(options, "max_prefixes"),
	};
}

static int check(struct agent_config *config, const char *path, struct hd_error *err)
{
	struct agent_subnet_config subnet;
	unsigned subnets = 0;

	for (; agent_config_subnet(config, subnets, &subnet); subnets++)
		if (!hd_router_prefix_is_global(subnet.prefix))
			return hd_error_set(err, -EINVAL,
					    "%s: [router.subnet 0x%016" PRIx64
					    "]: a router forwards nothing to this prefix",
					    path, subnet.prefix);
	if (!subnets || subnets > HD_ROUTER_SUBNETS_LIMIT)
		return hd_error_set(err, -EINVAL,
				    "%s: %u sections [router.subnet PREFIX]; the router needs 1 to "
				    "%u",
				    path, subnets, HD_ROUTER_SUBNETS_LIMIT);
	struct hd_error missing = {""};
	if (hd_options_complete(hd_config_options(config->values, "router"), &missing))
		return hd_error_set(err, -EINVAL, "%s: [router]: %s", path, missing.text);
	take_values(config, subnets);
	if (!config->node_guid)
		return hd_error_set(err, -EINVAL, "%s: node_guid is 0", path);
	return 0;
}

int agent_config_read(const char *path, struct agent_config *config, struct hd_error *err)
{
	int rc = 0;

	*config = (struct agent_config){.sections = hd_config_sections_new()};
	if (!config->sections)
		return hd_error_no_memory(err);
	for (unsigned i = 0; !rc && i < COUNT(sections); i++)
		rc = hd_config_sections_add(config->sections, &sections[i], err);
	if (!rc)
		rc = hd_config_read(config->sections, path, true, &config->values, err);
	if (!rc)
		rc = check(config, path, err);
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
	    .number = (int)number(object.options, "port"),
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
	    .lid = (uint16_t)number(object.options, "lid"),
	};
	return true;
}
