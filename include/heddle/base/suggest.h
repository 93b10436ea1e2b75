/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the name that a mistyped word probably means, for messages such as "unknown section
 * [updwn]; did you mean [updown]?".
 *
 * Names in an array of strings:
 *
 *	const char *nearest = hd_suggest(word, names, count);
 *
 * Names in any other table are offered one by one:
 *
 *	struct hd_suggestion suggestion = hd_suggestion_for(word);
 *
 *	for (unsigned i = 0; i < count; i++)
 *		hd_suggestion_offer(&suggestion, commands[i]->name);
 *	if (suggestion.nearest)
 *		...
 */
#ifndef HEDDLE_BASE_SUGGEST_H
#define HEDDLE_BASE_SUGGEST_H

#ifdef __cplusplus
extern "C" {
#endif

#define HD_SUGGEST_LONGEST 63

struct hd_suggestion {
	const char *word; /* what was typed */
	const char *nearest; /* one of the offered names; NULL = no name is near */
	unsigned mistakes; /* between the two */
};

/* Begins a search, before the first name. `word` must outlive the result. */
struct hd_suggestion hd_suggestion_for(const char *word);

/*
 * Takes `name` if it is nearer than all names before; of equally near names the first one stays.
 * `name` must outlive the suggestion. A mistake is a character that is missing, too many, wrong, or
 * swapped with its neighbour. Upper and lower case are the same. A name is near if there is at most
 * one mistake for every three characters of the longer word, and at most two in all. If the word
 * has three characters or more, a name that begins with it is near too and counts as one mistake.
 * Words and names of more than HD_SUGGEST_LONGEST characters are never near. Cost: O(length of word
 * * length of name).
 */
void hd_suggestion_offer(struct hd_suggestion *suggestion, const char *name);

/* The nearest of `count` names; NULL if no name is near. */
const char *hd_suggest(const char *word, const char *const *names, unsigned count);

#ifdef __cplusplus
}
#endif

#endif
