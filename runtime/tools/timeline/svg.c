/* SPDX-License-Identifier: MIT */
#include "timeline/svg.h"

#include <stdlib.h>
#include <string.h>

#define LEFT 190    /* of the columns, for names */
#define RIGHT 20
#define ROW 14      /* a row of slices */
#define TICKS 14    /* the height of a thread's instants */
#define VALUES 28   /* of a counter */
#define GAP 6       /* between lanes */
#define HEAD 62     /* title, axis */
#define NAME_CHARS 26
#define BAR_NAME 30 /* columns: what is narrower has no name in it */
#define CHAR_WIDTH 6.2f
#define LANES_MAX 64
#define LEGEND_COLUMNS 3
#define LEVELS 4 /* how busy a column is */
#define TICK_SPACE 110 /* columns between two labels of the axis, at least */

static const char style[] =
	"text{font:12px system-ui,sans-serif;fill:#222}.s{font-size:11px;fill:#666}.g{font-weight:600}.e{text-anchor:end}"
	".b{font-size:10px;fill:#fff;pointer-events:none}rect.p{fill:#fff}.a{stroke:#ddd;fill:none}.l{fill:#f4f5f7}.v{fill:#4269d0;fill-opacity:.35;stroke:#4269d0}"
	".c0{fill:#4269d0;stroke:#4269d0}.c1{fill:#b05a00;stroke:#b05a00}.c2{fill:#c2323c;stroke:#c2323c}.c3{fill:#1f7a72;stroke:#1f7a72}"
	".c4{fill:#2f7d3b;stroke:#2f7d3b}.c5{fill:#8a6100;stroke:#8a6100}.c6{fill:#8b3fa8;stroke:#8b3fa8}.c7{fill:#a33a70;stroke:#a33a70}"
	".r{stroke:#fff;stroke-width:.4}.d{stroke:#555;fill:none;stroke-width:1}"
	"@media(prefers-color-scheme:dark){text{fill:#ddd}.s{fill:#999}rect.p{fill:#16181d}.a{stroke:#333}.l{fill:#20242b}.d{stroke:#aaa}.r{stroke:#16181d}}";

void svg_text(struct tp_buffer *to, const char *text, size_t len)
{
	for (size_t i = 0, shown; i < len && text[i]; i += shown ? shown : 1) {
		shown = tp_printable_char(text + i, len - i);
		const char *name = text[i] == '<' ? "&lt;" : text[i] == '>' ? "&gt;" : text[i] == '&' ? "&amp;" : text[i] == '"' ? "&quot;" : NULL;
		if (name)
			tp_buffer_put(to, name, strlen(name));
		else if (shown)
			tp_buffer_put(to, text + i, shown);
		else if (text[i] == '\n')
			tp_buffer_put(to, "\n", 1);
		else
			tp_buffer_printf(to, "\\x%02x", (unsigned char)text[i]);
	}
}

static void put_title(struct tp_buffer *to, const char *title)
{
	tp_buffer_printf(to, "<title>");
	svg_text(to, title, strlen(title));
	tp_buffer_printf(to, "</title>");
}

/* Bytes of the first characters. */
static size_t cut(const char *text, size_t chars)
{
	size_t len = 0, taken;

	for (size_t i = 0; i < chars && text[len]; i++) {
		taken = tp_utf8_char(text + len);
		len += taken ? taken : 1;
	}
	return len;
}

static void put_cut(struct tp_buffer *to, const char *text, size_t chars)
{
	const size_t len = cut(text, chars);

	svg_text(to, text, text[len] ? cut(text, chars - 1) : len);
	if (text[len])
		tp_buffer_printf(to, "…");
}

/* ---- The axis ---- */

static void put_time(struct tp_buffer *to, double ns, double step)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}};
	size_t unit = 0;

	while (units[unit].ns > 1 && step < units[unit].ns * 0.9 && ns < units[unit].ns * 100)
		unit++;
	int digits = 0;
	for (double fraction = step / units[unit].ns; fraction < 0.999 && digits < 9; fraction *= 10)
		digits++;
	tp_buffer_printf(to, "+%.*f %s", digits, ns / units[unit].ns, units[unit].name);
}

