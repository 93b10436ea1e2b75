/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <heddle/base/suggest.h>

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define MISTAKES_MAX 2
#define PREFIX_SHORTEST 3

struct hd_suggestion hd_suggestion_for(const char *word)
{
	return (struct hd_suggestion){.word = word};
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* One row of the table of distances between the beginnings of both words. */
static void fill_row(const char *word, const char *name, unsigned row, unsigned columns,
		     unsigned table[][HD_SUGGEST_LONGEST + 1])
{
	table[row][0] = row;
	for (unsigned column = 1; column <= columns; column++) {
		bool equal = same(word[row - 1], name[column - 1]);
		unsigned best = table[row - 1][column - 1] + !equal;

		best = smaller(best, table[row - 1][column] + 1);
		best = smaller(best, table[row][column - 1] + 1);
		if (row > 1 && column > 1 && same(word[row - 1], name[column - 2]) &&
		    same(word[row - 2], name[column - 1]))
			best = smaller(best, table[row - 2][column - 2] + 1);
		table[row][column] = best;
	}
}

/* Optimal string alignment: edits and swaps of neighbours, no place edited twice. */
static unsigned count_mistakes(const char *word, unsigned rows, const char *name, unsigned columns)
{
	unsigned table[HD_SUGGEST_LONGEST + 1][HD_SUGGEST_LONGEST + 1];

	for (unsigned column = 0; column <= columns; column++)
		table[0][column] = column;
	for (unsigned row = 1; row <= rows; row++)
		fill_row(word, name, row, columns, table);
	return table[rows][columns];
}

void hd_suggestion_offer(struct hd_suggestion *suggestion, const char *name)
{
	size_t word_length = strlen(suggestion->word), name_length = strlen(name);
	size_t longer = word_length > name_length ? word_length : name_length;
	bool begins =
	    word_length >= PREFIX_SHORTEST && !strncasecmp(suggestion->word, name, word_length);
	unsigned mistakes;

	if (longer > HD_SUGGEST_LONGEST)
		return;
	mistakes =
	    count_mistakes(suggestion->word, (unsigned)word_length, name, (unsigned)name_length);
	if (begins)
		mistakes = smaller(mistakes, 1);
	else if (mistakes > smaller(MISTAKES_MAX, (unsigned)longer / 3))
		return;
	if (suggestion->nearest && mistakes >= suggestion->mistakes)
		return;
	suggestion->nearest = name;
	suggestion->mistakes = mistakes;
}

const char *hd_suggest(const char *word, const char *const *names, unsigned count)
{
	struct hd_suggestion suggestion = hd_suggestion_for(word);

	for (unsigned i = 0; i < count; i++)
		hd_suggestion_offer(&suggestion, names[i]);
	return suggestion.nearest;
}
