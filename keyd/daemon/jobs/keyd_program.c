/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Slots that go to the subnet manager, its answers, and what the database keeps of the key that is in the
 * switches. keyd_phase.c, keyd_rekey.c and keyd_fabric.c call it.
 *
 * A slot is sent with a shift for the present loads; a result sets in_force, or the reason. A recipe has what is
 * needed to make the same key after a restart. Loads count a key from the time when it may be in the switches
 * until it is removed.
 */
#include "keyd_program.h"

#include "keyd.h"
#include "keyd_memory.h"

#include <errno.h>
#include <heddle/base/lookup.h>
#include <heddle/engines.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- recipe ---- */

/*
 * What the database has of a key that is in the switches, so that the daemon makes the same key after it was started
 * again: the shift, which depended on the loads of that time, and the whole key if attempts have found it. It holds
 * for one fabric, one phase, and one number of a key.
 */

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

static char *write_recipe(const struct keyd_slot *slot, const uint8_t *shift, size_t shift_length,
			  uint64_t *check)
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
	size_t routes = head.key.flow_count * sizeof(struct hd_key_route);
	size_t length = sizeof(head) + (shift ? shift_length : 0) + routes + head.why_length;
	uint8_t *bytes = malloc(length), *at = bytes;

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
	char *text = head.check == slot->written ? NULL : to_text(bytes, length);
	free(bytes);
	return text;
}

/* The recipe of a slot's key as text, to be freed with free(). NULL: it needs none, it was written already, or no memory.
 * *check differs from that of another recipe. */
