/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The operation of one switch. program.c begins it and hands on answers; it ends when the stage is PROGRAM_IDLE.
 *
 * Stages: capability mask, info, private tables, notices, reading, setting, leaving. What is known to be held is
 * not read again, and only blocks that differ are set (diff.h), in steps of which each waits for all answers of
 * the one before. A switch that does not answer, or answers with errors, keeps what it has, and nothing is assumed
 * of it.
 */
#include "image.h"
#include "program_state.h"

#include <errno.h>
#include <heddle/fabric/aside.h>
#include <stdlib.h>
#include <string.h>

/* Tries without an answer, in a row, until a switch is left: two MADs of the usual four tries. */
#define SILENT_TRIES 8u

static const uint32_t step_zero;

static bool sets(const struct program_switch *sw)
{
	return sw->stage == PROGRAM_SETTING || sw->stage == PROGRAM_LEAVING;
}

/* With the fast recovery that the plan allows and the switch takes. */
static struct hd_ar_settings settings_of(const struct hd_ar_program *program,
					 const struct program_switch *sw)
{
	struct hd_ar_settings settings = hd_ar_config_settings(&program->config, sw->guid);

	if (settings.recovery > program->recovery)
		settings.recovery = program->recovery;
	if (settings.recovery == HD_AR_RECOVERY_NOTICES && !sw->notices.ready)
		settings.recovery = HD_AR_RECOVERY_LOCAL;
	if (sw->recovery_refused || !hd_ar_config_enabled(&program->config, sw->guid))
		settings.recovery = HD_AR_RECOVERY_OFF;
	return settings;
}

void program_switch_forget(struct program_switch *sw)
{
	const uint64_t guid = sw->guid;
	const uint32_t vendor_id = sw->vendor_id;

	hd_ar_image_free(sw->held);
	program_row_forget(&sw->row);
	program_notices_forget(&sw->notices);
	free(sw->filled);
	*sw = (struct program_switch){.guid = guid, .vendor_id = vendor_id};
}

static void end_list(struct program_switch *sw)
{
	hd_ar_changes_free(sw->changes);
	sw->changes = NULL;
	sw->mads = NULL;
	sw->count = sw->next = 0;
}

static void end(struct program_switch *sw, int rc)
{
	end_list(sw);
	if (sw->filled && sw->held) {
		/* The row was not replaced in full. Without memory nothing is known any more. */
		const struct hd_ar_quirks quirks = sw->held->quirks;
		struct hd_ar_image *image = NULL;
		program_row_mend(&sw->row, &quirks, sw->held, sw->filled, &image);
		hd_ar_image_free(sw->held);
		sw->held = image;
		program_row_forget(&sw->row);
	}
	free(sw->filled);
	sw->filled = NULL;
	hd_ar_image_free(sw->want);
	sw->want = NULL;
	sw->rc = rc;
	sw->stage = PROGRAM_IDLE;
}

static int send_slot(struct hd_ar_program *program, struct program_switch *sw, uint32_t slot)
{
	const struct hd_ar_sender *sender = &program->sender;
	bool set = sets(sw);
	int rc =
	    sender->send(sender->context, program_index(program, sw), slot, set, &sw->mads[slot]);

	if (rc)
		return rc;
	sw->under_way++;
	return 0;
}

/* Sends all MADs of the next step. */
static int send_step(struct hd_ar_program *program, struct program_switch *sw)
{
	const uint32_t step = sw->step[sw->next];
	int rc = 0;

	while (!rc && sw->next < sw->count && sw->step[sw->next] == step) {
		rc = send_slot(program, sw, sw->next);
		if (rc)
			break;
		*(sets(sw) ? &program->counts.sets : &program->counts.gets) += 1;
		sw->next++;
	}
	return rc;
}

static int begin_single(struct hd_ar_program *program, struct program_switch *sw,
			enum program_stage stage, const struct hd_ar_mad *mad)
{
	end_list(sw);
	sw->stage = stage;
	sw->single = *mad;
	sw->mads = &sw->single;
	sw->step = &step_zero;
	sw->count = 1;
	return send_step(program, sw);
}