/* 1, 2 or 5 times a power of ten, in ns: so that labels have room. */
static double step_of(double ns)
{
	static const double steps[] = {1, 2, 5, 10};
	const double least = ns * TICK_SPACE / LANE_COLUMNS;
	double power = 1;

	while (power * 10 <= least)
		power *= 10;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (steps[i] * power >= least)
			return steps[i] * power;
	}
	return 10 * power;
}

static void draw_axis(struct tp_buffer *to, const struct lanes *lanes, unsigned int height)
{
	const double ns = (double)(lanes->end - lanes->begin), step = step_of(ns);

	for (double at = 0; at <= ns; at += step) {
		const double x = LEFT + at * LANE_COLUMNS / ns;
		tp_buffer_printf(to, "<path class=\"a\" d=\"M%.1f %dV%u\"/>", x, HEAD - 10, height);
		if (x < LEFT + LANE_COLUMNS - TICK_SPACE / 2) {
			tp_buffer_printf(to, "<text class=\"s\" x=\"%.1f\" y=\"%d\">", x + 3, HEAD - 12);
			put_time(to, at, step);
			tp_buffer_printf(to, "</text>");
		}
		tp_buffer_printf(to, "\n");
	}
}

/* ---- Lanes ---- */

static unsigned int height_of(const struct lane *lane)
{
	return lane->kind == LANE_COUNTER ? VALUES : lane->kind == LANE_THREAD ? TICKS : (lane->nr_rows ? lane->nr_rows : 1) * ROW + (lane->ticks ? TICKS : 0);
}

static void draw_bar(struct tp_buffer *to, const struct bar *bar, unsigned int y)
{
	const float x = LEFT + bar->x;
	const char *title = bar->title ? bar->title : "";

	tp_buffer_printf(to, "<rect class=\"r c%u\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\">", bar->colour, (double)x, y + bar->row * ROW,
			 (double)bar->width, ROW - 1);
	put_title(to, title);
	tp_buffer_printf(to, "</rect>");
	if (bar->width >= BAR_NAME) {
		tp_buffer_printf(to, "<text class=\"b\" x=\"%.1f\" y=\"%u\">", (double)(x + 3), y + bar->row * ROW + ROW - 4);
		size_t line = strcspn(title, "\n");
		char *name = strndup(title, line);
		if (name)
			put_cut(to, name, (size_t)((bar->width - 6) / CHAR_WIDTH));
		else
			to->failed = true;
		free(name);
		tp_buffer_printf(to, "</text>");
	}
	tp_buffer_printf(to, "\n");
}

/* Columns of slices that are too short, as dark as they take of it. */
static void draw_busy(struct tp_buffer *to, const struct lane_row *row, unsigned int y)
{
	for (unsigned int level = 1; level <= LEVELS; level++) {
		bool is_begun = false;
		for (size_t i = 0; i < LANE_COLUMNS; i++) {
			const float part = row->busy[i];
			const unsigned int is = part <= 0 ? 0 : part >= 1 ? LEVELS : 1 + (unsigned int)(part * LEVELS);
			if (is != level)
				continue;
			if (!is_begun)
				tp_buffer_printf(to, "<path class=\"d\" opacity=\".%u\" d=\"", 2 * level + 1);
			is_begun = true;
			tp_buffer_printf(to, "M%zu.5 %uv%d", LEFT + i, y, ROW - 1);
		}
		if (is_begun)
			tp_buffer_printf(to, "\"/>\n");
	}
}

static void draw_slices(struct tp_buffer *to, const struct lanes *lanes, const struct lane *lane, unsigned int y)
{
	const uint32_t nr = (uint32_t)(lane - lanes->lanes);

	for (unsigned int row = 0; row < lane->nr_rows; row++) {
		if (lane->rows[row].busy)
			draw_busy(to, &lane->rows[row], y + row * ROW);
	}
	for (size_t i = 0; i < lanes->nr_bars; i++) {
		if (lanes->bars[i].lane == nr)
			draw_bar(to, &lanes->bars[i], y);
	}
}

