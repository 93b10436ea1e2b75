/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_recipe.h"

#include <heddle/base/lookup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_SHIFT UINT64_MAX

/* Then come the shift, the routes and the reason. The bytes are for this build on this machine: `layout` tells. */
struct head {
	uint64_t check; /* of all that follows */
	uint64_t layout, fabric, number, phase;
	uint64_t shift_length; /* NO_SHIFT: it has none */
	uint64_t is_found, why_length;
	struct hd_key key; /* if it was found */
};

static const uint64_t layout = sizeof(struct head) << 16 | sizeof(struct hd_key_route);

static uint64_t check_of(const uint8_t *bytes, size_t length)
{
	return hd_hash_bytes((const char *)bytes + sizeof(uint64_t), length - sizeof(uint64_t));
}

static char *to_text(const uint8_t *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";
	char *text = malloc(2 * length + 1);

	for (size_t i = 0; text && i < length; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	if (text)
		text[2 * length] = '\0';
	return text;
}

static struct head head_of(const struct keyd_slot *slot, const uint8_t *shift, size_t shift_length)
{
	const struct keyd_keys *keys = slot->step->keys;
	const struct keyd_key_note *note = &keys->notes[slot->phase];
	struct head head;

	memset(&head, 0, sizeof(head));
	head.layout = layout;
	head.fabric = keys->view->fingerprint;
	head.number = slot->key;
	head.phase = slot->phase;
	head.shift_length = shift ? shift_length : NO_SHIFT;
	head.is_found = note->is_found;
	head.why_length = note->why ? strlen(note->why) : 0;
	if (note->is_found) {
		memcpy(&head.key, keys->keys[slot->phase], sizeof(head.key));
		head.key.routes = NULL;
	}
	return head;
}

static char *write_recipe(const struct keyd_slot *slot, const uint8_t *shift, size_t shift_length,
			  uint64_t *check)
{
	const struct keyd_keys *keys = slot->step->keys;
	const struct keyd_key_note *note = &keys->notes[slot->phase];
	struct head head = head_of(slot, shift, shift_length);
	size_t routes = head.key.flow_count * sizeof(struct hd_key_route);
	size_t length = sizeof(head) + (shift ? shift_length : 0) + routes + head.why_length;
	uint8_t *bytes = malloc(length), *at = bytes;
	char *text;

	if (!bytes)
		return NULL;
	at += sizeof(head);
	if (shift)
		memcpy(at, shift, shift_length);
	at += shift ? shift_length : 0;
	if (routes)
		memcpy(at, keys->keys[slot->phase]->routes, routes);
	if (note->why)
		memcpy(at + routes, note->why, head.why_length);
	memcpy(bytes, &head, sizeof(head));
	head.check = check_of(bytes, length);
	memcpy(bytes, &head, sizeof(head));
	*check = head.check;
	text = head.check == slot->written ? NULL : to_text(bytes, length);
	free(bytes);
	return text;
}

char *keyd_recipe_write(const struct keyd_slot *slot, uint64_t *check)
{
	const struct keyd_keys *keys = slot->step->keys;
	uint8_t *shift = NULL;
	size_t length = 0;
	char *text;

	if (!keys || slot->phase == HD_NONE || (!slot->shift && !keys->notes[slot->phase].is_found))
		return NULL;
	if (slot->shift && hd_key_shift_write(keys->view->tree, slot->shift, &shift, &length))
		return NULL;
	text = write_recipe(slot, shift, length, check);
	free(shift);
	return text;
}

static uint8_t *from_text(const char *text, size_t *length)
{
	size_t count = strlen(text) / 2;
	uint8_t *bytes = malloc(count + 1);
	unsigned value;

	*length = count;
	for (size_t i = 0; bytes && i < count; i++) {
		if (sscanf(text + 2 * i, "%2x", &value) != 1)
			value = 0; /* the check finds it */
		bytes[i] = (uint8_t)value;
	}
	return bytes;
}

static bool is_for(const struct keyd_slot *slot, const struct head *head, const uint8_t *bytes,
		   size_t length)
{
	size_t shift = head->shift_length == NO_SHIFT ? 0 : head->shift_length;
	const struct keyd_keys *keys = slot->step->keys;

	return head->check == check_of(bytes, length) && head->layout == layout &&
	       head->fabric == keys->view->fingerprint && head->number == slot->key &&
	       head->phase == slot->phase &&
	       length == sizeof(*head) + shift +
			     head->key.flow_count * sizeof(struct hd_key_route) +
			     head->why_length &&
	       (!head->is_found || head->key.flow_count == keys->keys[slot->phase]->flow_count);
}

/* The key that attempts have found. */
static bool replace(struct keyd_slot *slot, const struct head *head, const uint8_t *routes,
		    struct hd_key_shift *shift)
{
	size_t size = head->key.flow_count * sizeof(struct hd_key_route);
	struct hd_key *key = malloc(sizeof(*key));
	char *why = strndup((const char *)routes + size, head->why_length);

	if (key)
		*key = head->key;
	if (key)
		key->routes = malloc(size + 1);
	if (!key || !key->routes || !why) {
		hd_key_free(key);
		free(why);
		return false;
	}
	memcpy(key->routes, routes, size);
	keyd_keys_replace(slot->step->keys, slot->phase, key, shift, head->why_length ? why : NULL);
	free(why);
	return true;
}

static bool apply(struct keyd_slot *slot, const struct head *head, const uint8_t *bytes)
{
	size_t length = head->shift_length == NO_SHIFT ? 0 : head->shift_length;
	struct hd_key_shift *shift = NULL;

	if (head->shift_length != NO_SHIFT &&
	    hd_key_shift_read(slot->step->keys->view->tree, bytes, length, &shift))
		return false;
	if (head->is_found && !replace(slot, head, bytes + length, shift)) {
		hd_key_shift_free(shift);
		return false;
	}
	slot->shift = shift;
	slot->borrows_shift = head->is_found;
	return true;
}

bool keyd_recipe_apply(struct keyd_slot *slot)
{
	struct head head;
	size_t length;
	uint8_t *bytes = from_text(slot->recipe, &length);
	bool done = false;

	if (bytes && length >= sizeof(head)) {
		memcpy(&head, bytes, sizeof(head));
		done =
		    is_for(slot, &head, bytes, length) && apply(slot, &head, bytes + sizeof(head));
	}
	free(bytes);
	return done;
}
