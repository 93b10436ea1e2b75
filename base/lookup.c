/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/index.h>
#include <heddle/base/lookup.h>

#include <errno.h>
#include <stdlib.h>

static void place(struct hd_lookup_slot *slots, uint32_t size, uint64_t hash, uint32_t index)
{
	uint32_t slot = (uint32_t)hash & (size - 1);

	while (slots[slot].index != HD_NONE)
		slot = (slot + 1) & (size - 1);
	slots[slot] = (struct hd_lookup_slot){hash, index};
}

static int grow(struct hd_lookup *lookup)
{
	uint32_t size = lookup->size ? lookup->size * 2 : 256;
	struct hd_lookup_slot *slots = malloc(size * sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t slot = 0; slot < size; slot++)
		slots[slot].index = HD_NONE;
	for (uint32_t slot = 0; slot < lookup->size; slot++)
		if (lookup->slots[slot].index != HD_NONE)
			place(slots, size, lookup->slots[slot].hash, lookup->slots[slot].index);
	free(lookup->slots);
	lookup->slots = slots;
	lookup->size = size;
	return 0;
}

uint32_t hd_lookup_find(const struct hd_lookup *lookup, uint64_t hash, hd_lookup_match *match,
			const void *context)
{
	if (!lookup->size)
		return HD_NONE;
	uint32_t slot = (uint32_t)hash & (lookup->size - 1);
	for (; lookup->slots[slot].index != HD_NONE; slot = (slot + 1) & (lookup->size - 1))
		if (lookup->slots[slot].hash == hash && match(context, lookup->slots[slot].index))
			return lookup->slots[slot].index;
	return HD_NONE;
}

int hd_lookup_add(struct hd_lookup *lookup, uint64_t hash, uint32_t index)
{
	if (lookup->size < (lookup->count + 1) * 2 && grow(lookup))
		return -ENOMEM;
	place(lookup->slots, lookup->size, hash, index);
	lookup->count++;
	return 0;
}

void hd_lookup_release(struct hd_lookup *lookup)
{
	free(lookup->slots);
	*lookup = (struct hd_lookup){0};
}

uint64_t hd_hash_number(uint64_t number)
{
	number = (number ^ number >> 33) * UINT64_C(0xFF51AFD7ED558CCD);
	number = (number ^ number >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
	return number ^ number >> 33;
}

uint64_t hd_hash_bytes(const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	uint64_t hash = UINT64_C(0xCBF29CE484222325);

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001B3);
	return hd_hash_number(hash);
}
