/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The steps that all generators use. */
#include "generate_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define HOST_GUID UINT64_C(0x100000)
#define SWITCH_GUID UINT64_C(0x200000)
#define GUID_STEP 16u

static int check_size(const struct generate_size *size, struct hd_error *err)
{
	if (size->radix > HD_PORTS_MAX)
		return hd_error_set(err, -EINVAL,
				    "a switch would need %" PRIu64 " ports, expected %d or fewer",
				    size->radix, HD_PORTS_MAX);
	if (size->switches > HD_LID_LAST || size->hosts > HD_LID_LAST ||
	    size->switches + size->hosts > HD_LID_LAST)
		return hd_error_set(err, -EINVAL,
				    "%" PRIu64 " hosts and %" PRIu64
				    " switches need more than %d unicast LIDs",
				    size->hosts, size->switches, HD_LID_LAST);
	return 0;
}

int generate_begin(struct generation *generation, const struct generate_size *size,
		   struct hd_error *err)
{
	int rc = check_size(size, err);

	if (rc)
		return rc;
	*generation = (struct generation){.builder = hd_builder_new(), .err = err};
	return generation->builder ? 0 : hd_error_no_memory(err);
}

static uint32_t add_node(struct generation *generation, const struct hd_node_spec *unnamed,
			 const char *format, va_list arguments)
{
	char name[GENERATE_NAME_SIZE];
	struct hd_node_spec spec = *unnamed;
	uint32_t handle = HD_NONE;

	vsnprintf(name, sizeof(name), format, arguments);
	spec.name = name;
	if (!generation->rc)
		generation->rc =
		    hd_builder_add_node(generation->builder, &spec, &handle, generation->err);
	return handle;
}

uint32_t generate_switch(struct generation *generation, uint32_t ports, const char *name, ...)
{
	struct hd_node_spec spec = {.type = HD_SWITCH,
				    .guid = SWITCH_GUID + GUID_STEP * generation->switch_count++,
				    .port_count = ports};
	va_list arguments;

	spec.system_guid = spec.guid;
	va_start(arguments, name);
	uint32_t handle = add_node(generation, &spec, name, arguments);
	va_end(arguments);
	return handle;
}

static uint32_t add_adapter(struct generation *generation, const struct hd_node_spec *spec,
			    const char *format, va_list arguments)
{
	uint32_t handle = add_node(generation, spec, format, arguments);

	if (!generation->rc)
		generation->rc = hd_builder_set_port_guid(generation->builder, handle, 1,
							  spec->guid + 1, generation->err);
	return handle;
}

static uint64_t next_host_guid(struct generation *generation)
{
	return HOST_GUID + GUID_STEP * generation->host_count++;
}

uint32_t generate_host(struct generation *generation, const char *name, ...)
{
	struct hd_node_spec spec = {
	    .type = HD_CA, .guid = next_host_guid(generation), .port_count = 1};
	va_list arguments;

	spec.system_guid = spec.guid;
	va_start(arguments, name);
	uint32_t handle = add_adapter(generation, &spec, name, arguments);
	va_end(arguments);
	return handle;
}

uint32_t generate_adapter(struct generation *generation, uint32_t system, const char *name, ...)
{
	struct hd_node_spec spec = {
	    .type = HD_CA, .guid = next_host_guid(generation), .port_count = 1};
	va_list arguments;

	if (system != HD_NONE)
		spec.system_guid = HOST_GUID + (uint64_t)GUID_STEP * system;
	va_start(arguments, name);
	uint32_t handle = add_adapter(generation, &spec, name, arguments);
	va_end(arguments);
	return handle;
}

void generate_link(struct generation *generation, uint32_t node_a, uint32_t port_a, uint32_t node_b,
		   uint32_t port_b)
{
	if (!generation->rc)
		generation->rc = hd_builder_link(generation->builder, node_a, port_a, node_b,
						 port_b, 4, HD_SPEED_EDR, generation->err);
}

int generate_end(struct generation *generation, struct hd_fabric **out)
{
	if (!generation->rc) {
		hd_builder_assign_lids(generation->builder, 0);
		generation->rc = hd_builder_build(generation->builder, out, generation->err);
	}
	hd_builder_free(generation->builder);
	return generation->rc;
}

uint32_t generate_number(const struct hd_options *options, const char *name)
{
	return (uint32_t)hd_options_get(options, name)->number;
}

uint64_t generate_product(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

struct generate_global generate_far_end(uint32_t groups, struct generate_global end)
{
	uint32_t others = groups - 1, offset = end.cable % others;

	return (struct generate_global){.group = (end.group + 1 + offset) % groups,
					.cable = end.cable - offset + others - 1 - offset};
}
