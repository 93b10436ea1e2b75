/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sizes of the frames of an MPEG-2 stream, and the deadlines of its receivers.
 *
 * The types follow a fixed group of pictures. The mean sizes of I, P and B frames have fixed ratios:
 * those with which the rate control of MPEG-2's Test Model 5 begins are 160 : 60 : 42 / 1.4. Around
 * its mean the size of each type is log-normal and independent of the others (M. Krunz, R. Sass,
 * H. Hughes, "Statistical characteristics and multiplexing of MPEG streams", INFOCOM 1995).
 */
#ifndef TRAFFIC_FRAMES_H
#define TRAFFIC_FRAMES_H

#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdint.h>

#define FRAMES_GROUP_MAX 64u

enum frame_type { FRAME_I, FRAME_P, FRAME_B, FRAME_TYPES };

struct frame_model {
	uint32_t length; /* of a group of pictures */
	uint8_t type[FRAMES_GROUP_MAX]; /* enum frame_type */
	double weight[FRAME_TYPES]; /* mean size over the mean size of all frames */
	double deviation[FRAME_TYPES]; /* standard deviation over mean */
	uint32_t rate; /* frames per second */
};

/* Reads "IBBPBBPBBPBB"; weights and deviations (percent) of I, P, B. Errors: -EINVAL. */
int frames_model(struct frame_model *model, const char *group, const int64_t *weights,
		 const int64_t *deviations, uint32_t rate, struct hd_error *err);
int frames_check_group(const char *group, struct hd_error *err);

/* The size of frame `number` of a stream whose frames have `mean` bytes; at least 1. */
uint32_t frames_size(const struct frame_model *model, uint64_t number, double mean,
		     uint64_t *random);

/* The time of `count` frames, ps. */
static inline uint64_t frames_time(const struct frame_model *model, uint64_t count)
{
	return count * UINT64_C(1000000000000) / model->rate;
}

/*
 * The deadline of a frame is that of the frame before plus the time of a frame; after a frame that
 * came too late, its arrival plus that time (section 4 of the paper in doc/papers/irregular.md). Frames that never come keep
 * their place.
 */
struct frame_deadline {
	bool begun;
	uint64_t number, due; /* a frame and its deadline, ps */
	uint64_t last; /* the latest frame that has come */
};

/* A frame has come. Returns by how much it is too late, ps; 0: in time. The first frame begins: its
 * deadline is `first`. */
uint64_t frames_arrive(const struct frame_model *model, struct frame_deadline *deadline,
		       uint64_t number, uint64_t arrival, uint64_t first);

#endif
