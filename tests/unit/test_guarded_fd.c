/* SPDX-License-Identifier: MIT */
/*
 * test_guarded_fd.c - the marks by which the runtime knows files that it has opened; and what no C library need have.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "util.h"

static char path[] = "/tmp/tp-own-file-XXXXXX";

static void setup(void)
{
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void teardown(void)
{
	unlink(path);
	strcpy(path + strlen(path) - 6, "XXXXXX");
}

static int open_path(const void *data)
{
	return open(data, O_WRONLY | O_CLOEXEC);
}

static struct tp_guarded_fd new_file(void)
{
	struct tp_guarded_fd file;

	ck_assert_int_eq(tp_guarded_fd_take(&file, open_path(path)), 0);
	tp_guarded_fd_mark(&file);
	return file;
}

static int get(struct tp_guarded_fd *file)
{
	int error;

	return tp_guarded_fd_get(file, open_path, path, true, &error);
}

FIXTURE(setup, teardown)

/* Files that come and go don't use up the marks. */
TEST(marked)
{
	for (int i = 0; i < 100; i++) {
		struct tp_guarded_fd one = new_file();
		tp_guarded_fd_close(&one);
	}
	struct tp_guarded_fd file = new_file();
	int fd = get(&file), mark = fcntl(fd, F_GETSIG);
	ck_assert_int_ne(mark, 0);
	close(fd);
	ck_assert_int_eq(fcntl(get(&file), F_GETSIG), mark); /* of the one that was opened again */
	struct tp_guarded_fd other = new_file();
	ck_assert_int_ne(fcntl(get(&other), F_GETSIG), 0);
	ck_assert_int_ne(fcntl(get(&other), F_GETSIG), mark);
	tp_guarded_fd_close(&other);
	tp_guarded_fd_close(&file);
}

/* The program has opened the same file itself, and has the number: it is not the runtime's, to write to or to close. */
TEST(same_file_but_the_programs)
{
	struct tp_guarded_fd file = new_file();
	int fd = get(&file), program = open_path(path);

	ck_assert_int_eq(dup2(program, fd), fd);
	ck_assert_int_eq(tp_guarded_fd_descriptor(&file), -1);
	ck_assert_int_ne(get(&file), fd);
	tp_guarded_fd_close(&file);
	ck_assert_int_eq(fcntl(fd, F_GETSIG), 0);
	close(fd);
	close(program);
}

/* As many as there are marks, and more: the last ones are told from others all the same. */
TEST(more_than_there_are_marks)
{
	struct tp_guarded_fd files[20];

	for (size_t i = 0; i < 20; i++)
		files[i] = new_file();
	int fd = get(&files[19]), other = open("/dev/null", O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(fcntl(fd, F_GETSIG), 0);
	ck_assert_int_eq(dup2(other, fd), fd);
	ck_assert_int_eq(tp_guarded_fd_descriptor(&files[19]), -1);
	ck_assert_int_ne(get(&files[19]), fd);
	for (size_t i = 0; i < 20; i++)
		tp_guarded_fd_close(&files[i]);
	close(fd);
	close(other);
}

/* ---- Without the C library ---- */

/* As a kernel before 5.9, or an emulator, has it. */
static void do_without(unsigned int call)
{
	struct sock_filter code[] = {
		{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
		{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call},
		{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS},
		{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
	};
	const struct sock_fprog program = {.len = NR_OF(code), .filter = code};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* More than fit into what a directory is read by. */
LOOP_TEST(close_from, 2)
{
	const int first = dup(STDIN_FILENO);

	for (int i = 0; i < 300; i++)
		ck_assert_int_ge(dup(STDIN_FILENO), 0);
	if (_i)
		do_without(SYS_close_range);
	tp_file_close_from((unsigned int)first + 1);
	ck_assert_int_ge(fcntl(first, F_GETFD), 0);
	for (int fd = first + 1; fd < 1000; fd++)
		ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
}

TEST(rename_new)
{
	char new[sizeof(path) + 8];

	snprintf(new, sizeof(new), "%s.new", path);
	ck_assert_int_eq(tp_file_rename_new(AT_FDCWD, path, AT_FDCWD, new), 0);
	ck_assert_int_eq(tp_file_rename_new(AT_FDCWD, path, AT_FDCWD, new), ENOENT);
	close(open(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
	ck_assert_int_eq(tp_file_rename_new(AT_FDCWD, path, AT_FDCWD, new), EEXIST);
	unlink(new);
}
