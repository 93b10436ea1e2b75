/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gnuplot draws on its standard output, which is the file: no name of ours is ever part of a
 * script.
 */
#include "plot.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BARS_MOST 40u
#define NO_PROGRAM 127

static bool ends_in(const char *path, const char *ending)
{
	size_t length = strlen(path), end = strlen(ending);
	return length > end && !strcmp(path + length - end, ending);
}

bool cli_plot_name(const char *path)
{
	return ends_in(path, ".svg") || ends_in(path, ".png");
}

/* Bins with patterns: first and one past the last. */
static void used_bins(const struct hd_congestion_report *report, uint32_t *first, uint32_t *end)
{
	*first = HD_PATTERN_BINS + 1;
	*end = 0;
	for (uint32_t i = 0; i <= HD_PATTERN_BINS; i++) {
		if (!report->bins[i])
			continue;
		*first = i < *first ? i : *first;
		*end = i + 1;
	}
}

static void write_bars(FILE *script, const struct hd_congestion_report *report)
{
	uint32_t first, end;
	used_bins(report, &first, &end);
	uint32_t width = (end - first + BARS_MOST - 1) / BARS_MOST;
	fprintf(script, "set boxwidth %g\n$bars << EOD\n", (double)width / HD_PATTERN_BINS);
	for (uint32_t i = first; i < end; i += width) {
		uint64_t patterns = 0;
		for (uint32_t bin = i; bin < i + width && bin <= HD_PATTERN_BINS; bin++)
			patterns += report->bins[bin];
		fprintf(script, "%g %g\n", (i + width / 2.0) / HD_PATTERN_BINS,
			(double)patterns / (double)report->patterns);
	}
	fprintf(script, "EOD\n");
}

/* Quotes in gnuplot's single-quoted strings are doubled. */
static void write_title(FILE *script, const char *title)
{
	fputs("set title '", script);
	for (; *title; title++) {
		if (*title == '\'')
			fputc('\'', script);
		fputc((unsigned char)*title < ' ' ? ' ' : *title, script);
	}
	fputs("' noenhanced\n", script);
}

static void write_script(FILE *script, bool svg, const char *title, const char *share,
			 const struct hd_congestion_report *report)
{
	fprintf(script, "set terminal %s size 800,480\n",
		svg ? "svg background rgb 'white'" : "pngcairo");
	write_title(script, title);
	fprintf(script,
		"set xlabel 'effective bandwidth of a pattern (mean of %s)'\n"
		"set ylabel 'share of patterns'\n"
		"set style fill solid 0.7 noborder\nset yrange [0:*]\nset grid ytics\n",
		share);
	write_bars(script, report);
	fprintf(script,
		"set arrow from first %.6f, graph 0 to first %.6f, graph 1 nohead front lw 2\n",
		report->mean, report->mean);
	fprintf(script,
		"plot $bars with boxes notitle, NaN with lines lw 2 lc rgb 'black' "
		"title sprintf('mean %%.4f', %.6f)\n",
		report->mean);
}

static void become_gnuplot(int input, int output)
{
	char *const arguments[] = {"gnuplot", "-", NULL};
	if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0)
		execvp(arguments[0], arguments);
	_exit(NO_PROGRAM);
}

static int wait_for(pid_t child, struct hd_error *err)
{
	int status;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return hd_error_set(err, -errno, "gnuplot: %s", strerror(errno));
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
		return hd_error_set(err, -ENOENT, "cannot plot: there is no gnuplot");
	return hd_error_set(err, -EIO, "gnuplot failed");
}

/* Starts gnuplot with a pipe to its input and `output` as what it draws on. */
static int start(int output, FILE **script, pid_t *child, struct hd_error *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return hd_error_set(err, -errno, "pipe: %s", strerror(errno));
	*child = fork();
	if (!*child)
		become_gnuplot(ends[0], output);
	close(ends[0]);
	*script = *child > 0 ? fdopen(ends[1], "w") : NULL;
	if (*script)
		return 0;
	close(ends[1]);
	return *child > 0 ? hd_error_no_memory(err)
			  : hd_error_set(err, -errno, "fork: %s", strerror(errno));
}

int cli_plot_histogram(const char *path, const char *title, const char *share,
		       const struct hd_congestion_report *report, struct hd_error *err)
{
	struct cli_output output;
	FILE *script = NULL;
	pid_t child = 0;
	int code = cli_output_open(&output, path, err);
	if (code)
		return code;
	/* When gnuplot is gone, its exit status says so; the pipe's signal would say nothing. */
	void (*kept)(int) = signal(SIGPIPE, SIG_IGN);
	code = start(fileno(output.stream), &script, &child, err);
	if (!code) {
		write_script(script, ends_in(path, ".svg"), title, share, report);
		fclose(script);
		code = wait_for(child, err);
	}
	signal(SIGPIPE, kept);
	/* The reason why there is no picture is told above, not that it was not written. */
	return cli_output_close(&output, code, code ? NULL : err);
}
