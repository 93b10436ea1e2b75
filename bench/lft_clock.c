/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libheddlelftclock.so, which bench/repair preloads into ibsim. For each SubnSet(
 * LinearForwardingTable) that ibsim takes, appends a record to the file that LFT_CLOCK names: when it
 * was taken, by which directed route it came, and its content. If MFT_CLOCK names a file, the same is done
 * for SubnSet(MulticastForwardingTable), in that file.
 *
 * A request of umad2sim is 32 bytes and the MAD; ibsim reads it from a datagram socket.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HEADER 32 /* bytes before the MAD */
#define MAD 256
#define METHOD_SET 2
#define ATTRIBUTE_LFT 0x19
#define ATTRIBUTE_MFT 0x1B

/* Places in a MAD of directed routes. */
enum { METHOD = 3, HOP_COUNT = 7, ATTRIBUTE = 16, MODIFIER = 20, DATA = 64, PATH = 128 };

struct record {
	uint64_t nanoseconds; /* CLOCK_REALTIME */
	uint8_t modifier[4]; /* number of the block, as it travels */
	uint8_t hop_count;
	uint8_t path[67]; /* [0] is unused; 64 of them */
	uint8_t data[64];
};

static int open_file(const char *variable)
{
	return getenv(variable) ? open(getenv(variable), O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
}

/* The file for an attribute; -1: it is not wanted. */
static int file_of(unsigned attribute)
{
	static int lfts = -2, mfts = -2;

	if (lfts == -2) {
		lfts = open_file("LFT_CLOCK");
		mfts = open_file("MFT_CLOCK");
	}
	return attribute == ATTRIBUTE_LFT ? lfts : attribute == ATTRIBUTE_MFT ? mfts : -1;
}

static void note(const unsigned char *bytes, ssize_t length)
{
	const unsigned char *mad = bytes + HEADER;
	struct record record = {0};
	struct timespec now;
	int file;

	if (length < HEADER + MAD || mad[METHOD] != METHOD_SET || mad[ATTRIBUTE] != 0)
		return;
	file = file_of(mad[ATTRIBUTE + 1]);
	if (file < 0)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	record.nanoseconds = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	record.hop_count = mad[HOP_COUNT];
	memcpy(record.modifier, mad + MODIFIER, sizeof(record.modifier));
	memcpy(record.path, mad + PATH, 64);
	memcpy(record.data, mad + DATA, sizeof(record.data));
	if (write(file, &record, sizeof(record)) < 0)
		abort(); /* a missing record would spoil the figures */
}

__attribute__((visibility("default"))) ssize_t recvfrom(int socket, void *restrict buffer,
							size_t size, int flags,
							struct sockaddr *restrict address,
							socklen_t *restrict length)
{
	static ssize_t (*real)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
	ssize_t got;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "recvfrom");
	got = real(socket, buffer, size, flags, address, length);
	note(buffer, got);
	return got;
}

__attribute__((visibility("default"))) ssize_t recv(int socket, void *buffer, size_t size,
						    int flags)
{
	return recvfrom(socket, buffer, size, flags, NULL, NULL);
}

__attribute__((visibility("default"))) ssize_t read(int file, void *buffer, size_t size)
{
	static ssize_t (*real)(int, void *, size_t);
	ssize_t got;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "read");
	got = real(file, buffer, size);
	note(buffer, got);
	return got;
}
