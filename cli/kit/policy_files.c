/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy_files.h"

#include <stdlib.h>

static int read_guids(const char *path, const uint64_t **guids, uint32_t *count,
		      struct hd_error *err)
{
	uint64_t *list = NULL;
	int rc = path ? hd_guids_read(path, &list, count, err) : 0;

	if (!rc)
		*guids = list;
	return rc;
}

static int read_ports(const char *path, bool with_value, const struct hd_port_ref **ports,
		      uint32_t *count, struct hd_error *err)
{
	struct hd_port_ref *list = NULL;
	int rc = path ? hd_port_refs_read(path, with_value, &list, count, err) : 0;

	if (!rc)
		*ports = list;
	return rc;
}

int cli_policy_read(const char *const *paths, struct hd_policy *policy, struct hd_error *err)
{
	struct hd_policy read = {.root_count = 0};
	int rc = read_guids(paths[POLICY_ROOTS], &read.root_guids, &read.root_count, err);

	if (!rc)
		rc = read_guids(paths[POLICY_COMPUTE_NODES], &read.cn_guids, &read.cn_count, err);
	if (!rc)
		rc = read_guids(paths[POLICY_IO_NODES], &read.io_guids, &read.io_count, err);
	if (!rc)
		rc = read_guids(paths[POLICY_ORDER], &read.order_guids, &read.order_count, err);
	if (!rc)
		rc = read_ports(paths[POLICY_HOP_WEIGHTS], true, &read.hop_weights,
				&read.hop_weight_count, err);
	if (!rc)
		rc = read_ports(paths[POLICY_IGNORED_PORTS], false, &read.ignored_ports,
				&read.ignored_port_count, err);
	if (rc)
		cli_policy_release(&read);
	else
		*policy = read;
	return rc;
}

void cli_policy_release(struct hd_policy *policy)
{
	free((void *)policy->root_guids);
	free((void *)policy->cn_guids);
	free((void *)policy->io_guids);
	free((void *)policy->order_guids);
	free((void *)policy->hop_weights);
	free((void *)policy->ignored_ports);
	*policy = (struct hd_policy){.root_count = 0};
}
