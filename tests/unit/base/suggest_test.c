/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Suggestions for mistyped words: a near name is found, a far one is not suggested. */
#include <heddle/base/suggest.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const sections[] = {"heddle", "dmodk", "updown", "spf", "multipath"};

static const char *nearest(const char *word)
{
	return hd_suggest(word, sections, COUNT(sections));
}

/* A name is found despite one wrong, missing, extra or swapped character, or other case. */
static void slips_are_found(void **state)
{
	static const char *const slips[][2] = {
	    {"updwn", "updown"},
	    {"updownn", "updown"},
	    {"upodwn", "updown"},
	    {"SPF", "spf"},
	    {"sfp", "spf"},
	    {"dmodc", "dmodk"},
	    {"mulitpath", "multipath"},
	    {"hedle", "heddle"},
	    {"multi", "multipath"},
	    {"Upd", "updown"},
	    {"multi-pathh", "multipath"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(slips); i++) {
		const char *found = nearest(slips[i][0]);

		assert_non_null(found);
		assert_string_equal(found, slips[i][1]);
	}
}

/* A word that resembles no name gets no suggestion: a wrong one would mislead. */
static void far_words_get_none(void **state)
{
	static const char *const far[] = {"",	   "x",	     "up",	  "ar",
					  "ftree", "minhop", "multicast", "abc"};
	char endless[5000];

	(void)state;
	for (size_t i = 0; i < COUNT(far); i++)
		assert_null(nearest(far[i]));
	memset(endless, 'x', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	assert_null(nearest(endless));
	assert_null(hd_suggest("spf", NULL, 0));
}

/* The nearest name is found anywhere in the list; the first of several equally near ones. */
static void the_nearest_is_taken(void **state)
{
	static const char *const names[] = {"passages", "passes", "basses"};
	static const char *const equal[] = {"cat", "car"};

	(void)state;
	assert_string_equal(hd_suggest("pases", names, COUNT(names)), "passes");
	assert_string_equal(hd_suggest("caz", equal, COUNT(equal)), "cat");
}

/* Counts the mistakes, slow and obvious: tries all possibilities from both ends. */
static unsigned slow_mistakes(const char *a, const char *b)
{
	unsigned best, other;

	if (!*a || !*b)
		return (unsigned)(strlen(a) + strlen(b));
	best = slow_mistakes(a + 1, b + 1) + (*a != *b);
	other = slow_mistakes(a + 1, b) + 1;
	best = other < best ? other : best;
	other = slow_mistakes(a, b + 1) + 1;
	best = other < best ? other : best;
	if (a[1] && b[1] && a[0] == b[1] && a[1] == b[0]) {
		other = slow_mistakes(a + 2, b + 2) + 1;
		best = other < best ? other : best;
	}
	return best;
}

static void draw_word(char *word, unsigned length)
{
	for (unsigned i = 0; i < length; i++)
		word[i] = (char)('a' + rand() % 3);
	word[length] = '\0';
}

/* Random words, compared with the slow count: near means at most two mistakes, and at most a third.
 */
static void random_words(void **state)
{
	unsigned near = 0, rounds = 3000;

	(void)state;
	srand(7);
	for (unsigned round = 0; round < rounds; round++) {
		char word[8], name[8];
		struct hd_suggestion suggestion = hd_suggestion_for(word);
		unsigned mistakes, longer;

		draw_word(word, (unsigned)rand() % 8);
		draw_word(name, (unsigned)rand() % 8);
		if (strlen(word) >= 3 && !strncmp(word, name, strlen(word)))
			continue; /* another rule is for beginnings of names */
		longer = (unsigned)(strlen(word) > strlen(name) ? strlen(word) : strlen(name));
		mistakes = slow_mistakes(word, name);
		hd_suggestion_offer(&suggestion, name);
		assert_int_equal(suggestion.nearest != NULL,
				 mistakes <= 2 && mistakes <= longer / 3);
		if (suggestion.nearest)
			assert_int_equal(suggestion.mistakes, mistakes);
		near += suggestion.nearest != NULL;
	}
	assert_in_range(near, 1, rounds / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(slips_are_found),
	    cmocka_unit_test(far_words_get_none),
	    cmocka_unit_test(the_nearest_is_taken),
	    cmocka_unit_test(random_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