static int begin_list(struct hd_ar_program *program, struct program_switch *sw,
		      enum program_stage stage, struct hd_ar_changes *changes)
{
	end_list(sw);
	sw->stage = stage;
	sw->changes = changes;
	sw->mads = changes->mads;
	sw->step = changes->step;
	sw->count = changes->count;
	return sw->count ? send_step(program, sw) : 0;
}

static int ask_private(struct hd_ar_program *program, struct program_switch *sw)
{
	const struct hd_ar_mad mad = {.attribute = HD_AR_PRIVATE_LFT_INFO};

	return begin_single(program, sw, PROGRAM_ASK_PRIVATE, &mad);
}

static int switch_off(struct hd_ar_program *program, struct program_switch *sw,
		      enum program_stage stage)
{
	struct hd_ar_changes *changes = NULL;
	int rc = hd_ar_switch_off(&sw->info, sw->held, &changes);

	return rc ? rc : begin_list(program, sw, stage, changes);
}

/* Whether the switch is known to hold all that the plan wants. */
static bool is_done(const struct hd_ar_program *program, const struct program_switch *sw)
{
	const struct hd_ar_settings settings = settings_of(program, sw);

	return sw->info_known && !program->reread &&
	       program_row_is(&sw->row, program->plan, program_index(program, sw), &settings,
			      &sw->info);
}

/* The image that the plan wants, and one of what is known in its size. */
static int make_images(struct hd_ar_program *program, struct program_switch *sw)
{
	const struct hd_ar_settings settings = settings_of(program, sw);
	struct hd_ar_image *held = NULL;

	hd_ar_image_free(sw->want);
	sw->want = NULL;
	/* What is known of the tables becomes an image. */
	int rc = program_row_is_known(&sw->row)
		     ? program_row_image(&sw->row, &program->quirks, &sw->held)
		     : 0;
	if (!rc)
		program_row_forget(&sw->row);
	if (!rc)
		rc = hd_ar_image_of_plan(program->plan, program_index(program, sw), &settings,
					 &program->quirks, &sw->info, &sw->want);
	if (!rc)
		rc = hd_ar_image_like(sw->want, sw->held, &held);
	if (rc)
		return rc;
	hd_ar_image_free(sw->held);
	sw->held = held;
	held->info = sw->info;
	held->info_known = sw->info_known;
	image_private_learn(sw->want, program->plan, held);
	return 0;
}

/* Whether the switch has a mode for the private tables that it is to have. */
static bool private_fits(const struct program_switch *sw)
{
	const struct hd_ar_private_block *block =
	    image_private_find(sw->want, HD_AR_PRIVATE_LFT_INFO, 0);
	struct hd_ar_private_info info;

	if (!block)
		return true;
	hd_ar_private_info_decode(block->data, &info);
	return info.active_mode != 0;
}

/* All blocks that the plan wants, and those of further groups that the switch has in use. */
static int find_in_use(const struct hd_ar_program *program, struct program_switch *sw,
		       struct hd_ar_changes **unknown)
{
	const uint32_t elements =
	    (sw->info.group_top + 1) * hd_ar_sub_groups(&sw->info, &program->quirks);
	struct hd_ar_image shape = *sw->want, *held = NULL;

	if (sw->want->table_count && elements > HD_AR_GROUP_BLOCK * shape.group_blocks)
		shape.group_blocks = (elements + HD_AR_GROUP_BLOCK - 1) / HD_AR_GROUP_BLOCK;
	shape.private_blocks =
	    image_private_more(sw->want, shape.group_blocks, &shape.private_count);
	int rc = shape.private_blocks ? hd_ar_image_like(&shape, NULL, &held) : -ENOMEM;
	if (!rc) {
		hd_ar_image_free(sw->held);
		sw->held = held;
		rc = hd_ar_unknown(&shape, held, unknown);
	}
	free(shape.private_blocks);
	return rc;
}

