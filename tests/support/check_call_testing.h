/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A call that must not fail. Include after <cmocka.h>. */
#ifndef CHECK_CALL_TESTING_H
#define CHECK_CALL_TESTING_H

#include <heddle/base/error.h>

/* The call may write its reason to `err`. */
#define CHECK(call)                                                                                \
	do {                                                                                       \
		struct hd_error err = {""};                                                        \
		if (call)                                                                          \
			fail_msg("%s: %s", #call, err.text);                                       \
	} while (0)

#endif
