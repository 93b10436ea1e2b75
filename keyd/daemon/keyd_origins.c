/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hosts of schedulers: scheduler_hosts in [keyd] as a list of hosts. keyd_calls.c asks for
 * each call that came over the network.
 *
 * Names are resolved when the list is read, by a worker if it is read again. A name that cannot be resolved
 * refuses the list, and the one before stays.
 */
#include "keyd_origins.h"

#include <arpa/inet.h>
#include <errno.h>
#include <heddle/base/grow.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

/* An address; those of IPv4 are mapped into IPv6. */
struct keyd_origins {
	bool any, local;
	uint32_t count, room;
	struct in6_addr *hosts; /* [count] */
};

static struct in6_addr mapped(struct in_addr address)
{
	struct in6_addr six = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

	memcpy(&six.s6_addr[12], &address, sizeof(address));
	return six;
}

/* False: it is of another family. */
static bool take_sockaddr(const struct sockaddr *from, struct in6_addr *out)
{
	if (from && from->sa_family == AF_INET)
		*out = mapped(((const struct sockaddr_in *)from)->sin_addr);
	else if (from && from->sa_family == AF_INET6)
		*out = ((const struct sockaddr_in6 *)from)->sin6_addr;
	else
		return false;
	return true;
}

static int origins_add(struct keyd_origins *origins, const struct in6_addr *address,
		       struct hd_error *err)
{
	struct in6_addr *hosts =
	    hd_grow(origins->hosts, origins->count, 1, &origins->room, sizeof(*hosts));

	if (!hosts)
		return hd_error_no_memory(err);
	origins->hosts = hosts;
	hosts[origins->count++] = *address;
	return 0;
}

static int origins_find(struct keyd_origins *origins, const char *host, struct hd_error *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found;
	int rc = getaddrinfo(host, NULL, &hints, &found);

	if (rc)
		return hd_error_set(err, -ENOENT,
				    "scheduler_hosts in [keyd]: cannot find the host '%s': %s",
				    host, gai_strerror(rc));
	for (const struct addrinfo *one = found; one && !rc; one = one->ai_next) {
		struct in6_addr address;

		if (take_sockaddr(one->ai_addr, &address))
			rc = origins_add(origins, &address, err);
	}
	freeaddrinfo(found);
	return rc;
}

static int take_word(struct keyd_origins *origins, const char *word, struct hd_error *err)
{
	if (!strcmp(word, "any"))
		origins->any = true;
	else if (!strcmp(word, "local"))
		origins->local = true;
	else
		return origins_find(origins, word, err);
	return 0;
}

int keyd_origins_read(const char *text, struct keyd_origins **out, struct hd_error *err)
{
	struct keyd_origins *origins = calloc(1, sizeof(*origins));
	char *copy = strdup(text), *rest = copy, *word;
	int rc = origins && copy ? 0 : hd_error_no_memory(err);

	while (!rc && (word = strsep(&rest, ", \t")))
		if (*word)
			rc = take_word(origins, word, err);
	free(copy);
	if (rc)
		keyd_origins_free(origins);
	else
		*out = origins;
	return rc;
}

void keyd_origins_free(struct keyd_origins *origins)
{
	if (origins)
		free(origins->hosts);
	free(origins);
}

/* Whether the address is one of this machine. */
static bool is_local(const struct in6_addr *address)
{
	struct ifaddrs *all, *one;
	struct in6_addr own;
	bool found = IN6_IS_ADDR_LOOPBACK(address) ||
		     (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == IN_LOOPBACKNET);

	if (found || getifaddrs(&all))
		return found;
	for (one = all; one && !found; one = one->ifa_next)
		found = take_sockaddr(one->ifa_addr, &own) && IN6_ARE_ADDR_EQUAL(&own, address);
	freeifaddrs(all);
	return found;
}

static bool is_listed(const struct keyd_origins *origins, const struct in6_addr *address)
{
	for (uint32_t i = 0; i < origins->count; i++)
		if (IN6_ARE_ADDR_EQUAL(&origins->hosts[i], address))
			return true;
	return origins->local && is_local(address);
}

/* "192.0.2.1", "2001:db8::1", "fe80::1%eth0" */
static bool take_text(const char *text, struct in6_addr *out)
{
	char address[INET6_ADDRSTRLEN];
	size_t length = strcspn(text, "%");
	struct in_addr four;

	if (length >= sizeof(address))
		return false;
	memcpy(address, text, length);
	address[length] = '\0';
	if (inet_pton(AF_INET6, address, out) == 1)
		return true;
	if (inet_pton(AF_INET, address, &four) != 1)
		return false;
	*out = mapped(four);
	return true;
}

bool keyd_origins_allow(const struct keyd_origins *origins, struct in_addr origin, const char *peer)
{
	struct in6_addr address = mapped(origin);

	if (origins->any)
		return true;
	if (!is_listed(origins, &address))
		return false;
	return !peer || !*peer || (take_text(peer, &address) && is_listed(origins, &address));
}
