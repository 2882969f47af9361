/* SPDX-License-Identifier: MIT */
/* host.c - a program without a tracepoint: host MODULE N loads a module, and has it hit its event N times. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *module = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*hit)(int n) = module ? (void (*)(int))(uintptr_t)dlsym(module, "hit") : NULL;

	for (int n = 0; hit && n < atoi(argv[2]); n++)
		hit(n);
	return hit ? 0 : 1;
}
