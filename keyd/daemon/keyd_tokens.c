/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "keyd_tokens.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static int tokens_compare(const void *one, const void *other)
{
	return strcmp(((const struct keyd_token *)one)->text,
		      ((const struct keyd_token *)other)->text);
}

static int tokens_draw(char *text)
{
	unsigned char bytes[KEYD_TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

int keyd_tokens_add(struct keyd_tokens *tokens, const char *job, uint32_t uid, time_t now,
		    uint32_t seconds, const struct keyd_token **out)
{
	struct keyd_token *token;

	LIST_FOREACH(token, &tokens->list, link)
	{
		if (token->uid == uid && !strcmp(token->job, job) &&
		    token->expires - now > (time_t)(seconds / 2)) {
			*out = token;
			return 0;
		}
	}
	if (tokens->count >= KEYD_TOKENS_MAX)
		keyd_tokens_forget(tokens, NULL, now);
	if (tokens->count >= KEYD_TOKENS_MAX)
		return -ENOSPC;
	token = calloc(1, sizeof(*token));
	if (!token)
		return -ENOMEM;
	snprintf(token->job, sizeof(token->job), "%s", job);
	token->uid = uid;
	token->expires = now + (time_t)seconds;
	if (tokens_draw(token->text)) {
		free(token);
		return -EIO;
	}
	if (!tsearch(token, &tokens->by_text, tokens_compare)) {
		free(token);
		return -ENOMEM;
	}
	LIST_INSERT_HEAD(&tokens->list, token, link);
	tokens->count++;
	*out = token;
	return 0;
}

const struct keyd_token *keyd_tokens_find(const struct keyd_tokens *tokens, const char *text,
					  time_t now)
{
	struct keyd_token wanted;
	void *const *found;

	if (strlen(text) != KEYD_TOKEN_TEXT - 1)
		return NULL;
	memcpy(wanted.text, text, KEYD_TOKEN_TEXT);
	found = tfind(&wanted, &tokens->by_text, tokens_compare);
	return found && ((const struct keyd_token *)*found)->expires > now ? *found : NULL;
}

void keyd_tokens_forget(struct keyd_tokens *tokens, const char *job, time_t now)
{
	struct keyd_token *token, *next;

	for (token = LIST_FIRST(&tokens->list); token; token = next) {
		next = LIST_NEXT(token, link);
		if (job ? strcmp(token->job, job) != 0 : token->expires > now)
			continue;
		LIST_REMOVE(token, link);
		tdelete(token, &tokens->by_text, tokens_compare);
		free(token);
		tokens->count--;
	}
}

void keyd_tokens_release(struct keyd_tokens *tokens)
{
	tdestroy(tokens->by_text, free);
	*tokens = (struct keyd_tokens){0};
}
