/* SPDX-License-Identifier: MIT */
/*
 * control/rendezvous.c - see rendezvous.h. The directory's existence is the
 * switch: where there is none, a program's start costs one system call.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "control/rendezvous.h"

#define BACKLOG 16

/* ---- What the environment says ---- */

static struct tp_control_setting the_setting = {.children = true};

/* 0, 1 or /DIR, and what may stand behind it. */
static void parse(char *value)
{
	char *options = strstr(value, ",children=");

	if (options) {
		*options = '\0';
		options += strlen(",children=");
		the_setting.children = strcmp(options, "end") != 0;
		if (the_setting.children && strcmp(options, "live") != 0)
			tp_complain("TP_CONTROL: children=%s: it is children=live or children=end; forked children listen", options);
	}
	if (strcmp(value, "0") == 0)
		the_setting.off = true;
	else if (*value == '/') {
		tp_path_trim(value);
		the_setting.directory = value;
	} else if (strcmp(value, "1") == 0)
		the_setting.make = true;
	else if (*value)
		tp_complain("TP_CONTROL=%s: it is 0, 1 or the path of a directory, from /; it is as if it was not set", value);
}

static void read_setting(void)
{
	const char *value = secure_getenv("TP_CONTROL");
	char *copy = value ? strdup(value) : NULL;

	if (copy)
		parse(copy);
	if (copy != the_setting.directory) /* which stays */
		free(copy);
	if (tp_sandboxed && !the_setting.make && !the_setting.directory)
		the_setting.off = true;
}

bool tp_control_setting(struct tp_control_setting *setting)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (getauxval(AT_SECURE))
		return false;
	pthread_once(&once, read_setting);
	*setting = the_setting;
	return true;
}

/* ---- The directory: errors are errno values ---- */

/* Of take_directory(); no call there returns them. */
#define ANOTHER_USERS EXDEV
#define OPEN_TO_OTHERS EPERM

/* Nobody else may be able to put a name there, or to connect. */
static int take_directory(struct tp_rendezvous *at)
{
	struct stat st;
	int fd = tp_above_standard(open(at->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));

	if (fd < 0)
		return errno;
	int error = fstat(fd, &st) != 0 ? errno : st.st_uid != geteuid() ? ANOTHER_USERS : st.st_mode & 077 ? OPEN_TO_OTHERS : 0;
	if (!error)
		return tp_guarded_fd_take(&at->directory, fd);
	close(fd);
	return error;
}

static const char *text_of(int error)
{
	switch (error) {
	case ANOTHER_USERS:
		return "it belongs to another user";
	case OPEN_TO_OTHERS:
		return "others have rights to it: chmod 700 takes them away";
	case ENOTDIR:
	case ELOOP:
		return "it is no directory, or a symbolic link";
	default:
		return tp_strerror(error);
	}
}

static void complain(const char *path, int error)
{
	tp_complain("nobody can look into this process: '%s': %s", path, text_of(error));
}

/*
 * The directory of this path, which becomes the rendezvous's; or an error. If it
 * is not there, that is told only where it could not be made.
 */
static int try_directory(struct tp_rendezvous *at, char *path, bool make)
{
	int error = !path ? ENOMEM : make && mkdir(path, 0700) != 0 && errno != EEXIST ? errno : 0;

	if (!error && !make && access(path, F_OK) != 0) {
		error = errno == EACCES ? ANOTHER_USERS : ENOENT;
		free(path);
		return error;
	}
	at->path = path;
	if (!error)
		error = take_directory(at);
	if (!error)
		return 0;
	if (path && (error != ANOTHER_USERS || make))
		complain(path, error);
	free(path);
	at->path = NULL;
	return error;
}

static char *path_in(const char *directory)
{
	char *path;

	return asprintf(&path, "%s/tp", directory) < 0 ? NULL : path;
}

static char *path_of_user(void)
{
	char *path;

	return asprintf(&path, "/run/tp/%u", (unsigned int)getauxval(AT_EUID)) < 0 ? NULL : path;
}

/* What XDG_RUNTIME_DIR names may be the directory of the user that the process was before: su and sudo leave it. */
static int find_directory(struct tp_rendezvous *at, const struct tp_control_setting *setting, bool make)
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");

	if (setting->directory)
		return try_directory(at, strdup(setting->directory), make);
	if (runtime && *runtime == '/') {
		int error = try_directory(at, path_in(runtime), false);
		if (error == ENOENT && make && access(runtime, W_OK | X_OK) == 0)
			error = try_directory(at, path_in(runtime), true);
		if (error != ANOTHER_USERS && !(error == ENOENT && make))
			return error;
	}
	if (make)
		mkdir("/run/tp", 0755); /* root's to make */
	return try_directory(at, path_of_user(), make);
}

/* ---- The socket ---- */