/* Images of what differs between two rows. */
static int compare_rows(struct hd_ar_program *program, struct program_switch *sw)
{
	const struct hd_ar_settings settings = settings_of(program, sw);
	struct program_row_images images;
	int rc = program_row_images_new(&sw->row, program->plan, program_index(program, sw),
					&settings, &program->quirks, &sw->info, &images);

	if (rc)
		return rc;
	sw->want = images.want;
	sw->held = images.held;
	sw->filled = images.filled;
	return 0;
}

/* What the switch answered, if it was asked, may have changed the image that is wanted: fields of the info that are
 * not ours stay as they are. */
static int begin_setting(struct hd_ar_program *program, struct program_switch *sw, bool asked)
{
	struct hd_ar_changes *changes = NULL;
	int rc = sw->filled || !asked ? 0 : make_images(program, sw);

	if (!rc && !private_fits(sw))
		rc = -ENOTSUP;
	if (!rc)
		rc = hd_ar_diff(sw->want, sw->held, program->config.order, &changes);
	return rc ? rc : begin_list(program, sw, PROGRAM_SETTING, changes);
}

static int begin_reading(struct hd_ar_program *program, struct program_switch *sw)
{
	/* To ask for blocks of a switch that has AR off takes as many MADs as to set them.
	 * Before private tables are set, the switch says what it can do with them. */
	const bool blank = program->goal == PROGRAM_APPLY && !program->reread &&
			   program->plan->table_count == 1 && sw->info_known && !sw->info.enabled &&
			   !sw->held && !program_row_is_known(&sw->row);
	struct hd_ar_changes *unknown = NULL;

	if (program->reread) {
		hd_ar_image_free(sw->held);
		sw->held = NULL;
		program_row_forget(&sw->row);
		sw->info_known = false;
	}
	int rc = (program->goal == PROGRAM_APPLY && sw->info_known && !program->reread &&
		  program_row_compares(&sw->row, program->plan, program_index(program, sw)))
		     ? compare_rows(program, sw)
		     : make_images(program, sw);
	if (!rc && blank)
		return begin_setting(program, sw, false);
	if (!rc && program->goal == PROGRAM_READ)
		rc = find_in_use(program, sw, &unknown);
	else if (!rc)
		rc = hd_ar_unknown(sw->want, sw->held, &unknown);
	return rc ? rc : begin_list(program, sw, PROGRAM_READING, unknown);
}

static bool wants_private(const struct hd_ar_program *program, const struct program_switch *sw)
{
	return program->config.algorithm == HD_AR_DFP && sw->standing == HD_AR_ABLE &&
	       hd_ar_capability_mask_has(&sw->mask, HD_AR_CAN_PRIVATE_LFT) &&
	       hd_ar_capability_mask_has(&sw->mask, HD_AR_CAN_PORT_SL_TO_PRIVATE_LFT);
}

/* The end of a stage: the next one, or the end of all. */
static int next_stage(struct hd_ar_program *program, struct program_switch *sw)
{
	switch (sw->stage) {
	case PROGRAM_ASK_MASK:
		if (hd_ar_capability_mask_has(&sw->mask, HD_AR_CAN_OLD) ||
		    hd_ar_capability_mask_has(&sw->mask, HD_AR_CAN_REV1)) {
			const struct hd_ar_mad mad = {.attribute = HD_AR_INFO};
			return begin_single(program, sw, PROGRAM_ASK_INFO, &mad);
		}
		sw->standing = HD_AR_UNABLE;
		break;
	case PROGRAM_ASK_INFO:
		sw->standing = sw->info.group_cap ? HD_AR_ABLE : HD_AR_UNABLE;
		if (wants_private(program, sw))
			return ask_private(program, sw);
		break;
	case PROGRAM_NOTICES:
		if (!(program->goal == PROGRAM_APPLY && is_done(program, sw)))
			return begin_reading(program, sw);
		break;
	case PROGRAM_READING:
		if (program->goal == PROGRAM_APPLY)
			return begin_setting(program, sw, sw->count > 0);
		break;
	case PROGRAM_SETTING:
		if (program->goal == PROGRAM_APPLY) {
			/* The switch holds all that the plan wants. The row says it, and the
			 * image is no longer needed. */
			const struct hd_ar_settings settings = settings_of(program, sw);
			if (program_row_take(&sw->row, program->plan, program_index(program, sw),
					     &settings, &sw->info) ||
			    (!sw->held->group_blocks && !sw->held->lft_blocks &&
			     !sw->held->private_count)) {
				hd_ar_image_free(sw->held);
				sw->held = NULL;
			}
		}
		break;
	default:
		break;
	}
	end(sw, sw->stage == PROGRAM_LEAVING ? sw->rc : 0);
	return 0;
}

