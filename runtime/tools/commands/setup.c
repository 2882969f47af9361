/* SPDX-License-Identifier: MIT */
/* setup.c - "tp setup": the directory in which the programs of a user listen. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/commands.h"
#include "options.h"
#include "client/dir_status.h"
#include "client/names.h"
#include "client/socket_dirs.h"
#include "fail_msg.h"

enum { OPTION_REMOVE = OPTION_LONG, OPTION_SYSTEM, OPTION_STATUS };

struct setup {
	uid_t uid;
	gid_t gid;
	char user[64];
	char path[PATH_MAX];
	char parent[PATH_MAX];
	bool in_session; /* below $XDG_RUNTIME_DIR, which goes when the user logs out */
};

/* ---- Which directory ---- */

/* name: NULL: this program's. */
static bool find_user(struct setup *setup, const char *name)
{
	const struct passwd *user = name ? getpwnam(name) : getpwuid(geteuid());
	const uid_t uid = geteuid();

	if (!user && name && name[strspn(name, "0123456789")] == '\0')
		user = getpwuid((uid_t)strtoul(name, NULL, 10));
	if (!user && name)
		return fail_msg("there is no user '%s'", name);
	setup->uid = user ? user->pw_uid : uid;
	setup->gid = user ? user->pw_gid : getegid();
	if (user)
		snprintf(setup->user, sizeof(setup->user), "%s", user->pw_name);
	else
		snprintf(setup->user, sizeof(setup->user), "%u", (unsigned int)uid);
	return setup->uid == uid || uid == 0 || fail_msg("only root can set up the directory of another user, %s", name);
}

static void find_path(struct setup *setup, bool system)
{
	const char *control = getenv("TP_CONTROL");
	const size_t len = control ? strcspn(control, ",") : 0;

	/* As programs of this environment would find it. */
	if (!system && len && control[0] == '/' && len < PATH_MAX)
		snprintf(setup->path, sizeof(setup->path), "%.*s", (int)len, control);
	else
		place_of_user(setup->path, setup->uid, system);
	strcpy(setup->parent, setup->path);
	char *slash = strrchr(setup->parent, '/');
	*(slash == setup->parent ? slash + 1 : slash) = '\0';
	setup->in_session = strncmp(setup->path, "/run/tp/", strlen("/run/tp/")) != 0;
}

/* ---- Making it ---- */

/* Others may pass through the one above, and nobody may change what is in it. */
static bool make_parent(const struct setup *setup)
{
	if (strcmp(setup->parent, "/run/tp") != 0 || mkdir(setup->parent, 0755) == 0)
		return true;
	if (errno == EEXIST)
		return true;
	if (errno == EACCES)
		return fail_msg("'%s' can't be made: %s; as root, \"tp setup --system %s\" does it; or set TP_CONTROL to a "
			    "directory of yours", setup->path, strerror(errno), setup->user);
	return fail_msg("'%s' can't be made: %s", setup->parent, strerror(errno));
}

/* Of the user alone; with mode 0700, programs listen in it. */
static bool check(const struct setup *setup, int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return fail_msg("'%s' can't be looked at: %s", setup->path, strerror(errno));
	if (status.st_uid != setup->uid)
		return fail_msg("'%s' is user %u's, and must be user %u's: no program listens in it; remove it, and try "
			    "again", setup->path, (unsigned int)status.st_uid, (unsigned int)setup->uid);
	if (!(status.st_mode & 077))
		return true;
	const unsigned int mode = status.st_mode & 0777;
	if (fchmod(fd, 0700) != 0)
		return fail_msg("'%s' has mode %03o, and must have 700: %s", setup->path, mode, strerror(errno));
	fail_msg("'%s' had mode %03o, and has 700 now: look whether others have put something in it", setup->path, mode);
	return true;
}

