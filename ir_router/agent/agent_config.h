/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What heddle.conf says to the agent: [router], [router.subnet PREFIX], [router.prefix PREFIX]. */
#ifndef AGENT_CONFIG_H
#define AGENT_CONFIG_H

#include <heddle/config.h>
#include <router.h>

#define AGENT_SOCKET "/run/heddle/router.sock"
#define AGENT_CONTROL "/run/heddle/heddle-router.sock"

/* Texts are valid as long as the configuration. */
struct agent_config {
	struct hd_config_sections *sections;
	struct hd_config *values;
	uint64_t node_guid;
	const char *control; /* path of the control socket */
	uint32_t advertise_ms;
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

#endif
