/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "traffic_frames.h"
#include "traffic_draw.h"

#include <errno.h>
#include <string.h>

static const char letters[] = "IPB";

int frames_check_group(const char *group, struct hd_error *err)
{
	size_t length = strlen(group);

	if (!length || length > FRAMES_GROUP_MAX || strspn(group, letters) != length ||
	    group[0] != 'I')
		return hd_error_set(err, -EINVAL,
				    "'%s' is no group of pictures such as IBBPBBPBBPBB", group);
	return 0;
}

int frames_model(struct frame_model *model, const char *group, const int64_t *weights,
		 const int64_t *deviations, uint32_t rate, struct hd_error *err)
{
	double sum = 0;
	int rc = frames_check_group(group, err);

	if (rc)
		return rc;
	*model = (struct frame_model){.length = (uint32_t)strlen(group), .rate = rate};
	for (uint32_t i = 0; i < model->length; i++) {
		model->type[i] = (uint8_t)(strchr(letters, group[i]) - letters);
		sum += (double)weights[model->type[i]];
	}
	for (uint32_t t = 0; t < FRAME_TYPES; t++) {
		model->weight[t] = (double)weights[t] * model->length / sum;
		model->deviation[t] = (double)deviations[t] / 100;
	}
	return 0;
}

uint32_t frames_size(const struct frame_model *model, uint64_t number, double mean,
		     uint64_t *random)
{
	uint8_t type = model->type[number % model->length];
	double size =
	    mean * model->weight[type] * draw_lognormal(random, model->deviation[type]) + 0.5;

	if (size < 1)
		return 1;
	return size < 1e9 ? (uint32_t)size : 1000000000u;
}

/* Frames may overtake each other on several paths, so the deadline of an earlier one is asked for
 * too. */
static uint64_t due_time(const struct frame_model *model, const struct frame_deadline *deadline,
			 uint64_t number)
{
	if (number >= deadline->number)
		return deadline->due + frames_time(model, number - deadline->number);
	uint64_t back = frames_time(model, deadline->number - number);
	return deadline->due > back ? deadline->due - back : 0;
}

uint64_t frames_arrive(const struct frame_model *model, struct frame_deadline *deadline,
		       uint64_t number, uint64_t arrival, uint64_t first)
{
	if (!deadline->begun)
		*deadline = (struct frame_deadline){true, number, first, number};
	uint64_t due = due_time(model, deadline, number);
	bool latest = number >= deadline->last;
	if (latest)
		deadline->last = number;
	if (arrival <= due)
		return 0;
	if (latest) {
		deadline->number = number;
		deadline->due = arrival;
	}
	return arrival - due;
}
