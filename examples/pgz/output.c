// SPDX-License-Identifier: MIT
/*
 * output.c - output files, of which nothing stays behind unless they are whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"

/* The file that is not whole yet; NULL: there is none. Read by the signal handler. */
static _Atomic(const char *) unfinished;

static const int deadly[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ};
#define NR_DEADLY (sizeof(deadly) / sizeof(deadly[0]))

static void remove_unfinished(void)
{
	const char *path = atomic_exchange(&unfinished, NULL);

	if (path)
		unlink(path);
}

static void die(int sig)
{
	remove_unfinished();
	/* Dies of the signal, so that a shell sees it; SA_RESETHAND has put its default action back. */
	raise(sig);
}

void output_init(void)
{
	struct sigaction action = {.sa_handler = die, .sa_flags = (int)SA_RESETHAND};
	struct sigaction old;

	for (size_t i = 0; i < NR_DEADLY; i++) {
		/* What our parent had us ignore (nohup) stays ignored. */
		if (sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(deadly[i], &action, NULL);
	}
}

/* No signal may fall between the file's coming to be and our knowing of it. */
static int create(const char *path)
{
	sigset_t block, old;
	int fd;

	sigfillset(&block);
	pthread_sigmask(SIG_BLOCK, &block, &old);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (fd < 0)
		fd = -errno;
	else
		atomic_store(&unfinished, path);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return fd;
}

int output_create(const char *path, const struct stat *input, bool force)
{
	struct stat there;
	int fd = create(path);

	if (fd != -EEXIST || !force)
		return fd;
	if (stat(path, &there) == 0 && there.st_dev == input->st_dev && there.st_ino == input->st_ino)
		return -EEXIST;
	if (unlink(path) < 0)
		return -errno;
	return create(path);
}

int output_finish(int fd, const struct stat *input)
{
	const struct timespec times[2] = {input->st_atim, input->st_mtim};
	int err = 0;

	/* A file system without permissions or times of its own is no reason to throw the file away. */
	(void)!fchmod(fd, input->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO));
	(void)!futimens(fd, times);
	if (close(fd) < 0) {
		err = -errno; /* of a write before it: on NFS it may be close that says so */
		remove_unfinished();
	}
	atomic_store(&unfinished, NULL);
	return err;
}

void output_drop(int fd)
{
	close(fd);
	remove_unfinished();
}
