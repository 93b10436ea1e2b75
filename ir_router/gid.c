/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GIDs and maps as text. */
#include <arpa/inet.h>
#include <errno.h>
#include <heddle/ir_router/map.h>
#include <inttypes.h>
#include <string.h>

static uint64_t gid_load(const unsigned char *bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 8; i++)
		value = value << 8 | bytes[i];
	return value;
}

static void store(uint64_t value, unsigned char *bytes)
{
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(value >> (56 - 8 * i));
}

char *hd_gid_print(const struct hd_gid *gid, char *buffer)
{
	struct in6_addr address;

	store(gid->prefix, address.s6_addr);
	store(gid->guid, address.s6_addr + 8);
	if (!inet_ntop(AF_INET6, &address, buffer, HD_GID_TEXT))
		buffer[0] = '\0';
	return buffer;
}

int hd_gid_parse(const char *text, unsigned length, struct hd_gid *gid, struct hd_error *err)
{
	char copy[HD_GID_TEXT];
	struct in6_addr address;
	bool fits = length > 0 && length < sizeof(copy);

	if (fits) {
		memcpy(copy, text, length);
		copy[length] = '\0';
		fits = strlen(copy) == length && !strchr(copy, '.') &&
		       inet_pton(AF_INET6, copy, &address) == 1;
	}
	if (!fits)
		return hd_error_set(err, -EINVAL,
				    "expected a GID, such as fec0::2:c903:0:1, written like an "
				    "IPv6 address");
	*gid = (struct hd_gid){gid_load(address.s6_addr), gid_load(address.s6_addr + 8)};
	return 0;
}

int hd_prefix_check(uint64_t prefix, struct hd_error *err)
{
	if (!prefix)
		return hd_error_set(err, -EINVAL, "the subnet prefix is 0");
	if (hd_prefix_is_link_local(prefix))
		return hd_error_set(err, -EINVAL,
				    "the subnet prefix 0x%016" PRIx64
				    " is link-local (fe80::/10): no router forwards it",
				    prefix);
	if (prefix >> 56 == 0xFF)
		return hd_error_set(
		    err, -EINVAL,
		    "the prefix 0x%016" PRIx64 " is that of multicast groups (ff00::/8)", prefix);
	return 0;
}

char *hd_map_destination(const struct hd_map_line *line, char *buffer)
{
	if (line->length == HD_MAP_DEFAULT)
		return strcpy(buffer, "*");
	hd_gid_print(&line->gid, buffer);
	if (line->length != HD_MAP_GID)
		snprintf(buffer + strlen(buffer), HD_MAP_DESTINATION_TEXT - strlen(buffer), "/%u",
			 line->length);
	return buffer;
}

int hd_map_write(const struct hd_map *map, FILE *stream, struct hd_error *err)
{
	uint32_t count = map->gid_count + map->block_count + map->default_count;
	char destination[HD_MAP_DESTINATION_TEXT];

	errno = 0;
	for (uint32_t index = 0; index < count; index++) {
		const struct hd_map_line *line = &map->lines[index];
		fputs(hd_map_destination(line, destination), stream);
		for (uint32_t i = 0; i < line->port_count; i++)
			fprintf(stream, " 0x%016" PRIx64,
				map->port_guid[map->choices[line->first + i]]);
		fputc('\n', stream);
	}
	if (fflush(stream) || ferror(stream)) {
		int rc = errno ? -errno : -EIO;
		return hd_error_set(err, rc, "%s", strerror(-rc));
	}
	return 0;
}
