// SPDX-License-Identifier: MIT
/*
 * host.c - loads modules, opens their /proc files, unloads the modules and
 * prints the log:
 *
 *	host MODULE.so...
 *
 * It does what the kernel's sample is told to do by hand: modprobe, cat,
 * rmmod, dmesg. Modules are loaded and unloaded in the order in which they
 * are named, which is not important. The host itself knows nothing of
 * tracepoints.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

struct module {
	char name[64];
	void *handle;
	int (*init)(void);
	void (*exit)(void);
	int (*proc_open)(struct task_struct *task); /* NULL: no file in /proc */
};

/* ---- The log ---- */

static FILE *log_stream;
static char *log_text;
static size_t log_size;

void printk(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(log_stream, fmt, ap);
	va_end(ap);
	fputc('\n', log_stream);
}

static void dmesg(void)
{
	printf("$ dmesg\n");
	fflush(log_stream);
	fputs(log_text, stdout);
}

/* ---- Modules ---- */

/* dir/tracepoint-example.so is the module tracepoint-example. */
static void module_name(struct module *module, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	snprintf(module->name, sizeof(module->name), "%.*s", (int)strcspn(base, "."), base);
}

/* False, after saying why, where the module can't be loaded. */
static bool modprobe(struct module *module, const char *path)
{
	int err;

	module_name(module, path);
	printf("$ modprobe %s\n", module->name);
	module->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!module->handle) {
		fprintf(stderr, "modprobe: %s\n", dlerror());
		return false;
	}
	/* ISO C has no conversion from an object's address to a function's; POSIX has this one, for dlsym(). */
	*(void **)&module->init = dlsym(module->handle, "module_init");
	*(void **)&module->exit = dlsym(module->handle, "module_exit");
	*(void **)&module->proc_open = dlsym(module->handle, "proc_open");
	err = module->init && module->exit ? module->init() : -ENOEXEC;
	if (err) {
		fprintf(stderr, "modprobe: %s: %s\n", module->name, strerror(-err));
		dlclose(module->handle);
		return false;
	}
	return true;
}

static void cat_proc(const struct module *module)
{
	struct task_struct task = {.comm = "cat"};
	int err;

	if (!module->proc_open)
		return;
	printf("$ cat /proc/%s\n", module->name);
	err = module->proc_open(&task);
	if (err)
		printf("cat: /proc/%s: %s\n", module->name, strerror(-err));
}

static void rmmod(const struct module *module)
{
	printf("$ rmmod %s\n", module->name);
	module->exit();
	dlclose(module->handle);
}

int main(int argc, char **argv)
{
	struct module *modules;
	int wanted = argc - 1;
	int loaded = 0;

	if (wanted < 1) {
		fprintf(stderr, "usage: host MODULE.so...\n");
		return 2;
	}
	modules = calloc((size_t)wanted, sizeof(*modules));
	log_stream = open_memstream(&log_text, &log_size);
	if (!modules || !log_stream) {
		perror("host");
		return EXIT_FAILURE;
	}

	while (loaded < wanted && modprobe(&modules[loaded], argv[loaded + 1]))
		loaded++;
	for (int i = 0; i < loaded; i++)
		cat_proc(&modules[i]);
	for (int i = 0; i < loaded; i++)
		rmmod(&modules[i]);
	dmesg();

	fclose(log_stream);
	free(log_text);
	free(modules);
	return loaded == wanted ? EXIT_SUCCESS : EXIT_FAILURE;
}