/* Whether AR may be on. */
static bool may_be_on(const struct program_switch *sw)
{
	return !sw->info_known || sw->info.enabled || sw->info.fr_enabled ||
	       sw->info.pfrn_enabled || image_private_active(sw->held);
}

/* All MADs of a switch that failed have ended. */
static void end_failed(struct hd_ar_program *program, struct program_switch *sw)
{
	const bool leave = program->goal == PROGRAM_APPLY && sw->stage != PROGRAM_LEAVING &&
			   (sw->standing == HD_AR_LEFT || sw->stage == PROGRAM_SETTING);

	sw->failed = false;
	if (leave && may_be_on(sw) && !program->stopped &&
	    !switch_off(program, sw, PROGRAM_LEAVING))
		return;
	if (sw->standing >= HD_AR_ABLE && may_be_on(sw) &&
	    (leave || sw->stage == PROGRAM_LEAVING || program->goal == PROGRAM_DISABLE))
		sw->uncertain = true;
	end(sw, sw->rc);
}

/* Nothing more is sent, except the Set that switches AR off. */
static void fail(struct hd_ar_program *program, struct program_switch *sw, int rc)
{
	if (!sw->failed)
		sw->rc = rc;
	sw->failed = true;
	if (!sw->under_way)
		end_failed(program, sw);
}

/* Whether switches of the vendor may have these attributes: it and those who sell its chips. */
static bool may_have_attributes(uint32_t vendor)
{
	return !vendor || vendor == HD_VENDOR_MELLANOX || vendor == 0x8f1 || vendor == 0x119f;
}

static void take_failure(struct hd_ar_program *program, struct program_switch *sw, uint32_t slot,
			 const struct hd_ar_answer *answer)
{
	bool asking = sw->stage == PROGRAM_ASK_MASK || sw->stage == PROGRAM_ASK_INFO;

	const struct hd_ar_mad *mad = &sw->mads[slot];
	if (answer->rc != -EHOSTDOWN && answer->rc != -ECANCELED) {
		sw->attribute = mad->attribute;
		sw->modifier = mad->modifier;
		sw->status = answer->status;
	}
	if (sets(sw)) {
		if (sw->held)
			hd_ar_image_forget(sw->held, mad->attribute, mad->modifier);
		if (mad->attribute == HD_AR_INFO && answer->rc != -EREMOTEIO)
			sw->info_known = false;
	}
	if (sw->stage == PROGRAM_ASK_PRIVATE && !program->stopped && answer->rc != -ECANCELED) {
		end(sw, 0); /* it has AR without private tables */
		return;
	}
	if (program->stopped || answer->rc == -ECANCELED || sw->failed) {
		fail(program, sw, answer->rc);
		return;
	}
	if (asking) {
		/* A switch that does not say what it can do is asked again, but for one that
		 * hardly knows the question. */
		const bool silent = answer->rc == -ETIMEDOUT && sw->stage == PROGRAM_ASK_MASK &&
				    !may_have_attributes(sw->vendor_id);
		sw->standing = answer->rc == -EREMOTEIO || silent ? HD_AR_UNABLE : HD_AR_SILENT;
		fail(program, sw, answer->rc);
		return;
	}
	/* Counts errors; false if they are too many. A window ends only after a MAD without an
	 * error: otherwise a short one would never end. */
	const uint64_t now = program->sender.now(program->sender.context);
	const uint64_t window = (uint64_t)program->config.error_window_s * 1000;
	uint32_t errors = answer->rc == -EHOSTDOWN ? 0 : answer->tries ? answer->tries : 1;
	if ((sw->succeeded && now - sw->window_begin > window) || !sw->errors) {
		sw->window_begin = now;
		sw->errors = 0;
	}
	sw->succeeded = false;
	sw->errors += errors;
	program->counts.errors += errors;
	/* Counts tries without an answer in a row; false if they are too many. One MAD alone can
	 * take as long as a window, so that a window never sees enough of them. */
	if (answer->rc == -ETIMEDOUT)
		sw->silent_tries += answer->tries ? answer->tries : 1;
	else if (answer->rc != -EHOSTDOWN)
		sw->silent_tries = 0;
	if (((sw->silent_tries < SILENT_TRIES) && sw->errors <= program->config.max_errors) &&
	    !send_slot(program, sw, slot))
		return;
	sw->standing = HD_AR_LEFT;
	sw->left_at = program->sender.now(program->sender.context);
	fail(program, sw, answer->rc);
}

