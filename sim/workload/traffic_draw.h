/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What traffic draws: random variables, sizes of messages, and frames of video streams. */
#ifndef TRAFFIC_DRAW_H
#define TRAFFIC_DRAW_H

#include <heddle/base/arena.h>
#include <heddle/base/error.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- random variables ---- */

/*
 * Random variables, the same on every machine: only additions, multiplications, divisions and square
 * roots of IEEE numbers, since the logarithms of C libraries differ in their last bits.
 */

double draw_logarithm(double value); /* natural, value > 0 */
double draw_power(double exponent); /* e^exponent, |exponent| < 700 */

/* 0 < value < 1, 53 bits. */
double draw_uniform(uint64_t *random);

/* Mean 1. */
double draw_exponential(uint64_t *random);

/* Mean 0, variance 1 (G. Marsaglia's polar method). */
double draw_normal(uint64_t *random);

/* Log-normal with mean 1; `deviation` is the standard deviation over the mean. */
double draw_lognormal(uint64_t *random, double deviation);

/* A random order of values[count] (Fisher and Yates). */
void draw_order(uint64_t *random, uint32_t *values, uint32_t count);

/* ---- sizes of messages ---- */

/* Sizes of messages: one, several with the same chance each, or all of a range. */

#define SIZES_MAX 64u

struct traffic_sizes {
	uint32_t count; /* of the list; 0: a range */
	uint32_t list[SIZES_MAX];
	uint32_t least, most;
};

/* "2 kB", "4 KiB, 32 KiB", "84 .. 2 kB". Errors: -EINVAL, -ERANGE. */
int draw_sizes_parse(const char *text, struct traffic_sizes *sizes, struct hd_error *err);
int draw_sizes_check(const char *text, struct hd_error *err);

uint32_t draw_sizes_next(const struct traffic_sizes *sizes, uint64_t *random);

/* The mean of the payload and of the bytes on a cable is *payload / *count and *wire / *count. */
void draw_sizes_total(const struct traffic_sizes *sizes, uint32_t mtu, uint32_t header,
		      uint64_t *payload, uint64_t *wire, uint64_t *count);

/* Bytes on a cable of a message. */
static inline uint64_t sizes_wire(uint64_t bytes, uint32_t mtu, uint32_t header)
{
	return bytes + (bytes + mtu - 1) / mtu * header;
}

/* ---- frames ---- */

/*
 * Sizes of the frames of an MPEG-2 stream, and the deadlines of its receivers.
 *
 * The types follow a fixed group of pictures. The mean sizes of I, P and B frames have fixed ratios:
 * those with which the rate control of MPEG-2's Test Model 5 begins are 160 : 60 : 42 / 1.4. Around
 * its mean the size of each type is log-normal and independent of the others (M. Krunz, R. Sass,
 * H. Hughes, "Statistical characteristics and multiplexing of MPEG streams", INFOCOM 1995).
 */

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
int draw_frames_model(struct frame_model *model, const char *group, const int64_t *weights,
		      const int64_t *deviations, uint32_t rate, struct hd_error *err);
int draw_frames_check_group(const char *group, struct hd_error *err);

/* The size of frame `number` of a stream whose frames have `mean` bytes; at least 1. */
uint32_t draw_frames_size(const struct frame_model *model, uint64_t number, double mean,
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
uint64_t draw_frames_arrive(const struct frame_model *model, struct frame_deadline *deadline,
			    uint64_t number, uint64_t arrival, uint64_t first);

#endif
