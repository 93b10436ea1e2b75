/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Slim Fly: the graphs of McKay, Miller and Siran of diameter 2. For a prime power q = 4 w + d, d
 * one of -1, 0 and 1, there are 2 q^2 switches with (3 q - d) / 2 links each.
 *
 * Half of the switches are (0, x, y), half are (1, m, c), with numbers of the field of q elements.
 * (0, x, y) and (0, x, z) are neighbours if y - z is in a set X, (1, m, c) and (1, m, e) if c - e is
 * in a set X', and (0, x, y) and (1, m, c) if y = m x + c. The sets consist of powers of a primitive
 * element. The first ports of a switch are for hosts. The next ones lead to switches of its own
 * half, in the order of the set, the last q ones to the other half, in the order of m or x.
 *
 * Sources: Besta, Hoefler, "Slim Fly: a cost effective low-diameter network topology", 2014;
 * Hafner, "Geometric realisation of the graphs of McKay-Miller-Siran", 2004.
 */
#include "generate_internal.h"

#include <errno.h>
#include <stdlib.h>

/* The field of q = p^n elements. Digit i of a number, base p, is the coefficient of t^i. */
struct field {
	uint32_t q, p, n;
	uint32_t power[HD_PORTS_MAX]; /* [q - 1] powers of a primitive element */
	uint32_t log[HD_PORTS_MAX + 1]; /* [q] the other way round, of numbers above 0 */
};

struct slim_fly {
	struct field field;
	uint32_t hosts, set_size;
	uint32_t set[2][HD_PORTS_MAX]; /* [set_size] X and X' */
};

static const struct hd_option slim_fly_options[] = {
    {.name = "q",
     .summary = "prime power 4w - 1, 4w or 4w + 1, such as 5, 7, 9, 11, 13: 2 q^2 switches",
     .type = HD_OPTION_INT,
     .minimum = 3,
     .maximum = HD_PORTS_MAX},
    {.name = "hosts",
     .summary = "hosts on every switch; -1: half as many as links, rounded up",
     .type = HD_OPTION_INT,
     .fallback = "-1",
     .minimum = -1,
     .maximum = HD_PORTS_MAX},
};

/* ---- the field ---- */

/* q = p^n with a prime p? */
static bool take_order(struct field *field, uint32_t q)
{
	uint32_t rest = q;

	*field = (struct field){.q = q, .p = 2};
	while (field->p < q && q % field->p)
		field->p++;
	for (; rest % field->p == 0; rest /= field->p)
		field->n++;
	return rest == 1;
}

/* a + factor * b, digit by digit; factor < p. */
static uint32_t add_times(const struct field *field, uint32_t a, uint32_t factor, uint32_t b)
{
	uint32_t sum = 0;

	for (uint32_t place = 1; place < field->q; place *= field->p) {
		uint32_t digit = a / place + factor * (b / place % field->p);
		sum += digit % field->p * place;
	}
	return sum;
}

static uint32_t add(const struct field *field, uint32_t a, uint32_t b)
{
	return add_times(field, a, 1, b);
}

static uint32_t multiply(const struct field *field, uint32_t a, uint32_t b)
{
	return a && b ? field->power[(field->log[a] + field->log[b]) % (field->q - 1)] : 0;
}

/* t times a number, where t^n is the number `reduced`. */
static uint32_t times_t(const struct field *field, uint32_t number, uint32_t reduced)
{
	uint32_t top = field->q / field->p, digit = number / top;

	return add_times(field, (number - digit * top) * field->p, digit, reduced);
}

/* Lists the powers of t until one comes again. All numbers but 0 are there: t is primitive. */
static bool list_powers(struct field *field, uint32_t reduced)
{
	uint32_t number = 1, count = 0;

	do {
		field->power[count] = number;
		field->log[number] = count++;
		number = times_t(field, number, reduced);
	} while (number > 1 && count < field->q - 1);
	return number == 1 && count == field->q - 1;
}

/* Some t^n makes t primitive: a primitive polynomial of degree n exists for every p and n. */
static void make_field(struct field *field)
{
	uint32_t reduced = 1;

	while (!list_powers(field, reduced))
		reduced++;
}

/* ---- the graph ---- */

/*
 * With e = (q - 1) / 2 and a primitive element t: for d = 1 the set X has the even powers of t and
 * X' the odd ones. For d = 0 both end with q / 2 powers. For d = -1 the first w powers are even in X
 * and odd in X', and their negatives, the powers e further, join them.
 */
