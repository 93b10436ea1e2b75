/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <heddle/base/text.h>
#include <heddle/config/section_values.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#define HOST_SIZE 64

/* ---- words and numbers ---- */

int hd_value_each_word(const char *text, int (*take)(void *, const char *, struct hd_error *),
		       void *context, struct hd_error *err)
{
	char *copy = strdup(text), *rest = copy, *word;
	int rc = copy ? 0 : hd_error_no_memory(err);

	while (!rc && (word = strsep(&rest, ", \t")))
		if (*word)
			rc = take(context, word, err);
	free(copy);
	return rc;
}

int hd_value_uid(const char *word, uid_t *uid, struct hd_error *err)
{
	const struct passwd *user;
	char *end;
	unsigned long number = strtoul(word, &end, 10);

	if (*word >= '0' && *word <= '9') {
		if (*end || number >= UINT32_MAX)
			return hd_error_set(err, -EINVAL, "'%s' is no user id", word);
		*uid = (uid_t)number;
		return 0;
	}
	user = getpwnam(word);
	if (!user)
		return hd_error_set(err, -EINVAL,
				    "this machine has no user '%s'; write a number instead", word);
	*uid = user->pw_uid;
	return 0;
}

int hd_value_guid(const char *text, uint64_t *guid, struct hd_error *err)
{
	struct hd_cursor cursor = {text, text + strlen(text)};

	if (!hd_take_hex(&cursor, guid) || !hd_cursor_done(&cursor))
		return hd_error_set(err, -EINVAL, "'%s' is not a GUID, such as 0x0002c90300001234",
				    text);
	return 0;
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

int hd_value_lifetime(const char *text, int *value, struct hd_error *err)
{
	unsigned long long wanted;
	int exponent = 0;

	if (!strcmp(text, "infinite")) {
		*value = HD_LIFETIME_INFINITE;
		return 0;
	}
	if (!is_number(text))
		return hd_error_set(
		    err, -EINVAL,
		    "'%s' is not a lifetime: expected whole microseconds, 0 or infinite", text);
	errno = 0;
	wanted = strtoull(text, NULL, 10);
	if (errno || wanted > HD_LIFETIME_LONGEST_US)
		return hd_error_set(err, -ERANGE,
				    "'%s' is longer than %d microseconds, the longest lifetime; "
				    "infinite means no limit",
				    text, HD_LIFETIME_LONGEST_US);
	while (wanted * 1000 > 4096ull << exponent)
		exponent++;
	*value = wanted ? exponent : -1;
	return 0;
}

/* ---- paths and addresses ---- */

int hd_value_path(const char *text, struct hd_error *err)
{
	if (*text && *text != '/')
		return hd_error_set(err, -EINVAL, "expected an absolute path");
	if (strlen(text) >= HD_ERROR_TEXT)
		return hd_error_set(err, -EINVAL, "the path is too long");
	return 0;
}

int hd_value_socket(const char *text, struct hd_error *err)
{
	const int rc = hd_value_path(text, err);

	return rc ? rc : hd_value_socket_path(text, err);
}

int hd_value_socket_path(const char *path, struct hd_error *err)
{
	const struct sockaddr_un *unused = NULL;

	if (strlen(path) >= sizeof(unused->sun_path))
		return hd_error_set(err, -EINVAL, "the path is too long for a socket: '%s'", path);
	return 0;
}

int hd_value_socket_or_port(const char *address, struct hd_error *err)
{
	if (*address == '/')
		return hd_value_socket_path(address, err);
	if (*address && !strchr(address, ':'))
		return hd_error_set(err, -EINVAL,
				    "'%s' is neither a path nor ADDRESS:PORT, such as "
				    "192.0.2.1:7471 or [2001:db8::1]:7471",
				    address);
	return 0;
}

static bool is_port(const char *text)
{
	const long port = strspn(text, "0123456789") <= 5 ? strtol(text, NULL, 10) : 0;

	return is_number(text) && port > 0 && port <= 65535;
}

bool hd_value_is_address(const char *text)
{
	const char *colon = strrchr(text, ':');
	char host[HOST_SIZE];
	struct in6_addr unused;

	if (!colon || !is_port(colon + 1) || colon - text >= HOST_SIZE)
		return false;
	memcpy(host, text, (size_t)(colon - text));
	host[colon - text] = '\0';
	if (*host != '[')
		return inet_pton(AF_INET, host, &unused) == 1;
	if (colon[-1] != ']')
		return false;
	host[colon - text - 1] = '\0';
	return inet_pton(AF_INET6, host + 1, &unused) == 1;
}