static char *keyd_recipe_write(const struct keyd_slot *slot, uint64_t *check)
{
	const struct keyd_keys *keys = slot->step->keys;
	uint8_t *shift = NULL;
	size_t length = 0;

	if (!keys || slot->phase == HD_NONE || (!slot->shift && !keys->notes[slot->phase].is_found))
		return NULL;
	if (slot->shift && hd_key_shift_write(keys->view->tree, slot->shift, &shift, &length))
		return NULL;
	char *text = write_recipe(slot, shift, length, check);
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

/* The key that attempts have found. */
static bool program_replace(struct keyd_slot *slot, const struct head *head, const uint8_t *routes,
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
	if (head->is_found && !program_replace(slot, head, bytes + length, shift)) {
		hd_key_shift_free(shift);
		return false;
	}
	slot->shift = shift;
	slot->borrows_shift = head->is_found;
	return true;
}

/* Makes the slot's key the one of slot->recipe, if that is for its phase and its view. False: nothing has changed. */
static bool keyd_recipe_apply(struct keyd_slot *slot)
{
	struct head head;
	size_t length;
	uint8_t *bytes = from_text(slot->recipe, &length);
	bool done = false;

	if (bytes && length >= sizeof(head)) {
		memcpy(&head, bytes, sizeof(head));
		size_t shift = head.shift_length == NO_SHIFT ? 0 : head.shift_length;
		const struct keyd_keys *keys = slot->step->keys;
		done = (head.check == check_of(bytes, length) && head.layout == layout &&
			head.fabric == keys->view->fingerprint && head.number == slot->key &&
			head.phase == slot->phase &&
			length == sizeof(head) + shift +
				      head.key.flow_count * sizeof(struct hd_key_route) +
				      head.why_length &&
			(!head.is_found ||
			 head.key.flow_count == keys->keys[slot->phase]->flow_count)) &&
		       apply(slot, &head, bytes + sizeof(head));
	}
	free(bytes);
	return done;
}

/* ---- program ---- */

#define REMOVE_AGAIN_US 50000

void keyd_program_count(struct keyd *keyd, struct keyd_slot *slot, bool counts)
{
	const struct keyd_keys *keys = slot->step->keys;

	if (slot->counted == counts || !keys || keys->view != keyd->view || slot->phase == HD_NONE)
		return;
	hd_key_loads_add(keyd->loads, keyd->view->tree, keys->keys[slot->phase], slot->shift,
			 counts ? 1 : -1);
	slot->counted = counts;
	keyd_step_use_keys(slot->step);
}

enum keyd_shift keyd_program_shift(const struct keyd *keyd)
{
	const struct hd_channel_hello *hello = keyd_managers_master(keyd->managers);
	const struct hd_engine *engine = hello ? hd_engine_find(hello->engine) : NULL;

	if (keyd->config->shift != KEYD_SHIFT_AUTO)
		return keyd->config->shift;
	return engine && engine->takes_keys == HD_TAKES_KEYS ? KEYD_SHIFT_NONE : KEYD_SHIFT_LINKS;
}

/* For the present loads. A shift that is as good as another one stays. */
static int choose_by_loads(struct keyd *keyd, struct keyd_slot *slot, enum keyd_shift kind,
			   struct hd_error *err)
{
	const struct hd_key *key = slot->step->keys->keys[slot->phase];
	const enum hd_key_objective objective =
	    kind == KEYD_SHIFT_PAPER ? HD_KEY_SHIFT_PAPER : HD_KEY_SHIFT_LINKS;
	struct hd_key_shift *shift = NULL;

	/* Whether the slot has a shift for the key of its phase in the present fabric. One that
	 * the manager has refused is of no use. */
	const bool stays = slot->shift && !slot->borrows_shift &&
			   slot->status != HD_CHANNEL_REFUSED &&
			   slot->shift_fabric == slot->step->keys->view->fingerprint;
	int rc =
	    stays ? hd_key_shift_renew(keyd->view->tree, key, keyd->loads, objective, slot->shift,
				       &shift, err)
		  : hd_key_shift_choose(keyd->view->tree, key, keyd->loads, objective, &shift, err);

	if (rc || (stays && !shift))
		return rc;
	keyd_slot_forget_shift(slot);
	slot->shift = shift;
	return 0;
}

static int make_overlay(struct keyd *keyd, struct keyd_slot *slot, struct hd_key_overlay *overlay,
			struct hd_error *err)
{
	keyd_program_count(keyd, slot, false);
	const struct keyd_key_note *note = &slot->step->keys->notes[slot->phase];
	enum keyd_shift kind = keyd_program_shift(keyd);
	int rc = 0;
	if (note->is_found) {
		keyd_slot_forget_shift(slot);
		slot->shift = note->shift;
		slot->borrows_shift = true;
	} else if (slot->recipe) {
		keyd_slot_forget_shift(slot);
		if (!keyd_recipe_apply(slot) && kind != KEYD_SHIFT_NONE)
			rc = choose_by_loads(keyd, slot, kind, err);
	} else if (kind == KEYD_SHIFT_NONE) {
		keyd_slot_forget_shift(slot);
	} else {
		rc = choose_by_loads(keyd, slot, kind, err);
	}
	if (!rc)
		slot->shift_fabric = slot->step->keys->view->fingerprint;
	if (rc)
		return rc;
	return hd_key_overlay(keyd->view->tree, slot->step->keys->keys[slot->phase], slot->shift,
			      slot->offset, overlay, err);
}

static void program_fail(struct keyd_slot *slot, enum hd_channel_status status, const char *reason)
{
	slot->request = 0;
	slot->status = status;
	slot->in_force = false;
	slot->blocks = slot->changed = 0;
	snprintf(slot->reason, sizeof(slot->reason), "%s", reason);
}

static void succeed(struct keyd_slot *slot, uint32_t blocks, uint32_t changed)
{
	slot->request = 0;
	slot->status = HD_CHANNEL_DONE;
	slot->in_force = true;
	slot->blocks = blocks;
	slot->changed = changed;
	slot->reason[0] = '\0';
}

/* Another manager, or a restarted one, counts its own epochs. It must not take a key that was made for the fabric of
 * the one before, while its own fabric is being read. 0: no epoch. */
static uint64_t epoch_now(const struct keyd *keyd)
{
	const struct hd_channel_hello *hello = keyd_managers_master(keyd->managers);

	return hello && hello->instance == keyd->view->instance ? keyd->view->epoch : 0;
}

static void send_overlay(struct keyd *keyd, struct keyd_slot *slot,
			 const struct hd_key_overlay *overlay)
{
	int rc =
	    keyd_managers_set(keyd->managers, slot->key, epoch_now(keyd), overlay, &slot->request);

	if (rc == -ENOTCONN) {
		program_fail(slot, HD_CHANNEL_BUSY,
			     "heddle-keyd has no connection to a subnet manager that is master");
	} else if (rc) {
		program_fail(slot, HD_CHANNEL_FAILED, "heddle-keyd has no memory for this key");
	} else {
		slot->sent = true;
		slot->sent_at = keyd_op_now();
		keyd->metrics.sets++;
	}
}

void keyd_program_note_key(struct keyd_slot *slot)
{
	const struct hd_key *key = slot->step->keys->keys[slot->phase];

	slot->contention = key->contention;
	slot->flows = key->flow_count;
	slot->left_out = key->left_out;
}

void keyd_program_slot(struct keyd *keyd, struct keyd_slot *slot)
{
	struct hd_key_overlay overlay = {0};
	struct hd_error err = {""};
	int rc = make_overlay(keyd, slot, &overlay, &err);

	slot->wanted = true;
	slot->unmade = rc != 0;
	keyd_program_note_key(slot);
	if (rc) {
		program_fail(slot, HD_CHANNEL_REFUSED, err.text);
		return;
	}
	if (overlay.count || slot->sent)
		send_overlay(keyd, slot, &overlay);
	else
		succeed(slot, 0, 0); /* all flows stay below their leaf switches */
	hd_key_overlay_release(&overlay);
	if (slot->active && (slot->request || slot->in_force))
		keyd_program_count(keyd, slot, true);
}

void keyd_program_attempt(struct keyd *keyd, struct keyd_slot *slot,
			  const struct hd_key_attempt *attempt)
{
	struct hd_key_overlay overlay = {0};
	struct hd_error err = {""};

	if (hd_key_overlay(keyd->view->tree, attempt->key, attempt->shift, slot->offset, &overlay,
			   &err)) {
		program_fail(slot, HD_CHANNEL_FAILED, err.text);
		return;
	}
	send_overlay(keyd, slot, &overlay);
	hd_key_overlay_release(&overlay);
}

static void remove_key(struct keyd *keyd, uint64_t key)
{
	const struct hd_key_overlay nothing = {0};
	uint64_t request;

	/* without a manager: the next one says which keys it holds */
	if (!keyd_managers_set(keyd->managers, key, keyd->view ? keyd->view->epoch : 0, &nothing,
			       &request))
		keyd->metrics.sets++;
}

void keyd_program_remove(struct keyd *keyd, struct keyd_step *step)
{
	for (uint32_t i = 0; i < step->slot_count; i++) {
		struct keyd_slot *slot = &step->slots[i];

		keyd_program_count(keyd, slot, false);
		if (slot->sent)
			remove_key(keyd, slot->key);
		slot->sent = slot->in_force = slot->wanted = false;
		slot->request = 0;
		keyd_slot_forget_shift(slot);
	}
}

struct removal {
	struct keyd *keyd;
	uint64_t key;
};

static void remove_again(evutil_socket_t unused, short what, void *context)
{
	struct removal *removal = context;

	(void)unused;
	(void)what;
	removal->keyd->removals--;
	if (!keyd_job_slot_of_key(&removal->keyd->jobs, removal->key))
		remove_key(removal->keyd, removal->key);
	free(removal);
}

/* A key that keyd does not know any more was to be removed. */
static void take_removal(struct keyd *keyd, uint64_t key, const struct hd_channel_result *result)
{
	const struct timeval wait = {.tv_usec = REMOVE_AGAIN_US};
	struct removal *removal;

	if (!result || result->status == HD_CHANNEL_DONE)
		return;
	if (result->status == HD_CHANNEL_REFUSED) {
		hd_log(keyd->log, HD_LOG_ERROR,
		       "the subnet manager does not remove key %" PRIu64 ": %s", key,
		       result->reason);
		return;
	}
	removal = malloc(sizeof(*removal));
	if (!removal)
		return;
	*removal = (struct removal){keyd, key};
	if (event_base_once(keyd->base, -1, EV_TIMEOUT, remove_again, removal, &wait))
		free(removal);
	else
		keyd->removals++;
}

static void take_result(struct keyd *keyd, struct keyd_slot *slot,
			const struct hd_channel_result *result)
{
	struct keyd_op *op = TAILQ_FIRST(&slot->step->job->ops);

	keyd->metrics.set_microseconds += keyd_op_now() - slot->sent_at;
	if (!result)
		program_fail(slot, HD_CHANNEL_BUSY, "the subnet manager has gone");
	else if (result->status == HD_CHANNEL_DONE)
		succeed(slot, result->blocks, result->changed);
	else
		program_fail(slot, result->status, result->reason);
	if (!slot->in_force)
		keyd_program_count(keyd, slot, false);
	if (slot->in_force || slot->status == HD_CHANNEL_REFUSED) {
		free(slot->recipe);
		slot->recipe = NULL;
	}
	if (slot->in_force && !slot->trying)
		keyd_program_store(keyd, slot);
	keyd->changes++;
	if (op && op->awaits)
		keyd_op_run(op);
}

void keyd_program_result(void *context, uint64_t request, uint64_t key,
			 const struct hd_channel_result *result)
{
	struct keyd *keyd = context;
	struct keyd_slot *slot = keyd_job_slot_of_key(&keyd->jobs, key);

	if (result) {
		keyd->metrics.results[result->status]++;
		keyd->metrics.blocks += result->blocks;
		keyd->metrics.changed += result->changed;
	} else {
		keyd->metrics.lost++;
	}
	if (!slot)
		take_removal(keyd, key, result);
	else if (slot->request == request)
		take_result(keyd, slot, result);
}

void keyd_program_held(void *context, const struct hd_channel_held *held)
{
	struct keyd *keyd = context;
	uint32_t unknown = 0;

	for (uint32_t i = 0; i < held->count; i++) {
		struct keyd_slot *slot = keyd_job_slot_of_key(&keyd->jobs, held->keys[i]);

		if (slot) {
			slot->sent = true;
		} else {
			remove_key(keyd, held->keys[i]);
			unknown++;
		}
	}
	hd_log(keyd->log, HD_LOG_INFO,
	       "the subnet manager holds %u keys; %u of them belong to no job and are removed",
	       held->count, unknown);
}

void keyd_program_lose(struct keyd *keyd, struct keyd_slot *slot, const char *reason)
{
	if (slot->request)
		return; /* it is replaced at this moment */
	keyd->changes++;
	program_fail(slot, HD_CHANNEL_BUSY, reason);
	keyd_program_count(keyd, slot, false);
}

/* A change that no operation waits for. The task is first in it. */
struct note {
	struct keyd_store_change change;
	char step[KEYD_ID_LONGEST + 1], job[KEYD_ID_LONGEST + 1];
};

static void free_note(struct keyd_task *task)
{
	free(task);
}

/* A recipe that is being written. The change is first in it. */
struct recipe {
	struct keyd_store_change change;
	struct keyd *keyd;
	uint64_t key, check;
	char step[KEYD_ID_LONGEST + 1], job[KEYD_ID_LONGEST + 1];
	char *text;
};

static void free_recipe(struct keyd_task *task)
{
	free(((struct recipe *)task)->text);
	free(task);
}

static void end_recipe(struct keyd_task *task)
{
	struct recipe *recipe = (struct recipe *)task;
	struct keyd *keyd = recipe->keyd;
	struct keyd_slot *slot = keyd_job_slot_of_key(&keyd->jobs, recipe->key);
	struct keyd_op *op = slot ? TAILQ_FIRST(&slot->step->job->ops) : NULL;

	if (slot && slot->written == recipe->check) {
		slot->storing = false;
		slot->written = recipe->change.rc ? 0 : recipe->check;
	}
	free_recipe(task);
	if (op && op->awaits)
		keyd_op_run(op);
}

void keyd_program_store(struct keyd *keyd, struct keyd_slot *slot)
{
	uint64_t check = 0;
	char *text = keyd_recipe_write(slot, &check);
	struct recipe *recipe = text && check != slot->written ? calloc(1, sizeof(*recipe)) : NULL;

	if (!recipe) {
		free(text);
		return;
	}
	*recipe = (struct recipe){.keyd = keyd, .key = slot->key, .check = check, .text = text};
	snprintf(recipe->job, sizeof(recipe->job), "%s", slot->step->job->id);
	snprintf(recipe->step, sizeof(recipe->step), "%s", slot->step->name);
	recipe->change = (struct keyd_store_change){
	    .task = {.finish = end_recipe, .drop = free_recipe},
	    .kind = KEYD_STORE_RECIPE,
	    .row = {
		.job = recipe->job, .step = recipe->step, .body = text, .key = (int64_t)slot->key}};
	slot->written = check;
	slot->storing = true;
	keyd_store_submit(keyd->store, &recipe->change);
}

/* The oldest step that may go, or NULL; the newest is first in the list. */
static struct keyd_step *find_oldest(struct keyd_job *job, const struct keyd_step *keep,
				     uint32_t *count)
{
	struct keyd_step *step, *oldest = NULL;

	*count = 0;
	LIST_FOREACH(step, &job->steps, link)
	{
		(*count)++;
		if (step != keep && !keyd_step_is_active(step))
			oldest = step;
	}
	return oldest;
}

void keyd_program_trim(struct keyd *keyd, struct keyd_job *job, const struct keyd_step *keep)
{
	uint32_t count;
	struct keyd_step *step;

	while ((step = find_oldest(job, keep, &count)) &&
	       (count > KEYD_STEPS_KEPT ||
		(count > KEYD_STEPS_LEAST && keyd_memory_has_too_many_steps(keyd, job)))) {
		keyd_program_remove(keyd, step);
		struct note *note = calloc(1, sizeof(*note));
		if (note) {
			snprintf(note->job, sizeof(note->job), "%s", step->job->id);
			snprintf(note->step, sizeof(note->step), "%s", step->name);
			note->change = (struct keyd_store_change){
			    .task = {.finish = free_note, .drop = free_note},
			    .kind = KEYD_STORE_DELETE_STEP,
			    .row = {.job = note->job, .step = note->step}};
			keyd_store_submit(keyd->store, &note->change);
		}
		keyd_step_free(&keyd->jobs, step);
	}
}
