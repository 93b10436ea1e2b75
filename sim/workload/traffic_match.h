/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages that have come and receives that wait, by sender, receiver and tag. */
#ifndef TRAFFIC_MATCH_H
#define TRAFFIC_MATCH_H

#include <heddle/base/arena.h>
#include <stdint.h>

/* What receives do while they wait. Of one key, receives that block were posted last. */
enum match_mode { MATCH_BACKGROUND, MATCH_FOREGROUND, MATCH_NONE };

struct match;

/* For about `size` keys at a time. NULL: no memory; also when it must grow later. */
struct match *match_new(struct hd_arena *arena, uint32_t size);

/* A message has come. *mode: of the receive that takes it, or MATCH_NONE: it waits. Errors: -ENOMEM. */
int match_arrive(struct match *match, uint64_t key, enum match_mode *mode);

/* A receive. *waits: no message was there. Errors: -ENOMEM. */
int match_post(struct match *match, uint64_t key, enum match_mode mode, _Bool *waits);

#endif
