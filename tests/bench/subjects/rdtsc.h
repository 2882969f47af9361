/* SPDX-License-Identifier: MIT */
/* What no recorder that says when does without: a reading of the processor's counter, or else of the clock. */
#if defined(__x86_64__)
#define HIT(number, id, name) \
	do { \
		uint64_t time = __builtin_ia32_rdtsc(); \
		__asm__ volatile("" : : "r"(time), "r"((uint64_t)(number))); \
	} while (0)
#elif defined(__aarch64__)
#define HIT(number, id, name) \
	do { \
		uint64_t time; \
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(time) : "r"((uint64_t)(number))); \
	} while (0)
#else
#define HIT(number, id, name) \
	do { \
		struct timespec time; \
		clock_gettime(CLOCK_MONOTONIC, &time); \
	} while (0)
#endif