static uint64_t unique_number(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A long path does not fit into an address; the descriptor's name does. */
static bool address_of(const struct tp_rendezvous *at, int directory, const char *name, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	int len = snprintf(address->sun_path, sizeof(address->sun_path), "%s/%s", at->path, name);
	if (len >= (int)sizeof(address->sun_path))
		len = snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/%s", directory, name);
	return len > 0 && len < (int)sizeof(address->sun_path);
}

/* Nobody connects before it is listened: it has its name last. */
static int bind_and_listen(struct tp_rendezvous *at, int directory, int fd)
{
	char hidden[sizeof(at->name) + 1];
	struct sockaddr_un address;

	snprintf(at->name, sizeof(at->name), "%d.%llu", (int)getpid(), (unsigned long long)unique_number());
	snprintf(hidden, sizeof(hidden), ".%s", at->name);
	if (!address_of(at, directory, hidden, &address))
		return ENAMETOOLONG;
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
		return errno;
	if (fchmodat(directory, hidden, 0600, 0) == 0 && listen(fd, BACKLOG) == 0 &&
	    renameat(directory, hidden, directory, at->name) == 0)
		return 0;
	int error = errno;
	unlinkat(directory, hidden, 0);
	return error;
}

/* The socket's address keeps the hidden name. Sockets that others have made are known by their process, which is asked first. */
bool tp_rendezvous_is_clients_end(int fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNSPEC};
	struct ucred peer = {.pid = 0};
	socklen_t len = sizeof(peer);
	unsigned long long number;
	int pid = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 || peer.pid != getpid())
		return false;
	len = sizeof(address) - 1; /* a name as long as there can be has no end of its own */
	if (getpeername(fd, (struct sockaddr *)&address, &len) != 0 || address.sun_family != AF_UNIX)
		return false;
	const char *name = strrchr(address.sun_path + !address.sun_path[0], '/'); /* after 0, it is in no directory */
	return name && sscanf(name, "/.%d.%llu", &pid, &number) == 2 && pid == getpid();
}

/* In no directory: a name of the network namespace, which anybody may connect to. tp_peer_may() lets in whom it lets in anyway. */
static int listen_without_directory(int fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	const int len = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "tp/.%d.%llu", (int)getpid(),
				 (unsigned long long)unique_number());
	const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
	return bind(fd, (const struct sockaddr *)&address, size) == 0 && listen(fd, BACKLOG) == 0 ? 0 : errno;
}

static int listen_there(struct tp_rendezvous *at)
{
	int fd = tp_above_standard(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	const int error = fd < 0    ? errno
			  : at->path ? bind_and_listen(at, tp_guarded_fd_descriptor(&at->directory), fd)
				     : listen_without_directory(fd);

	if (!error)
		return tp_guarded_fd_take(&at->listener, fd);
	if (fd >= 0)
		close(fd);
	at->name[0] = '\0';
	return error;
}

static void forget(struct tp_rendezvous *at)
{
	char *path = at->path;

	*at = (struct tp_rendezvous)TP_RENDEZVOUS_NONE; /* first: a fork may come at any moment */
	free(path);
}

int tp_rendezvous_find(struct tp_rendezvous *at, const struct tp_control_setting *setting, bool make)
{
	*at = (struct tp_rendezvous)TP_RENDEZVOUS_NONE;
	const int error = find_directory(at, setting, make);
	return error == OPEN_TO_OTHERS || error == ANOTHER_USERS ? EACCES : error;
}

int tp_rendezvous_listen(struct tp_rendezvous *at)
{
	const int error = listen_there(at);

	if (!error)
		return 0;
	complain(at->path, error);
	tp_guarded_fd_close(&at->directory);
	forget(at);
	return error;
}

/* Instead of in the directory, which the process may not, or can't come to any more. */
static int listen_elsewhere(struct tp_rendezvous *at)
{
	tp_guarded_fd_close(&at->listener);
	tp_guarded_fd_close(&at->directory);
	forget(at);
	return listen_there(at);
}

int tp_rendezvous_listen_in_child(struct tp_rendezvous *at, const struct tp_control_setting *setting)
{
	if (tp_rendezvous_find(at, setting, false) == 0 && listen_there(at) == 0)
		return 0;
	return listen_elsewhere(at);
}

/* The path leads to another directory in a jail, or to none. */
static int directory_again(struct tp_rendezvous *at)
{
	const struct tp_guarded_fd was = at->directory;

	if (tp_guarded_fd_descriptor(&was) >= 0)
		return 0;
	int error = take_directory(at);
	if (!error && at->directory.device == was.device && at->directory.inode == was.inode)
		return 0;
	if (!error)
		tp_guarded_fd_close(&at->directory);
	at->directory = was;
	return error ? error : ENOENT;
}

int tp_rendezvous_again(struct tp_rendezvous *at)
{
	int error = at->path ? directory_again(at) : 0;

	if (!error) {
		if (at->name[0])
			unlinkat(tp_guarded_fd_descriptor(&at->directory), at->name, 0);
		tp_guarded_fd_close(&at->listener);
		error = listen_there(at);
	}
	if (!error || !at->path || error == EMFILE || error == ENFILE) /* there may be descriptors again */
		return error;
	return listen_elsewhere(at);
}

void tp_rendezvous_close(struct tp_rendezvous *at, bool remove)
{
	if (remove && at->name[0] && directory_again(at) == 0)
		unlinkat(tp_guarded_fd_descriptor(&at->directory), at->name, 0);
	tp_guarded_fd_close(&at->listener);
	tp_guarded_fd_close(&at->directory);
	forget(at);
}

/* ---- Who is at the other end of a connection ---- */

/*
 * As the kernel shows users that this user namespace does not know. root of an
 * outer one is such a user. The directory and the socket can be entered by their owner and by root only, so in a
 * namespace that does not know all users, that is root. A later owner is known there.
 */
static bool is_unknown_here(uid_t user)
{
	char map[64] = "";
	const uid_t overflow = 65534;
	int fd = user == overflow ? open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return false;
	const ssize_t len = read(fd, map, sizeof(map) - 1);
	close(fd);
	unsigned long first = 0, outside = 0, count = 0;
	char *at = map;
	if (len > 0) {
		first = strtoul(at, &at, 10);
		outside = strtoul(at, &at, 10);
		count = strtoul(at, &at, 10);
	}
	return len > 0 && !(first == 0 && outside == 0 && count == 4294967295u);
}

bool tp_peer_may(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return false;
	return peer.uid == geteuid() || peer.uid == 0 || is_unknown_here(peer.uid);
}