static void take_data(struct program_switch *sw, uint32_t slot, const uint8_t *data)
{
	struct hd_ar_mad mad = sw->mads[slot];

	if (mad.attribute == HD_AR_GENERAL_INFO) {
		hd_ar_capability_mask_decode(data, &sw->mask);
		memcpy(sw->raw_mask, data, HD_AR_DATA);
		return;
	}
	if (sw->stage == PROGRAM_ASK_PRIVATE) {
		hd_ar_private_info_decode(data, &sw->private_info);
		sw->private_known = true;
		return;
	}
	if (!sets(sw))
		memcpy(mad.data, data, HD_AR_DATA);
	if (mad.attribute == HD_AR_INFO) {
		/* A switch that has notices off although they were on has lost all that it needs
		 * for them, too. */
		const bool had_notices = sw->info.pfrn_enabled;
		hd_ar_info_decode(mad.data, &sw->info);
		if (had_notices && !sw->info.pfrn_enabled && !sets(sw))
			program_notices_forget(&sw->notices);
		sw->info_known = true;
		if (!sw->info.enabled)
			sw->uncertain = false;
		memcpy(sw->raw_info, data, HD_AR_DATA);
	}
	if (sw->held)
		hd_ar_image_store(sw->held, &mad);
}

/* A switch that answers a Set of its info without an error, but with AR as before, has refused. */
static bool took_effect(const struct program_switch *sw, uint32_t slot, const uint8_t *data)
{
	struct hd_ar_info sent, now;

	if (!sets(sw) || sw->mads[slot].attribute != HD_AR_INFO)
		return true;
	hd_ar_info_decode(sw->mads[slot].data, &sent);
	hd_ar_info_decode(data, &now);
	return sent.enabled == now.enabled && sent.fr_enabled == now.fr_enabled &&
	       sent.pfrn_enabled == now.pfrn_enabled;
}

/* A switch that refuses an info with fast recovery gets the same without it. */
static bool refuses_recovery(struct program_switch *sw, uint32_t slot,
			     const struct hd_ar_answer *answer)
{
	struct hd_ar_info sent;

	if (sw->stage != PROGRAM_SETTING || answer->rc != -EREMOTEIO || sw->under_way ||
	    !sw->want || sw->mads[slot].attribute != HD_AR_INFO)
		return false;
	hd_ar_info_decode(sw->mads[slot].data, &sent);
	if (!sent.fr_enabled && !sent.pfrn_enabled)
		return false;
	sw->recovery_refused = true;
	sw->recovery_status = answer->status;
	sw->want->info.fr_enabled = sw->want->info.pfrn_enabled = 0;
	return true;
}

static void go_on(struct hd_ar_program *program, struct program_switch *sw)
{
	int rc = 0;

	while (!rc && !sw->under_way && sw->stage != PROGRAM_IDLE) {
		if (program->stopped)
			rc = -ECANCELED;
		else if (sw->next < sw->count)
			rc = send_step(program, sw);
		else
			rc = next_stage(program, sw);
	}
	if (rc)
		fail(program, sw, rc);
}

static void fail_or_go_on(struct hd_ar_program *program, struct program_switch *sw, int rc)
{
	if (rc)
		fail(program, sw, rc);
	else
		go_on(program, sw);
}

