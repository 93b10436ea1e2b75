/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One SMP, where it goes, and the port that sends it. A port is a table of callbacks: that of a
 * real adapter is in umad_port.h; tests have one that simulates answers, losses and time.
 */
#ifndef HEDDLE_MAD_SMP_H
#define HEDDLE_MAD_SMP_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdint.h>

#define HD_SMP_DATA 64u /* bytes of an attribute */
#define HD_SMP_HOPS 63u /* of a directed route */

enum hd_smp_method { HD_SMP_GET = 1, HD_SMP_SET = 2 };

/* Standard attributes that this room uses. */
enum {
	HD_SMP_NODE_INFO = 0x11,
	HD_SMP_SWITCH_INFO = 0x12,
	HD_SMP_PORT_INFO = 0x15,
	HD_SMP_LFT = 0x19,
	HD_SMP_MFT = 0x1B,
	HD_SMP_SM_INFO = 0x20,
	HD_SMP_PORT_STATES = 0x34 /* SwitchPortStateTable; only a Get */
};

/* Status of an answer. */
enum { HD_SMP_BUSY = 1 }; /* bit: the node could not do it now */

/* A node, by LID or by directed route from our own port. */
struct hd_smp_address {
	uint64_t m_key; /* host byte order; 0: none */
	uint16_t lid; /* 0: directed route */
	uint8_t hop_count; /* 0 .. HD_SMP_HOPS; 0 without a LID: our own node */
	uint8_t path[HD_SMP_HOPS + 1]; /* [1 + hop_count] ports to leave by; path[0] is unused */
};

#define HD_GMP_DATA 232u /* bytes after the common header */

/* What makes a MAD one of a vendor's class: to queue pair 1 of the node with that LID, not to its subnet management
 * agent. Who sends it keeps it until its end; then `data` is what the node answered, if it did. */
struct hd_gmp {
	uint8_t class; /* 0x09 .. 0x0F */
	uint16_t lid; /* of the node, whatever the address of the destination is */
	uint8_t data[HD_GMP_DATA]; /* as it travels, in a Get, too */
};

struct hd_smp {
	enum hd_smp_method method;
	uint16_t attribute;
	uint32_t modifier;
	uint8_t data[HD_SMP_DATA]; /* as it travels; ignored in a Get */
	struct hd_gmp *gmp; /* NULL: an SMP. Else `data` does not count */
};

/* How an SMP that was sent has ended. */
struct hd_smp_event {
	uint32_t id; /* of the sending */
	int rc; /* 0: answered; -ETIMEDOUT or another negative errno: not */
	uint16_t attribute; /* of the answer, like those below only if rc is 0 */
	uint16_t status; /* 15 bits; 0: done */
	uint8_t data[HD_GMP_DATA]; /* of an SMP HD_SMP_DATA bytes */
};

/* A port: all callbacks get `context`, and are called by one thread. None but wait() blocks. */
struct hd_smp_port {
	/*
	 * Sends an SMP. `id`, never 0, comes back with its event. After timeout_ms the port may
	 * report -ETIMEDOUT. Returns 0, -EAGAIN when it cannot take more now, or another negative
	 * errno.
	 */
	int (*send)(void *context, const struct hd_smp_address *address, const struct hd_smp *smp,
		    uint32_t id, uint32_t timeout_ms);
	/* The next event: returns 1, or 0 if no event is there, or a negative errno if the port is
	 * broken. */
	int (*receive)(void *context, struct hd_smp_event *event);
	/* Waits until an event may be there, at most that long; -1: without limit. */
	void (*wait)(void *context, int milliseconds);
	/* A descriptor that poll() finds readable when an event may be there; -1: the port has
	 * none. */
	int (*descriptor)(void *context);
	/* A clock that never goes back, in milliseconds. */
	uint64_t (*now)(void *context);
	void *context;
	/* Of a port that several queues use one after the other: the id that was sent last. So none takes a late
	 * answer to another one for its own. NULL: one queue uses the port. */
	uint32_t *last_id;
};

/* ---- standard attributes ---- */

/* The fields of standard attributes that we use. libibmad knows where they are. */

