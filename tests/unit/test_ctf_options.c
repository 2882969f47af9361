/* SPDX-License-Identifier: MIT */
/*
 * test_ctf_options.c - the options of a CTF output: what they mean, and what is
 * said where they mean nothing. What they do is in test_ctf_limits.c and test_ctf_context.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "sinks/ctf/options.h"
#include "ctf_fixture.h"
#include "ctf_packets.h"
#include "sample.h"
#include "util.h"

#define K ((uint64_t)1 << 10)
#define M ((uint64_t)1 << 20)
#define G ((uint64_t)1 << 30)
#define ANY UINT64_MAX

static const struct {
	const char *text;
	bool flight, overwrite;
	uint64_t packet, packets, size;
	unsigned int context;
	enum tp_ctf_prepare prepare;
} good[] = {
	{NULL, false, false, M, ANY, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"", false, false, M, ANY, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"mode=stream", false, false, M, ANY, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"mode=flight", true, true, 512 * K, 4, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"mode=stream,full=overwrite,packets=3", false, true, M, 3, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"full=discard,mode=flight", true, false, 512 * K, 4, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"packet=4K", false, false, 4 * K, ANY, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"packet=4096", false, false, 4 * K, ANY, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"packet=4097", false, false, 8 * K, ANY, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"packet=65537,mode=flight", true, true, 68 * K, 4, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"packet=1G", false, false, G, ANY, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"packet=3M,packet=8K", false, false, 8 * K, ANY, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"packet=1024M", false, false, G, ANY, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"packet=1048576K", false, false, G, ANY, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"packet=1073741823", false, false, G, ANY, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"packets=2", false, false, M, 2, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"mode=flight,packets=18446744073709551615", true, true, 512 * K, ANY, ANY, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"size=16M", false, false, 512 * K, ANY, 16 * M, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"size=8M", false, false, 256 * K, ANY, 8 * M, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"size=8388607", false, false, 128 * K, ANY, 8 * M - 1, 0, TP_CTF_PREPARE_BY_PROCESS}, /* smaller packets, so that there are some */
	{"size=8K", false, false, 4 * K, ANY, 8 * K, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"mode=flight,size=16G", true, true, 512 * K, ANY, 16 * G, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"mode=flight,size=64K", true, true, 4 * K, ANY, 64 * K, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"mode=flight,size=64K,packets=3", true, true, 4 * K, 3, 64 * K, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"size=100000,packet=32K", false, false, 32 * K, ANY, 100000, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"size=64K,packet=32K", false, false, 32 * K, ANY, 64 * K, 0, TP_CTF_PREPARE_BY_PROCESS},
	{"context=cpu", false, false, M, ANY, ANY, TP_CTF_CPU, TP_CTF_PREPARE_BY_PROCESS},
	{"context=name+pid", false, false, M, ANY, ANY, TP_CTF_NAME | TP_CTF_PID, TP_CTF_PREPARE_BY_PROCESS},
	{"context=cpu+pid+name", false, false, M, ANY, ANY, TP_CTF_CPU | TP_CTF_PID | TP_CTF_NAME, TP_CTF_PREPARE_BY_PROCESS},
	{"context=cpu+cpu", false, false, M, ANY, ANY, TP_CTF_CPU, TP_CTF_PREPARE_BY_PROCESS},
	{"prepare=self", false, false, M, ANY, ANY, 0, TP_CTF_PREPARE_SELF},
	{"prepare=thread,packet=8K", false, false, 8 * K, ANY, ANY, 0, TP_CTF_PREPARE_THREAD},
};

FIXTURE(setup, NULL)

LOOP_TEST(good_options, NR_OF(good))
{
	struct tp_ctf_options options;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t packet = (good[_i].packet + page - 1) / page * page; /* where a page is 64K */

	capture_stderr();
	if (packet * 2 <= good[_i].size) {
		ck_assert(tp_ctf_options_parse(&options, good[_i].text, trace));
		ck_assert_uint_eq(options.flight, good[_i].flight);
		ck_assert_uint_eq(options.overwrite, good[_i].overwrite);
		ck_assert_uint_eq(options.packet, packet);
		ck_assert_uint_eq(options.packets, good[_i].packets);
		ck_assert_uint_eq(options.size, good[_i].size);
		ck_assert_uint_eq(options.context, good[_i].context);
		ck_assert_uint_eq(options.prepare, good[_i].prepare);
	}
	char *messages = captured_stderr();
	ck_assert_str_eq(messages, "");
	free(messages);
}

#define MODE "mode= takes stream or flight"
#define PACKET "packet= takes bytes, from 4K to 1G (suffixes K, M, G)"
#define PACKETS "packets= takes 2 or more"
#define SIZE "size= takes bytes, 8K or more (suffixes K, M, G)"
#define FULL "full= takes discard or overwrite"
#define PREPARE "prepare= takes self or thread"
#define OWNER "owner= takes a user of /etc/passwd, or UID or UID:GID"
#define CONTEXT "context= takes some of cpu, pid and name, as in cpu+pid"

