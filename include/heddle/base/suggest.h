/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The name that somebody who mistyped a word probably meant: for messages such as
 * "unknown section [updwn]; did you mean [updown]?".
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

#define HD_SUGGEST_LONGEST 63

struct hd_suggestion {
	const char *word; /* what was typed */
	const char *nearest; /* one of the names that were offered, NULL = none is near */
	unsigned mistakes; /* between the two */
};

/* Before the first name. `word` must outlive the result. */
struct hd_suggestion hd_suggestion_for(const char *word);

/*
 * Takes `name` where it is nearer than all names before; of equally near names the first one
 * stays. `name` must outlive the suggestion. A mistake is a character that is missing, too many,
 * wrong, or swapped with its neighbour; upper and lower case are the same. A name is near when
 * there is at most one mistake for every three characters of the longer word, and at most two.
 * A name that begins with the word is near, too, where the word has three characters or more: it
 * counts as one mistake. Words and names of more than HD_SUGGEST_LONGEST characters are near to
 * nothing. Cost: O(length of word * length of name).
 */
void hd_suggestion_offer(struct hd_suggestion *suggestion, const char *name);

/* The nearest of `count` names, NULL where none is near. */
const char *hd_suggest(const char *word, const char *const *names, unsigned count);

#endif