void program_switch_answer(struct hd_ar_program *program, struct program_switch *sw, uint32_t slot,
			   const struct hd_ar_answer *answer)
{
	struct hd_ar_answer ended = *answer;

	sw->under_way--;
	if (sw->stage == PROGRAM_NOTICES) {
		fail_or_go_on(program, sw, program_notices_answer(program, sw, answer));
		return;
	}
	if (!ended.rc && !took_effect(sw, slot, ended.data))
		ended.rc = -EREMOTEIO;
	if (refuses_recovery(sw, slot, &ended)) {
		fail_or_go_on(program, sw, begin_setting(program, sw, false));
		return;
	}
	if (ended.rc) {
		take_failure(program, sw, slot, &ended);
		return;
	}
	sw->succeeded = true;
	sw->silent_tries = 0;
	take_data(sw, slot, ended.data);
	if (!sw->failed)
		go_on(program, sw);
	else if (!sw->under_way)
		end_failed(program, sw);
}

/* A switch that was left gets another chance when its window has passed. */
static void forgive(const struct hd_ar_program *program, struct program_switch *sw)
{
	const uint64_t window = (uint64_t)program->config.error_window_s * 1000;
	const bool uncertain = sw->uncertain;

	if (sw->standing != HD_AR_LEFT ||
	    program->sender.now(program->sender.context) - sw->left_at < window)
		return;
	program_switch_forget(sw);
	sw->uncertain = uncertain;
}

static int end_recovery(struct hd_ar_program *program, struct program_switch *sw)
{
	struct hd_ar_mad mad = {.attribute = HD_AR_INFO};
	struct hd_ar_info info = sw->info;

	if (sw->standing < HD_AR_ABLE || !sw->info_known ||
	    hd_ar_recovery_of(&info) == HD_AR_RECOVERY_OFF)
		return 0;
	info.fr_enabled = info.pfrn_enabled = 0;
	hd_ar_info_encode(&info, mad.data);
	return begin_single(program, sw, PROGRAM_SETTING, &mad);
}

static int begin_switch(struct hd_ar_program *program, struct program_switch *sw)
{
	switch (program->goal) {
	case PROGRAM_DETECT:
		forgive(program, sw);
		if (wants_private(program, sw) && !sw->private_known)
			return ask_private(program, sw);
		if (!(sw->standing <= HD_AR_SILENT))
			return 0;
		const struct hd_ar_mad mad = {.attribute = HD_AR_GENERAL_INFO,
					      .modifier = HD_AR_GENERAL_INFO_CAPABILITIES};
		return begin_single(program, sw, PROGRAM_ASK_MASK, &mad);
	case PROGRAM_END_RECOVERY:
		return end_recovery(program, sw);
		/* They were read or set, or there is no need to: AR is off, and only notices may
		 * be on. */
	case PROGRAM_DISABLE:
		if (sw->standing < HD_AR_ABLE || !may_be_on(sw) ||
		    (program->unread && (sw->held || program_row_is_known(&sw->row) ||
					 (sw->info_known && !sw->info.enabled))))
			return 0;
		return switch_off(program, sw, PROGRAM_SETTING);
	default:
		if (sw->standing != HD_AR_ABLE)
			return 0;
		if (program_notices_are_due(program, sw))
			return program_notices_begin(program, sw);
		return is_done(program, sw) ? 0 : begin_reading(program, sw);
	}
}

void program_switch_begin(struct hd_ar_program *program, struct program_switch *sw)
{
	sw->rc = 0;
	sw->succeeded = true; /* the errors of earlier operations end with their window */
	sw->silent_tries = 0;
	sw->attribute = sw->modifier = sw->status = 0;
	if (sw->standing == HD_AR_FOREIGN)
		sw->standing = HD_AR_UNASKED;
	if (hd_ar_config_foreign(&program->config, sw->guid)) {
		program_switch_forget(sw);
		sw->standing = HD_AR_FOREIGN;
		return;
	}
	fail_or_go_on(program, sw, begin_switch(program, sw));
}
