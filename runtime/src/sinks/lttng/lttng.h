/* SPDX-License-Identifier: MIT */
/*
 * sinks/lttng/lttng.h - what the files of the LTTng sink need of each other. Each of them
 * uses those below it only:
 *
 *	sink.c              the sink
 *	  record.c          the way of a record into LTTng's ring buffers, past its filters
 *	  describe.c        an event as LTTng wants it described, and the memory of that
 *	    library.c       LTTng's libraries, loaded at run time
 *
 * The structures are LTTng-UST's, from its public headers. They are of version
 * 2.13, and what they hold there every liblttng-ust.so.1 knows: later ones only add
 * to their ends. Without the headers there is no sink, only tp_lttng_sink() that says so.
 */
#ifndef TP_LTTNG_H
#define TP_LTTNG_H

#include <signal.h>

#include <tp/sink.h>

#if defined(__has_include)
#if __has_include(<lttng/ust-events.h>) && __has_include(<lttng/ust-ringbuffer-context.h>) && \
	__has_include(<lttng/tracepoint-types.h>)
#define TP_HAS_LTTNG 1
#endif
#endif

#ifdef TP_HAS_LTTNG

#include <lttng/tracepoint-types.h>
#include <lttng/ust-events.h>
#include <lttng/ust-ringbuffer-context.h>

/* ---- library.c ---- */

/* The functions of LTTng's libraries that are called, once they are loaded. */
struct tp_lttng_library {
	struct lttng_ust_registered_probe *(*probe_register)(const struct lttng_ust_probe_desc *desc);
	void (*probe_unregister)(struct lttng_ust_registered_probe *probe);
	int (*module_register)(struct lttng_ust_tracepoint *const *start, int count);
	int (*module_unregister)(struct lttng_ust_tracepoint *const *start);
	void (*read_lock)(void);
	void (*read_unlock)(void);
	void (*init_thread)(void);
	void (*before_fork)(sigset_t *signals);
	void (*after_fork_parent)(sigset_t *signals);
	void (*after_fork_child)(sigset_t *signals);
	void (*rcu_before_fork)(void);
	void (*rcu_after_fork_child)(void);
};

extern struct tp_lttng_library tp_lttng;

/* Loads them, for ever: they have threads. 0, or -ELIBACC or -ENOTSUP, which was said. */
int tp_lttng_load(void);
/* They are loaded, and LTTng's own wrapper of fork(), liblttng-ust-fork.so, is not in the process. */
bool tp_lttng_handles_fork(void);
/*
 * In a forked child. False: another thread of the parent was loading or unloading a library. LTTng loads one
 * when it begins anew, and the loader would end the process; so LTTng's locks are free again, and no more.
 */
bool tp_lttng_begin_again(sigset_t *signals);

/* ---- describe.c: the memory ---- */

/* Memory that is never freed. */
struct tp_lttng_arena {
	struct tp_lttng_chunk *chunks;
};

/* Zeroed, and aligned for anything; NULL: no memory. */
void *tp_lttng_alloc(struct tp_lttng_arena *arena, size_t size);
char *tp_lttng_strdup(struct tp_lttng_arena *arena, const char *text);

/* ---- describe.c ---- */

/* A part of a record, as it goes into a ring buffer. */
enum tp_lttng_piece_kind {
	TP_LTTNG_BYTES,    /* size bytes at offset */
	TP_LTTNG_STRING,   /* the payload of the word at offset: text with its NUL */
	TP_LTTNG_SEQUENCE, /* the number of the payload's elements, then these */
};

struct tp_lttng_piece {
	enum tp_lttng_piece_kind kind;
	bool relative;      /* the word is a __rel_loc */
	uint8_t shift;      /* of a sequence: its elements have 1 << shift bytes */
	unsigned int align; /* in the ring buffer, of the first element, in bytes */
	uint32_t offset;    /* bytes from the record's start */
	uint32_t size;
};

/* The number of a sequence's elements, which stands in front of them. */
typedef uint16_t tp_lttng_length_t;

/* What a filter can ask for: a field's value as LTTng's interpreter has it on its stack. */
enum tp_lttng_operand_kind {
	TP_LTTNG_SIGNED,           /* int64_t */
	TP_LTTNG_UNSIGNED,         /* uint64_t */
	TP_LTTNG_FLOAT,            /* double */
	TP_LTTNG_ARRAY,            /* unsigned long, the number of elements, and where they are */
	TP_LTTNG_OPERAND_STRING,   /* where it is */
	TP_LTTNG_OPERAND_SEQUENCE, /* as an array */
};

struct tp_lttng_operand {
	enum tp_lttng_operand_kind kind;
	bool relative;
	uint8_t shift;   /* elements, or the value, have 1 << shift bytes */
	uint32_t offset; /* of the value, the elements or the word */
	uint32_t length; /* of an array, in elements */
};

/*
 * An event for LTTng, and the way of its records. Everything that LTTng may
 * look at is here and in the arena, nothing in the event's module,
 * so that it may be unloaded.
 *
 * LTTng holds what is to be called of an event, for each session that records it, in an array that hangs
 * on the tracepoint: on each tracepoint of that name, those of two layouts of one event too. We
 * walk through it ourselves; the function is but a mark of whose element it is: this structure's address.
 */
struct tp_lttng_event {
	struct lttng_ust_tracepoint tracepoint; /* state: some session may want the event */
	uint16_t id;                            /* of the event */
	unsigned int align;                     /* the largest of the pieces */
	uint32_t nr_pieces, nr_operands;
	struct tp_lttng_piece *pieces;
	struct tp_lttng_operand *operands;

	struct lttng_ust_event_desc desc;
	struct lttng_ust_tracepoint_class tp_class;
	const struct lttng_ust_event_field **fields;
	int loglevel;
	const int *loglevel_at;
};

static inline void (*tp_lttng_mark(const struct tp_lttng_event *event))(void)
{
	return (void (*)(void))(uintptr_t)event;
}

/*
 * An event for the provider, of which events are registered together. 0; -ENOMEM; -ENAMETOOLONG where
 * LTTng has no room for "system:event".
 */
int tp_lttng_describe(struct tp_lttng_arena *arena, const struct lttng_ust_probe_desc *provider,
		      const struct tp_event *event, struct tp_lttng_event **described);

/* ---- record.c ---- */

/* What a record needs until its commit is in rec->sink_data[0]. */
bool tp_lttng_reserve(struct tp_record *rec, struct tp_lttng_event *event);
void tp_lttng_commit(struct tp_record *rec);

#endif /* TP_HAS_LTTNG */

#endif /* TP_LTTNG_H */
