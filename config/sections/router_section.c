/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "section_tables.h"

#include <errno.h>
#include <heddle/config/section_values.h>
#include <heddle/config/sections.h>
#include <inttypes.h>
#include <string.h>

static int validate_guid(const char *text, struct hd_error *err)
{
	uint64_t guid;

	return hd_value_guid(text, &guid, err);
}

/* A path, or a numeric address with a port. */
static int validate_socket(const char *text, struct hd_error *err)
{
	if (*text == '/' && strlen(text) > 100)
		return hd_error_set(err, -EINVAL, "the path is longer than 100 bytes: '%s'", text);
	if (*text != '/' && !hd_value_is_address(text))
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
     .fallback = HD_ROUTER_AGENT_CONTROL,
     .validate = validate_path},
    NUMBER("timeout_ms", "200", "how long a switch may take to answer", 1, 60000),
    NUMBER("retries", "3", "further tries if a switch does not answer", 0, 10),
    NUMBER("settle_ms", "500", "from the first reading of a table to the second", 1, 60000),
    NUMBER("retry_ms", "5000", "until switches that failed are asked again", 1, 3600000),
    NUMBER("refresh_ms", "60000", "until all tables are read again", 1, 3600000),
    NUMBER("advertise_ms", "30000", "between two advertisements of prefixes", 100, 3600000),
    NUMBER("max_ports", "64", "ports of the router in one subnet", 1, HD_CONFIG_ROUTER_PORTS_MAX),
    NUMBER("max_hosts", "49151", "hosts of one subnet", 1, 0x100000),
    NUMBER("max_mapped", "100000", "entries of one subnet's map", 0, 0x400000),
    NUMBER("max_prefixes", "1024", "rows of the prefix table", 0, 65535),
};

static const struct hd_option subnet_options[] = {
    {.name = "socket",
     .summary = "where the plugin of this subnet listens: a path, or ADDRESS:PORT",
     .type = HD_OPTION_STRING,
     .fallback = HD_ROUTER_AGENT_SOCKET,
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
    NUMBER("lid", NULL, "LID of the next router's port there", 1, HD_CONFIG_ROUTER_LID_MAX),
    {.name = "port_guid",
     .summary = "GUID of that port; the subnet's map can name it then",
     .type = HD_OPTION_STRING,
     .fallback = "0",
     .validate = validate_guid},
};

const struct hd_config_section section_router = {.name = "router",
						 .options = router_options,
						 .option_count = sizeof(router_options) /
								 sizeof(router_options[0])};

const struct hd_config_section section_router_subnet = {.name = "router.subnet",
							.kind = HD_CONFIG_BY_GUID,
							.options = subnet_options,
							.option_count = sizeof(subnet_options) /
									sizeof(subnet_options[0])};

const struct hd_config_section section_router_prefix = {.name = "router.prefix",
							.kind = HD_CONFIG_BY_GUID,
							.options = prefix_options,
							.option_count = sizeof(prefix_options) /
									sizeof(prefix_options[0])};

/* ---- the sections together ---- */

#define LINK_LOCAL 0xFE80000000000000u

/* A router forwards nothing to the prefix of a link, nor to a multicast prefix. */
static bool is_global(uint64_t prefix)
{
	return prefix && prefix >> 54 != LINK_LOCAL >> 54 && prefix >> 56 != 0xFF;
}

int hd_config_router_check(const struct hd_config *config, struct hd_error *err)
{
	const struct hd_options *router = hd_config_options(config, section_router.name);
	struct hd_config_object subnet;
	struct hd_error missing = {""};
	uint64_t guid = 0;
	unsigned count = 0;

	for (; hd_config_object_at(config, section_router_subnet.name, count, &subnet); count++)
		if (!is_global(subnet.guid))
			return hd_error_set(err, -EINVAL,
					    "[router.subnet 0x%016" PRIx64
					    "]: a router forwards nothing to this prefix",
					    subnet.guid);
	if (!count || count > HD_CONFIG_ROUTER_SUBNETS_MAX)
		return hd_error_set(err, -EINVAL,
				    "%u sections [router.subnet PREFIX]; the router needs 1 to %u",
				    count, HD_CONFIG_ROUTER_SUBNETS_MAX);
	if (hd_options_complete(router, &missing))
		return hd_error_set(err, -EINVAL, "[router]: %s", missing.text);
	if (hd_value_guid(hd_options_get(router, "node_guid")->text, &guid, err))
		return -EINVAL;
	return guid ? 0 : hd_error_set(err, -EINVAL, "node_guid is 0");
}
