/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of OpenSM 3.3.23 and 3.3.24 that are numbers, and how OpenSM reads them: opts_strtoul() in osm_subnet.c.
 */
#include <errno.h>
#include <heddle/config/opensm_conf.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t largest;
} numbers[] = {
    {"cc_max_outstanding_mads", UINT32_MAX},
    {"console_port", UINT16_MAX},
    {"fdr10", UINT8_MAX},
    {"force_link_speed", UINT8_MAX},
    {"force_link_speed_ext", UINT8_MAX},
    {"force_link_width", UINT8_MAX},
    {"head_of_queue_lifetime", UINT8_MAX},
    {"lash_start_vl", UINT8_MAX},
    {"leaf_head_of_queue_lifetime", UINT8_MAX},
    {"leaf_vl_stall_count", UINT8_MAX},
    {"lmc", UINT8_MAX},
    {"local_phy_errors_threshold", UINT8_MAX},
    {"log_flags", UINT8_MAX},
    {"log_max_size", UINT32_MAX},
    {"long_transaction_timeout", UINT32_MAX},
    {"m_key_lease_period", UINT16_MAX},
    {"m_key_protection_level", UINT8_MAX},
    {"max_msg_fifo_timeout", UINT32_MAX},
    {"max_op_vls", UINT8_MAX},
    {"max_reverse_hops", UINT16_MAX},
    {"max_smps_timeout", UINT32_MAX},
    {"max_wire_smps", UINT32_MAX},
    {"max_wire_smps2", UINT32_MAX},
    {"nue_max_num_vls", UINT8_MAX},
    {"overrun_errors_threshold", UINT8_MAX},
    {"packet_life_time", UINT8_MAX},
    {"perfmgr_max_outstanding_queries", UINT32_MAX},
    {"perfmgr_sweep_time_s", UINT16_MAX},
    {"perfmgr_xmit_wait_threshold", UINT32_MAX},
    {"polling_retry_number", UINT32_MAX},
    {"qos_ca_max_vls", UINT32_MAX},
    {"qos_max_vls", UINT32_MAX},
    {"qos_rtr_max_vls", UINT32_MAX},
    {"qos_sw0_max_vls", UINT32_MAX},
    {"qos_swe_max_vls", UINT32_MAX},
    {"scatter_ports", UINT32_MAX},
    {"sm_assigned_guid", UINT8_MAX},
    {"sm_priority", UINT8_MAX},
    {"sm_sl", UINT8_MAX},
    {"sminfo_polling_timeout", UINT32_MAX},
    {"subnet_timeout", UINT8_MAX},
    {"sweep_interval", UINT32_MAX},
    {"transaction_retries", UINT32_MAX},
    {"transaction_timeout", UINT32_MAX},
    {"vl_stall_count", UINT8_MAX},
};

uint32_t hd_opensm_number_largest(const char *name)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(numbers[i].name, name))
			return numbers[i].largest;
	return 0;
}

bool hd_opensm_number(const char *name, const char *value, uint32_t *number)
{
	char *end;

	errno = 0;
	const unsigned long read = strtoul(value, &end, 0);
	if (!*value || *end || errno == ERANGE || read > hd_opensm_number_largest(name))
		return false;
	*number = (uint32_t)read;
	return true;
}