static void make_sets(struct slim_fly *shape)
{
	uint32_t q = shape->field.q, w = (q + 1) / 4;

	shape->set_size = q % 4 == 3 ? 2 * w : q / 2;
	for (uint32_t half = 0; half < 2; half++)
		for (uint32_t i = 0; i < shape->set_size; i++) {
			bool negative = q % 4 == 3 && i >= w;
			uint32_t power = negative ? 2 * (i - w) + half + (q - 1) / 2 : 2 * i + half;
			shape->set[half][i] = shape->field.power[power % (q - 1)];
		}
}

/* Place in the set of the number that leads back from set[half][place]. */
static uint32_t way_back(const struct slim_fly *shape, uint32_t half, uint32_t place)
{
	uint32_t back = 0;

	while (add(&shape->field, shape->set[half][place], shape->set[half][back]))
		back++;
	return back;
}

static uint32_t switch_of(const struct slim_fly *shape, uint32_t half, uint32_t line,
			  uint32_t member)
{
	return (half * shape->field.q + line) * shape->field.q + member;
}

static void add_switches(struct generation *generation, const struct slim_fly *shape,
			 uint32_t radix)
{
	uint32_t q = shape->field.q;

	for (uint32_t sw = 0; sw < 2 * q * q; sw++)
		generate_switch(generation, radix, "S_%u_%u_%u", sw / q / q, sw / q % q, sw % q);
	for (uint32_t sw = 0; sw < 2 * q * q; sw++)
		for (uint32_t host = 0; host < shape->hosts; host++)
			generate_link(generation, sw, host + 1,
				      generate_host(generation, "H_%u_%u_%u_%u", sw / q / q,
						    sw / q % q, sw % q, host),
				      1);
}

/* Cables the switches of a line, which are q of one half. */
static void link_line(struct generation *generation, const struct slim_fly *shape, uint32_t half,
		      uint32_t line)
{
	for (uint32_t place = 0; place < shape->set_size; place++) {
		uint32_t back = way_back(shape, half, place);
		for (uint32_t member = 0; member < shape->field.q; member++) {
			uint32_t far = add(&shape->field, member, shape->set[half][place]);
			if (member < far)
				generate_link(generation, switch_of(shape, half, line, member),
					      shape->hosts + place + 1,
					      switch_of(shape, half, line, far),
					      shape->hosts + back + 1);
		}
	}
}

/* Cables line x of the first half to line m of the second. */
static void link_lines(struct generation *generation, const struct slim_fly *shape, uint32_t x,
		       uint32_t m)
{
	uint32_t port = shape->hosts + shape->set_size + 1;

	for (uint32_t c = 0; c < shape->field.q; c++) {
		uint32_t y = add(&shape->field, multiply(&shape->field, m, x), c);
		generate_link(generation, switch_of(shape, 0, x, y), port + m,
			      switch_of(shape, 1, m, c), port + x);
	}
}

static int generate_graph(const struct slim_fly *shape, struct hd_fabric **out,
			  struct hd_error *err)
{
	struct generation generation;
	uint32_t q = shape->field.q, radix = shape->hosts + shape->set_size + q;
	uint64_t switches = 2u * (uint64_t)q * q;
	struct generate_size size = {
	    .switches = switches, .hosts = switches * shape->hosts, .radix = radix};
	int rc = generate_begin(&generation, &size, err);

	if (rc)
		return rc;
	add_switches(&generation, shape, radix);
	for (uint32_t line = 0; line < q; line++) {
		link_line(&generation, shape, 0, line);
		link_line(&generation, shape, 1, line);
		for (uint32_t m = 0; m < q; m++)
			link_lines(&generation, shape, line, m);
	}
	return generate_end(&generation, out);
}

static int slim_fly(const struct hd_options *options, struct hd_fabric **out, struct hd_error *err)
{
	struct slim_fly shape;
	int rc = hd_options_complete(options, err);

	if (rc)
		return rc;
	uint32_t q = generate_number(options, "q");
	int64_t hosts = hd_options_get(options, "hosts")->number;
	if (!take_order(&shape.field, q))
		return hd_error_set(err, -EINVAL,
				    "option 'q': %u is no power of a prime, as 7, 8 and 9 are", q);
	make_field(&shape.field);
	make_sets(&shape);
	uint32_t links = shape.set_size + q;
	shape.hosts = hosts < 0 ? (links + 1) / 2 : (uint32_t)hosts;
	return generate_graph(&shape, out, err);
}

const struct hd_generator generate_slim_fly = {
    .name = "slim-fly",
    .summary = "Slim Fly: a McKay-Miller-Siran graph, all switches two hops apart at most",
    .options = slim_fly_options,
    .option_count = GENERATE_OPTION_COUNT(slim_fly_options),
    .generate = slim_fly,
};