static const struct {
	const char *text;
	const char *option; /* that is wrong: the only one, where it is not said */
	const char *allowed;
} wrong[] = {
	{"mode", NULL, MODE},
	{"mode=", NULL, MODE},
	{"mode=ring", NULL, MODE},
	{"mode=flights", NULL, MODE},
	{"mode=Flight", NULL, MODE},
	{"mode= flight", NULL, MODE},
	{"packet", NULL, PACKET},
	{"packet=", NULL, PACKET},
	{"packet=1", NULL, PACKET},
	{"packet=0", NULL, PACKET},
	{"packet=-4096", NULL, PACKET},
	{"packet=+4096", NULL, PACKET},
	{"packet= 8K", NULL, PACKET},
	{"packet=4095", NULL, PACKET},
	{"packet=3K", NULL, PACKET},
	{"packet=8k", NULL, PACKET},
	{"packet=8KB", NULL, PACKET},
	{"packet=K", NULL, PACKET},
	{"packet=8T", NULL, PACKET},
	{"packet=0x2000", NULL, PACKET},
	{"packet=8.5K", NULL, PACKET},
	{"packet=1073741825", NULL, PACKET},
	{"packet=1025M", NULL, PACKET},
	{"packet=17179869184G", NULL, PACKET},
	{"packet=18446744073709555712", NULL, PACKET},  /* 2^64 + 4096 */
	{"packet=18014398509481988K", NULL, PACKET},    /* the same */
	{"packets=", NULL, PACKETS},
	{"packets=0", NULL, PACKETS},
	{"packets=1", NULL, PACKETS},
	{"packets=2K", NULL, PACKETS},
	{"packets=-2", NULL, PACKETS},
	{"packets=some", NULL, PACKETS},
	{"size=", NULL, SIZE},
	{"size=8191", NULL, SIZE},
	{"size=-1", NULL, SIZE},
	{"size=all", NULL, SIZE},
	{"full=", NULL, FULL},
	{"full=drop", NULL, FULL},
	{"full=d", NULL, FULL},
	{"prepare=", NULL, PREPARE},
	{"prepare=threads", NULL, PREPARE},
	{"context=", NULL, CONTEXT},
	{"context=tid", NULL, CONTEXT},
	{"context=cpu+", NULL, CONTEXT},
	{"context=+cpu", NULL, CONTEXT},
	{"context=cpu++pid", NULL, CONTEXT},
	{"context=cp", NULL, CONTEXT},
	{"context=cpus", NULL, CONTEXT},
	{"owner=1,owner=no:body", "owner=no:body", OWNER},
	{"mode=flight,packet=1,full=x", "packet=1", PACKET}, /* the first one that is wrong */
	{"mode=flight,full=x", "full=x", FULL},
};

/* There is no sink and no directory; this line, and no other. */
static void is_refused(const char *options, const char *message)
{
	char expected[512];

	snprintf(expected, sizeof(expected), "tp: CTF trace '%s': %s; there is no trace\n", trace, message);
	capture_stderr();
	errno = 0;
	const struct tp_sink *sink = tp_ctf_sink(trace, options);
	int error = errno;
	char *messages = captured_stderr();
	ck_assert_ptr_null(sink);
	ck_assert_int_eq(error, EINVAL);
	ck_assert_str_eq(messages, expected);
	free(messages);
	ck_assert_int_ne(access(trace, F_OK), 0);
}

LOOP_TEST(wrong_options, NR_OF(wrong))
{
	char message[256];

	snprintf(message, sizeof(message), "option '%s': %s", wrong[_i].option ? wrong[_i].option : wrong[_i].text,
		 wrong[_i].allowed);
	is_refused(wrong[_i].text, message);
}

static const struct {
	const char *text, *option;
} unknown[] = {
	{"colour=red", "colour=red"},
	{"packe=4K", "packe=4K"},
	{"Packet=4K", "Packet=4K"},
	{"=4K", "=4K"},
	{" packet=4K", " packet=4K"},
	{"context=cpu,pid", "pid"},
	{"packet=4K;mode=flight", NULL}, /* a wrong packet */
	{"packet=4K,", ""},
	{",packet=4K", ""},
	{",", ""},
	{"packet=4K,,mode=flight", ""},
};

LOOP_TEST(unknown_options, NR_OF(unknown))
{
	char message[256];

	if (!unknown[_i].option) {
		is_refused(unknown[_i].text, "option 'packet=4K;mode=flight': " PACKET);
		return;
	}
	snprintf(message, sizeof(message), "there is no option '%s'; there are mode=, packet=, packets=, size=, keep=, rotate=, full=, "
					   "prepare=, owner=, write= and context=", unknown[_i].option);
	is_refused(unknown[_i].text, message);
}

TEST(less_than_two_packets)
{
	char message[256];
	unsigned long packet = (unsigned long)(sysconf(_SC_PAGESIZE) > 65536 ? sysconf(_SC_PAGESIZE) : 65536);

	snprintf(message, sizeof(message), "size=131071 holds less than two packets of %lu bytes: a larger size= or a smaller "
					   "packet= is needed", packet);
	is_refused("packet=64K,size=131071", message);
	is_refused("size=131071,packet=65535", message);
}

/* What is asked for is what there is. */
LOOP_TEST(files_of_that_size, 4)
{
	static const struct {
		const char *options;
		off_t size;
	} asked[] = {{"packet=5000", 8192}, {"packet=128K", 128 << 10}, {NULL, 1 << 20}, {"mode=flight", 512 << 10}};
	size_t nr;
	struct tp_sink *sink = open_sink(asked[_i].options);

	trace_sample_int(1);
	const struct packet_file *packets = packets_of(trace, &nr);
	ck_assert_uint_eq(nr, 1);
	ck_assert_int_eq(packets[0].size, asked[_i].size);
	tp_sink_close(sink);
	packets_of(trace, &nr);
	ck_assert_uint_eq(nr, 1);
	free(clean_babeltrace(trace));
}