/* The more events a column has, the higher it is. */
static void draw_ticks(struct tp_buffer *to, const struct lane *lane, unsigned int y)
{
	tp_buffer_printf(to, "<path class=\"d\" d=\"");
	for (size_t i = 0; i < LANE_COLUMNS; i++) {
		const uint32_t nr = lane->ticks[i];
		const unsigned int height = nr < 2 ? 5 : nr < 5 ? 7 : nr < 20 ? 9 : nr < 100 ? 11 : 13;
		if (nr)
			tp_buffer_printf(to, "M%zu.5 %uv-%u", LEFT + i, y + TICKS, height);
	}
	tp_buffer_printf(to, "\"/>\n");
	for (size_t i = 0; i < LANE_COLUMNS; i++) {
		if (!lane->titles[i])
			continue;
		tp_buffer_printf(to, "<rect x=\"%zu\" y=\"%u\" width=\"1\" height=\"%d\" opacity=\"0\"><title>", LEFT + i, y, TICKS);
		if (lane->ticks[i] > 1)
			tp_buffer_printf(to, "%u events, the first of which is\n", lane->ticks[i]);
		svg_text(to, lane->titles[i], strlen(lane->titles[i]));
		tp_buffer_printf(to, "</title></rect>\n");
	}
}

/* A value holds until the next one. In a column with several, the line goes from the least to the greatest. */
static void draw_values(struct tp_buffer *to, const struct lane *lane, unsigned int y)
{
	double min = 0, max = 0, last = 0;
	char go = 'M';

	for (size_t i = 0; i < LANE_COLUMNS; i++) {
		const struct lane_value *value = &lane->values[i];
		min = value->is_there && value->min < min ? value->min : min;
		max = value->is_there && value->max > max ? value->max : max;
	}
	const double scale = max > min ? (VALUES - 2) / (max - min) : 0, zero = y + VALUES + min * scale;
	tp_buffer_printf(to, "<path class=\"v\" d=\"");
	for (size_t i = 0; i < LANE_COLUMNS; i++) {
		const struct lane_value *value = &lane->values[i];
		if (!value->is_there)
			continue;
		tp_buffer_printf(to, go == 'M' ? "M%zu %.1f" : "H%zu", LEFT + i, zero);
		go = 'H';
		if (value->min < value->max)
			tp_buffer_printf(to, "V%.1fV%.1f", zero - value->min * scale, zero - value->max * scale);
		last = value->last;
		tp_buffer_printf(to, "V%.1f", zero - last * scale);
	}
	tp_buffer_printf(to, "H%uV%.1f\"><title>%g to %g, at the end %g</title></path>\n", LEFT + LANE_COLUMNS, zero, min, max, last);
}

static void draw_lane(struct tp_buffer *to, const struct lanes *lanes, const struct lane *lane, unsigned int y)
{
	const unsigned int height = height_of(lane);

	tp_buffer_printf(to, "<g><rect class=\"l\" x=\"%d\" y=\"%u\" width=\"%u\" height=\"%u\"/><text class=\"e\" x=\"%d\" y=\"%u\">", LEFT, y,
			 LANE_COLUMNS, height, LEFT - 8, y + 11);
	put_cut(to, lane->name ? lane->name : "", NAME_CHARS);
	put_title(to, lane->name ? lane->name : "");
	tp_buffer_printf(to, "</text>\n");
	if (lane->values)
		draw_values(to, lane, y);
	if (lane->kind == LANE_SLICES)
		draw_slices(to, lanes, lane, y);
	if (lane->ticks)
		draw_ticks(to, lane, y + height - TICKS);
	tp_buffer_printf(to, "</g>\n");
}

/* ---- All of it ---- */

static int by_events(const void *a, const void *b)
{
	const struct lane *one = *(const struct lane *const *)a, *other = *(const struct lane *const *)b;

	return one->nr < other->nr ? 1 : one->nr > other->nr ? -1 : one < other ? -1 : one > other;
}

static int by_place(const void *a, const void *b)
{
	const struct lane *one = *(const struct lane *const *)a, *other = *(const struct lane *const *)b;

	return one->group < other->group ? -1 : one->group > other->group ? 1 : one < other ? -1 : one > other;
}

