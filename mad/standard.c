/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/mad/smp.h>
#include <infiniband/mad.h>
#include <string.h>

_Static_assert((int)HD_SMP_NODE_INFO == (int)IB_ATTR_NODE_INFO, "NodeInfo");
_Static_assert((int)HD_SMP_SWITCH_INFO == (int)IB_ATTR_SWITCH_INFO, "SwitchInfo");
_Static_assert((int)HD_SMP_PORT_INFO == (int)IB_ATTR_PORT_INFO, "PortInfo");
_Static_assert((int)HD_SMP_SM_INFO == (int)IB_ATTR_SMINFO, "SMInfo");
_Static_assert((int)HD_SMP_LFT == (int)IB_ATTR_LINEARFORWTBL, "LinearForwardingTable");

/* A copy: libibmad's functions take no const data. */
struct attribute {
	uint8_t data[HD_SMP_DATA];
};

static struct attribute copy_of(const uint8_t data[HD_SMP_DATA])
{
	struct attribute copy;

	memcpy(copy.data, data, sizeof(copy.data));
	return copy;
}

static uint32_t field(struct attribute *attribute, enum MAD_FIELDS name)
{
	return mad_get_field(attribute->data, 0, name);
}

static uint64_t field64(struct attribute *attribute, enum MAD_FIELDS name)
{
	return mad_get_field64(attribute->data, 0, name);
}

void hd_node_info_decode(const uint8_t data[HD_SMP_DATA], struct hd_node_info *info)
{
	struct attribute copy = copy_of(data);

	*info = (struct hd_node_info){
	    .guid = field64(&copy, IB_NODE_GUID_F),
	    .port_guid = field64(&copy, IB_NODE_PORT_GUID_F),
	    .system_guid = field64(&copy, IB_NODE_SYSTEM_GUID_F),
	    .vendor = field(&copy, IB_NODE_VENDORID_F),
	    .device = (uint16_t)field(&copy, IB_NODE_DEVID_F),
	    .port_count = (uint8_t)field(&copy, IB_NODE_NPORTS_F),
	    .local_port = (uint8_t)field(&copy, IB_NODE_LOCAL_PORT_F),
	    .is_switch = field(&copy, IB_NODE_TYPE_F) == IB_NODE_SWITCH,
	};
}

void hd_switch_info_decode(const uint8_t data[HD_SMP_DATA], struct hd_switch_info *info)
{
	struct attribute copy = copy_of(data);

	*info = (struct hd_switch_info){
	    .linear_cap = (uint16_t)field(&copy, IB_SW_LINEAR_FDB_CAP_F),
	    .linear_top = (uint16_t)field(&copy, IB_SW_LINEAR_FDB_TOP_F),
	};
}

void hd_port_info_decode(const uint8_t data[HD_SMP_DATA], struct hd_port_info *info)
{
	struct attribute copy = copy_of(data);

	*info = (struct hd_port_info){
	    .lid = (uint16_t)field(&copy, IB_PORT_LID_F),
	    .sm_lid = (uint16_t)field(&copy, IB_PORT_SMLID_F),
	    .lmc = (uint8_t)field(&copy, IB_PORT_LMC_F),
	    .state = (uint8_t)field(&copy, IB_PORT_STATE_F),
	    .physical_state = (uint8_t)field(&copy, IB_PORT_PHYS_STATE_F),
	    .mtu_cap = (uint8_t)field(&copy, IB_PORT_MTU_CAP_F),
	    .mtu = (uint8_t)field(&copy, IB_PORT_NEIGHBOR_MTU_F),
	    .width_supported = (uint8_t)field(&copy, IB_PORT_LINK_WIDTH_SUPPORTED_F),
	    .width_enabled = (uint8_t)field(&copy, IB_PORT_LINK_WIDTH_ENABLED_F),
	    .width_active = (uint8_t)field(&copy, IB_PORT_LINK_WIDTH_ACTIVE_F),
	    .speed_supported = (uint8_t)field(&copy, IB_PORT_LINK_SPEED_SUPPORTED_F),
	    .speed_enabled = (uint8_t)field(&copy, IB_PORT_LINK_SPEED_ENABLED_F),
	    .speed_active = (uint8_t)field(&copy, IB_PORT_LINK_SPEED_ACTIVE_F),
	    .extended_supported = (uint8_t)field(&copy, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F),
	    .extended_enabled = (uint8_t)field(&copy, IB_PORT_LINK_SPEED_EXT_ENABLED_F),
	    .extended_active = (uint8_t)field(&copy, IB_PORT_LINK_SPEED_EXT_ACTIVE_F),
	    .capability_mask = field(&copy, IB_PORT_CAPMASK_F),
	    .capability_mask2 = (uint16_t)field(&copy, IB_PORT_CAPMASK2_F),
	};
}

void hd_sm_info_decode(const uint8_t data[HD_SMP_DATA], struct hd_sm_info *info)
{
	struct attribute copy = copy_of(data);

	*info = (struct hd_sm_info){
	    .guid = field64(&copy, IB_SMINFO_GUID_F),
	    .priority = (uint8_t)field(&copy, IB_SMINFO_PRIO_F),
	    .state = (uint8_t)field(&copy, IB_SMINFO_STATE_F),
	};
}
