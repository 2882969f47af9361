/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/describe/environment.c - what a CTF trace says of its origin: the process, the program,
 * the machine. What can't be found out is left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tp/tracepoint.h>

#include "base/message.h"
#include "base/text.h"
#include "sinks/ctf/describe/metadata.h"

/* Bytes of the command that are shown. */
#define COMMAND_MAX 4096

static void put_text(struct tp_buffer *b, const char *name, const char *text)
{
	tp_buffer_printf(b, "\t%s = ", name);
	tp_ctf_put_string(b, text);
	tp_buffer_printf(b, ";\n");
}

/* ---- The program ---- */

static void put_program(struct tp_buffer *b)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len < 0)
		return;
	path[len] = '\0';
	put_text(b, "program", path);
}

static void put_hex(struct tp_buffer *b, const char *name, const unsigned char *bytes, size_t len)
{
	tp_buffer_printf(b, "\t%s = \"", name);
	for (size_t i = 0; i < len; i++)
		tp_buffer_printf(b, "%02x", bytes[i]);
	tp_buffer_printf(b, "\";\n");
}

static bool is_loaded(const struct dl_phdr_info *object, const ElfW(Phdr) *segment)
{
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *load = &object->dlpi_phdr[i];
		if (load->p_type == PT_LOAD && (load->p_flags & PF_R) && segment->p_vaddr >= load->p_vaddr &&
		    segment->p_filesz <= load->p_filesz &&
		    segment->p_vaddr - load->p_vaddr <= load->p_filesz - segment->p_filesz)
			return true;
	}
	return false;
}

/* What an entry of notes takes up: their parts are padded to the segment's alignment, 4 or 8. */
static size_t padded(size_t len, const ElfW(Phdr) *segment)
{
	size_t align = segment->p_align == 8 ? 8 : 4;

	return (len + align - 1) / align * align;
}

static bool put_build_id_of(struct tp_buffer *b, const struct dl_phdr_info *object, const ElfW(Phdr) *segment)
{
	const char *at = (const char *)object->dlpi_addr + segment->p_vaddr; /* an offset, to be added to a number */
	size_t left = segment->p_filesz;
	ElfW(Nhdr) note;

	while (left >= sizeof(note)) {
		memcpy(&note, at, sizeof(note));
		size_t name = padded(sizeof(note) + (size_t)note.n_namesz, segment);
		size_t size = padded(name + note.n_descsz, segment);
		if (name + note.n_descsz > left)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    memcmp(at + sizeof(note), "GNU", sizeof("GNU")) == 0) {
			put_hex(b, "build_id", (const unsigned char *)at + name, note.n_descsz);
			return true;
		}
		if (size > left)
			return false;
		at += size;
		left -= size;
	}
	return false;
}

/* The first object is the program. */
static int put_build_id(struct dl_phdr_info *object, size_t size, void *data)
{
	(void)size;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		if (segment->p_type == PT_NOTE && is_loaded(object, segment) && put_build_id_of(data, object, segment))
			break;
	}
	return 1;
}

/* ---- The command, as a shell understands it ---- */

static bool is_any(const char *argument, bool (*is)(const char *at))
{
	for (; *argument; argument++) {
		if (is(argument))
			return true;
	}
	return false;
}

static bool means_something(const char *at)
{
	return strchr(" !\"#$&'()*;<>?[\\]^`{|}~", *at) != NULL;
}

/* What no quotes hold as it is. */
static bool is_odd(const char *at)
{
	unsigned char c = (unsigned char)*at;

	return c < ' ' || c == 0x7f || c == '\'';
}

static bool is_utf8(const char *text)
{
	size_t len;

	while (*text && (len = tp_utf8_char(text)) != 0)
		text += len;
	return *text == '\0';
}

static void put_escaped(struct tp_buffer *b, const char *argument)
{
	size_t len;

	tp_buffer_printf(b, "$'");
	for (; *argument; argument += len) {
		len = tp_utf8_char(argument);
		if (!len || is_odd(argument) || *argument == '\\') {
			const char *letter = strchr("\nn\tt\rr\\\\''", *argument);
			len = 1;
			if (letter)
				tp_buffer_printf(b, "\\%c", letter[1]);
			else
				tp_buffer_printf(b, "\\x%02x", (unsigned char)*argument);
		} else {
			tp_buffer_printf(b, "%.*s", (int)len, argument);
		}
	}
	tp_buffer_printf(b, "'");
}

static void put_argument(struct tp_buffer *b, const char *argument)
{
	if (is_any(argument, is_odd) || !is_utf8(argument))
		put_escaped(b, argument);
	else if (!*argument || is_any(argument, means_something))
		tp_buffer_printf(b, "'%s'", argument);
	else
		tp_buffer_printf(b, "%s", argument);
}

/* The arguments' bytes, each with a NUL behind it; what the process has made of them, if it did. */
static size_t read_arguments(char *bytes, size_t size)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && len < size - 1) {
		n = read(fd, bytes + len, size - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	bytes[len] = '\0';
	return len;
}

static void put_command(struct tp_buffer *b)
{
	char bytes[COMMAND_MAX + 8]; /* so many are too many for the command, whatever they are */
	size_t len = read_arguments(bytes, sizeof(bytes));
	struct tp_buffer command = {.text = NULL};

	for (size_t at = 0; at < len && command.len <= COMMAND_MAX; at += strlen(bytes + at) + 1) {
		if (at > 0)
			tp_buffer_printf(&command, " ");
		put_argument(&command, bytes + at);
	}
	if (command.len > COMMAND_MAX && !command.failed) {
		size_t end = COMMAND_MAX;
		while (((unsigned char)command.text[end] & 0xc0) == 0x80) /* not in the middle of a character */
			end--;
		command.len = end;
		tp_buffer_printf(&command, "...");
	}
	if (command.len && !command.failed)
		put_text(b, "command", command.text);
	tp_buffer_free(&command);
}

/* ---- All of it ---- */

void tp_ctf_environment_of_process(char text[TP_CTF_PROCESS_TEXT], int pid, time_t created)
{
	const struct tp_utc utc = tp_utc_of(created);

	snprintf(text, TP_CTF_PROCESS_TEXT,
		 "\tpid = %d;\n"
		 "\ttrace_creation_datetime = \"%04lld-%02u-%02uT%02u:%02u:%02uZ\";\n",
		 pid, (long long)utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second);
}

size_t tp_ctf_environment(struct tp_buffer *b)
{
	char host[HOST_NAME_MAX + 1] = "";

	tp_buffer_printf(b, "env {\n");
	put_text(b, "tracer_name", "tp");
	tp_buffer_printf(b, "\ttracer_major = %d;\n\ttracer_minor = %d;\n\ttracer_patch = %d;\n", TP_VERSION_MAJOR,
			 TP_VERSION_MINOR, TP_VERSION_PATCH);
	gethostname(host, sizeof(host) - 1);
	put_text(b, "hostname", host);
	put_text(b, "procname", tp_program_name);
	tp_buffer_printf(b, "\tarchitecture_bit_width = %d;\n", (int)(sizeof(long) * CHAR_BIT));
	size_t process_at = b->len;
	put_program(b);
	dl_iterate_phdr(put_build_id, b);
	put_command(b);
	tp_buffer_printf(b, "};\n\n");
	return process_at;
}