static unsigned int draw_lanes(struct tp_buffer *to, const struct svg_picture *picture, const struct lane *const *order, size_t nr)
{
	uint64_t group = 0;
	unsigned int y = HEAD;

	for (size_t i = 0; i < nr; i++) {
		const struct lane *lane = order[i];
		if (lane->group != group && lane->group <= picture->nr_groups && lane->group) {
			tp_buffer_printf(to, "<text class=\"g\" x=\"8\" y=\"%u\">", y + 11);
			svg_text(to, picture->groups[lane->group - 1].name, strlen(picture->groups[lane->group - 1].name));
			tp_buffer_printf(to, "</text>\n");
			y += 18;
		}
		group = lane->group;
		draw_lane(to, picture->lanes, lane, y);
		y += height_of(lane) + GAP;
	}
	return y;
}

static void draw_entry(struct tp_buffer *to, const struct legend_entry *entry, unsigned int x, unsigned int y)
{
	if (entry->is_slice)
		tp_buffer_printf(to, "<rect class=\"c%u\" x=\"%u\" y=\"%u\" width=\"9\" height=\"9\"/>", entry->colour, x, y);
	else
		tp_buffer_printf(to, "<path class=\"d\" d=\"M%u.5 %uv7\"/>", x + 4, y + 1);
	tp_buffer_printf(to, "<text class=\"s\" x=\"%u\" y=\"%u\">", x + 14, y + 9);
	svg_text(to, entry->name, strlen(entry->name));
	tp_buffer_printf(to, ": %llu</text>\n", (unsigned long long)entry->nr);
}

static unsigned int draw_legend(struct tp_buffer *to, const struct legend *legend, unsigned int y)
{
	for (size_t i = 0; i < legend->nr; i++)
		draw_entry(to, &legend->entries[i], LEFT + (unsigned int)(i % LEGEND_COLUMNS) * (LANE_COLUMNS / LEGEND_COLUMNS),
			   y + (unsigned int)(i / LEGEND_COLUMNS) * 18);
	y += (unsigned int)((legend->nr + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS) * 18;
	if (!legend->others.nr)
		return y;
	tp_buffer_printf(to, "<text class=\"s\" x=\"%d\" y=\"%u\">and of other names: %llu</text>\n", LEFT + 14, y + 9, (unsigned long long)legend->others.nr);
	return y + 18;
}

static void draw(struct tp_buffer *to, const struct svg_picture *picture, const struct lane *const *order, size_t nr, size_t left_out)
{
	struct tp_buffer inside = {.text = NULL};
	unsigned int y = draw_lanes(&inside, picture, order, nr);
	const unsigned int bottom = y;

	if (left_out) {
		tp_buffer_printf(&inside, "<text class=\"s\" x=\"%d\" y=\"%u\">and %zu lanes with fewer events</text>\n", LEFT, y + 11, left_out);
		y += 18;
	}
	y = draw_legend(&inside, picture->legend, y + 8) + 8;
	tp_buffer_printf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" role=\"img\" aria-labelledby=\"title\">\n<title id=\"title\">",
			 LEFT + LANE_COLUMNS + RIGHT, y);
	svg_text(to, picture->title, strlen(picture->title));
	tp_buffer_printf(to, "</title>\n<style>%s</style>\n<rect class=\"p\" width=\"%u\" height=\"%u\" rx=\"8\"/>\n<text x=\"8\" y=\"22\">", style,
			 LEFT + LANE_COLUMNS + RIGHT, y);
	svg_text(to, picture->title, strlen(picture->title));
	tp_buffer_printf(to, "</text>\n");
	draw_axis(to, picture->lanes, bottom);
	if (inside.text)
		tp_buffer_put(to, inside.text, inside.len);
	tp_buffer_printf(to, "</svg>\n");
	to->failed = to->failed || inside.failed;
	tp_buffer_free(&inside);
}

void svg_draw(struct tp_buffer *to, const struct svg_picture *picture)
{
	const struct lanes *lanes = picture->lanes;
	const struct lane **order = calloc(lanes->nr + 1, sizeof(struct lane *));
	const size_t nr = lanes->nr < LANES_MAX ? lanes->nr : LANES_MAX;

	if (!order) {
		to->failed = true;
		return;
	}
	for (size_t i = 0; i < lanes->nr; i++)
		order[i] = &lanes->lanes[i];
	if (lanes->nr > LANES_MAX)
		qsort(order, lanes->nr, sizeof(struct lane *), by_events);
	qsort(order, nr, sizeof(struct lane *), by_place);
	draw(to, picture, order, nr, lanes->nr - nr);
	free(order);
}
