/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The calls of the API: which there are, and who may make them. The table in keyd_calls.c is the
 * one list of them.
 */
#ifndef KEYD_CALLS_H
#define KEYD_CALLS_H

#include "keyd.h"

struct evhttp_request;

/* Takes a request of the server. */
void keyd_calls_take(struct keyd *keyd, struct evhttp_request *request,
		     const struct keyd_peer *peer);

#endif