struct hd_node_info {
	uint64_t guid, port_guid, system_guid; /* host byte order, as all fields here */
	uint32_t vendor;
	uint16_t device;
	uint8_t port_count; /* without port 0 */
	uint8_t local_port; /* by which the SMP came in */
	bool is_switch;
};

struct hd_switch_info {
	uint16_t linear_cap; /* entries of the forwarding table */
	uint16_t linear_top; /* highest LID that it has an entry for */
};

enum hd_port_state {
	HD_PORT_NONE, /* there is no such port, or it does not tell */
	HD_PORT_DOWN,
	HD_PORT_INITIALIZE,
	HD_PORT_ARMED,
	HD_PORT_ACTIVE
};

struct hd_port_info {
	uint16_t lid, sm_lid;
	uint8_t lmc;
	uint8_t state; /* enum hd_port_state */
	uint8_t physical_state; /* 5 link up */
	uint8_t mtu_cap,
	    mtu; /* 1 .. 5: 256 .. 4096 bytes; `mtu` is that of packets that are sent */
	/* Bits 0 .. 4: 1, 4, 8, 12 and 2 lanes. */
	uint8_t width_supported, width_enabled, width_active;
	/* Bits 0 .. 2: SDR, DDR, QDR. */
	uint8_t speed_supported, speed_enabled, speed_active;
	/* Bits 0 .. 3: FDR, EDR, HDR, NDR. Only if the SMP had HD_SMP_EXTENDED_SPEEDS. */
	uint8_t extended_supported, extended_enabled, extended_active;
	uint32_t capability_mask;
	uint16_t capability_mask2; /* only if `capability_mask` has HD_PORT_HAS_MASK2 */
};

/* Bits of a port's capability mask. */
enum { HD_PORT_IS_SM = 1 << 1, HD_PORT_HAS_EXTENDED_SPEEDS = 1 << 14, HD_PORT_HAS_MASK2 = 1 << 15 };

/* Bit of the modifier of PortInfo: the asker knows extended speeds. */
#define HD_SMP_EXTENDED_SPEEDS 0x80000000u

/* A subnet manager, by SMInfo. */
struct hd_sm_info {
	uint64_t guid; /* of its port */
	uint8_t priority;
	uint8_t state; /* enum hd_sm_state */
};

enum hd_sm_state { HD_SM_NOT_ACTIVE, HD_SM_DISCOVERING, HD_SM_STANDBY, HD_SM_MASTER };

/* From the data of an answer. They cannot fail: each byte pattern means something. */
void hd_node_info_decode(const uint8_t data[HD_SMP_DATA], struct hd_node_info *info);
void hd_switch_info_decode(const uint8_t data[HD_SMP_DATA], struct hd_switch_info *info);
void hd_port_info_decode(const uint8_t data[HD_SMP_DATA], struct hd_port_info *info);
void hd_sm_info_decode(const uint8_t data[HD_SMP_DATA], struct hd_sm_info *info);

/* ---- states of all ports ---- */

#define HD_PORT_STATES 128u /* ports of a block */

/*
 * SwitchPortStateTable: block `modifier` has the states of the ports 128 * modifier and on, two ports in a byte; the
 * even port is in its high four bits. states[p] becomes that of port 128 * modifier + p: enum hd_port_state, or a
 * greater number below 16, which the specification does not define. It cannot fail. (InfiniBand specification, volume
 * 1, 14.2.5.20.)
 */
void hd_port_states_decode(const uint8_t data[HD_SMP_DATA], uint8_t states[HD_PORT_STATES]);

/* Blocks that tell of all ports of a switch: its ports without port 0, 1 .. 254. */
static inline uint32_t hd_port_states_blocks(uint32_t ports)
{
	return ports / HD_PORT_STATES + 1;
}

/*
 * Whether a switch answers it, by the PortInfo of its port 0: CapabilityMask and CapabilityMask2, in host byte order.
 * The second mask has a meaning only if bit 15 of the first one is set; its bit 3 is the answer.
 */
bool hd_port_states_supported(uint32_t capability_mask, uint16_t capability_mask2);

#endif
