/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What travels between ibsim and its clients: datagrams with one MAD each, and control messages.
 * The layout is that of ibsim on the same machine; only the MAD itself is in network byte order.
 */
#ifndef EMULATOR_WIRE_H
#define EMULATOR_WIRE_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WIRE_CLIENTS 10u /* as many as ibsim serves */
#define WIRE_MAD_SIZE 256u
#define WIRE_DATA_SIZE 64u /* of an SMP */

struct wire_datagram {
	uint32_t destination_lid, source_lid, destination_qp, source_qp;
	uint32_t status; /* network byte order; WIRE_TIMED_OUT: nobody could be reached */
	uint64_t length;
	uint8_t mad[WIRE_MAD_SIZE];
};

struct wire_control {
	uint32_t magic, client, type, length;
	uint8_t data[64];
};

/* Types of control messages that the emulator looks into; it passes all others on. */
enum { WIRE_CONTROL_ERROR = 0, WIRE_CONNECT = 1, WIRE_DISCONNECT = 2 };

#define WIRE_MAGIC 0xdeadbeefu
#define WIRE_TIMED_OUT 110u

/* The beginning of the data of a connect message and of its answer. */
struct wire_client {
	uint32_t id; /* asked: the number in the name of the client's socket; answered: its place */
};

enum { CLASS_LID_ROUTED = 0x01, CLASS_N2N = 0x0C, CLASS_DIRECT = 0x81 };
enum { METHOD_GET = 0x01, METHOD_SET = 0x02, METHOD_TRAP = 0x05, METHOD_ANSWER = 0x81 };
enum {
	ATTRIBUTE_NODE_INFO = 0x0011,
	ATTRIBUTE_PORT_INFO = 0x0015,
	ATTRIBUTE_LFT = 0x0019,
	ATTRIBUTE_PORT_STATES = 0x0034
};
enum { NODE_ADAPTER = 1, NODE_SWITCH = 2 };

/* Offsets in a MAD. */
enum {
	MAD_CLASS = 1,
	MAD_METHOD = 3,
	MAD_STATUS = 4,
	MAD_TRANSACTION = 8,
	MAD_ATTRIBUTE = 16,
	MAD_MODIFIER = 20,
	MAD_GMP_DATA = 24, /* of the class N2N: from the key of the manager on */
	MAD_DATA = 64
};

/* Status codes of an SMP. */
enum {
	STATUS_OK = 0,
	STATUS_UNSUPPORTED_METHOD = 2 << 2,
	STATUS_UNSUPPORTED_ATTRIBUTE = 3 << 2,
	STATUS_INVALID_VALUE = 7 << 2
};

#define STATUS_DIRECTION 0x8000u /* set in answers to directed-route SMPs */

static inline uint16_t wire_get16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return be16toh(value);
}

static inline uint32_t wire_get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

static inline uint64_t wire_get64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return be64toh(value);
}

static inline void wire_put16(uint8_t *at, uint16_t value)
{
	value = htobe16(value);
	memcpy(at, &value, sizeof(value));
}

static inline void wire_put32(uint8_t *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, sizeof(value));
}

static inline void wire_put64(uint8_t *at, uint64_t value)
{
	value = htobe64(value);
	memcpy(at, &value, sizeof(value));
}

/* A Get or Set that a subnet management agent answers. */
static inline bool wire_is_request(const struct wire_datagram *datagram)
{
	uint8_t class = datagram->mad[MAD_CLASS], method = datagram->mad[MAD_METHOD];

	return (class == CLASS_LID_ROUTED || class == CLASS_DIRECT) &&
	       (method == METHOD_GET || method == METHOD_SET);
}

/* One of the class N2N, for the node with its LID. */
static inline bool wire_is_n2n(const struct wire_datagram *datagram)
{
	uint8_t method = datagram->mad[MAD_METHOD];

	return datagram->mad[MAD_CLASS] == CLASS_N2N &&
	       (method == METHOD_GET || method == METHOD_SET);
}

#endif