/* Root makes it for another user: in a directory that is root's alone, nobody can put anything else in its place. */
static bool make(const struct setup *setup, bool *made)
{
	if (!make_parent(setup))
		return false;
	*made = mkdir(setup->path, 0700) == 0;
	if (!*made && errno == EACCES)
		return fail_msg("'%s' can't be made: %s; as root, \"tp setup --system %s\" does it", setup->path,
			    strerror(errno), setup->user);
	if (!*made && errno != EEXIST)
		return fail_msg("'%s' can't be made: %s", setup->path, strerror(errno));
	int fd = open(setup->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fail_msg("'%s' can't be opened: %s", setup->path,
			    errno == ELOOP || errno == ENOTDIR ? "it is no directory; remove it, and try again"
							       : strerror(errno));
	bool good = !*made || setup->uid == geteuid() || fchown(fd, setup->uid, setup->gid) == 0 ||
		    fail_msg("'%s' can't be given to %s: %s", setup->path, setup->user, strerror(errno));
	good = good && check(setup, fd);
	close(fd);
	return good;
}

static void tell_next_boot(const struct setup *setup)
{
	if (setup->in_session) {
		printf("It goes when %s logs out. To have it at each login, put this line into the file\n"
		       "~/.config/user-tmpfiles.d/tp.conf:\n\n\td %%t/tp 0700\n\n", setup->user);
		return;
	}
	printf("It goes at the next boot. To have it again, put these lines into the file /etc/tmpfiles.d/tp.conf:\n\n"
	       "\td /run/tp 0755 root root\n\td %s 0700 %s -\n\n"
	       "For a service of systemd, these lines in its unit do the same, while the service runs:\n\n"
	       "\t[Service]\n\tUser=%s\n\tRuntimeDirectory=tp/%u\n\tRuntimeDirectoryMode=0700\n\n",
	       setup->path, setup->user, setup->user, (unsigned int)setup->uid);
}

static bool set_up(const struct setup *setup)
{
	bool made = false;

	if (!make(setup, &made))
		return false;
	printf("%s %s: programs with tracepoints that %s starts from now on listen there.\n", setup->path,
	       made ? "is made" : "is there already", setup->user);
	tell_next_boot(setup);
	printf("\"tp ps\" lists them. \"tp setup --remove%s\" switches this off again.\n",
	       setup->in_session || setup->uid == geteuid() ? "" : " --system USER");
	return true;
}

/* ---- Removing it ---- */

/* The sockets of programs, and nothing else. Those that run still can't be reached any more. */
static bool remove_names(const struct setup *setup, unsigned int *nr)
{
	int fd = open(setup->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat status;

	if (!list) {
		const int error = errno;
		if (fd >= 0)
			close(fd);
		return fail_msg("'%s' can't be opened: %s", setup->path, error == ENOENT ? "it is not there" : strerror(error));
	}
	while ((entry = readdir(list)) != NULL) {
		/* While it gets its name, a socket's begins with a dot. */
		const char *name = entry->d_name + (entry->d_name[0] == '.');
		if (name_is_process(name, NULL, NULL) && fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISSOCK(status.st_mode) && unlinkat(fd, entry->d_name, 0) == 0)
			++*nr;
	}
	closedir(list);
	return true;
}

static bool take_down(const struct setup *setup)
{
	unsigned int nr = 0;

	if (!remove_names(setup, &nr))
		return false;
	if (rmdir(setup->path) != 0)
		return fail_msg("'%s' can't be removed: %s", setup->path, strerror(errno));
	printf("%s is removed: programs that %s starts from now on do not listen.\n", setup->path, setup->user);
	if (nr)
		printf("%u name%s in it: programs that run can't be reached any more.\n", nr, nr == 1 ? " was" : "s were");
	return true;
}

/* ---- Looking at it ---- */

static bool show(const struct setup *setup, bool system)
{
	const char *control = getenv("TP_CONTROL");
	char remedy[128];

	snprintf(remedy, sizeof(remedy), "tp setup%s%s%s", system ? " --system" : "", setup->uid == geteuid() ? "" : " ",
		 setup->uid == geteuid() ? "" : setup->user);
	const bool good = dir_status_print(setup->path, setup->uid, remedy);
	if (!system && control && strcspn(control, ",") == 1 && control[0] == '0')
		return fail_msg("TP_CONTROL=%s is in this environment: programs that are started here do not listen; take it out", control);
	return good;
}

/* ---- The command ---- */

static int run(const struct tp_args *args)
{
	struct setup setup = {.uid = 0};
	const bool system = args_has(args, OPTION_SYSTEM);

	if (args->nr_operands > 1 || args->program)
		return args_wrong(args, "give it one USER, or none");
	if (args->nr_operands && !system)
		return args_wrong(args, "a USER goes with --system");
	if (args_has(args, OPTION_REMOVE) && args_has(args, OPTION_STATUS))
		return args_wrong(args, "either --remove or --status");
	if (!find_user(&setup, args->nr_operands ? args->operands[0] : NULL))
		return EXIT_FAILED;
	find_path(&setup, system);
	if (args_has(args, OPTION_STATUS))
		return show(&setup, system) ? EXIT_DONE : EXIT_FAILED;
	return (args_has(args, OPTION_REMOVE) ? take_down(&setup) : set_up(&setup)) ? EXIT_DONE : EXIT_FAILED;
}

const struct tp_command command_setup = {
	.name = "setup",
	.summary = "make the directory that lets tp look into programs",
	.usage = (const char *const[]){"[--remove|--status]", "--system [USER] [--remove|--status]", NULL},
	.operand = "USER",
	.options = (const struct tp_option[]){
		{OPTION_REMOVE, "remove", NULL, "removes the directory: programs that are started from now on do not listen, and those "
						"that run can't be reached any more"},
		{OPTION_STATUS, "status", NULL, "changes nothing, and shows the directories: whose they are, and which processes listen there; the "
						"status is 1 if programs that are started now do not listen"},
		{OPTION_SYSTEM, "system", NULL, "the directory is /run/tp/UID, for services; root can make it for any USER"},
		{.name = NULL},
	},
	.text =
		"Programs with tracepoints listen if there is a directory for that when they start; \"tp setup\" "
		"makes it, for you alone (mode 0700): $XDG_RUNTIME_DIR/tp or, if that variable is not set, "
		"/run/tp/UID. If TP_CONTROL names a directory, it is that one.\n\n"
		"Programs that run already do not listen before they are started again. Nothing else is needed: no "
		"daemon, no root, no configuration. A single program can be started with TP_CONTROL=1 instead, "
		"which makes the directory, too; with TP_CONTROL=0 it never listens.\n\n"
		"The directory is in a memory file system, and so is gone after the next boot or login; tp prints "
		"lines for tmpfiles.d and systemd which make it again.\n",
	.run = run,
};
