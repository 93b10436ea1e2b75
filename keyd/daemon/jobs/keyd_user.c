/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_user.h"

#include <stdlib.h>

struct keyd_user *keyd_user_of(struct keyd_users *users, uint32_t uid)
{
	struct keyd_user *user;

	LIST_FOREACH(user, users, link)
	{
		if (user->uid == uid)
			return user;
	}
	user = calloc(1, sizeof(*user));
	if (!user)
		return NULL;
	user->uid = uid;
	TAILQ_INIT(&user->recent);
	LIST_INSERT_HEAD(users, user, link);
	return user;
}

void keyd_user_free_all(struct keyd_users *users)
{
	while (!LIST_EMPTY(users)) {
		struct keyd_user *user = LIST_FIRST(users);

		LIST_REMOVE(user, link);
		free(user);
	}
}
