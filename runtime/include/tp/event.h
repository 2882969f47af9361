/* SPDX-License-Identifier: MIT */
/*
 * tp/event.h - events: the layout of their records and its description.
 *
 * A record is the kernel's: an 8-byte common header, the fixed fields
 * naturally aligned behind it, the payloads of the dynamic fields behind
 * those. tpgen writes one struct tp_event for each event; sinks read
 * records by nothing else.
 */
#ifndef TP_EVENT_H
#define TP_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tp/tracepoint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct trace_seq;

/*
 * The head of every record. ftrace's names for the members are common_type,
 * common_flags, common_preempt_count and common_pid.
 */
struct trace_entry {
	uint16_t type;         /* the event's id, see struct tp_event */
	uint8_t flags;         /* 0 */
	uint8_t preempt_count; /* 0 */
	int32_t pid;           /* the thread's id (gettid), as in ftrace */
};

/*
 * The last member of every record structure: where the dynamic payloads
 * begin. C++ has no flexible array members, and no use for this one.
 */
#ifdef __cplusplus
#define TP_DYNAMIC_DATA
#else
#define TP_DYNAMIC_DATA char __data[];
#endif

/* No record is longer, header and payloads included: offsets in it are 16 bits wide. */
#define TP_RECORD_MAX 65528

/* A value and its name, in __print_flags (a mask) and __print_symbolic. Tables end with a NULL name. */
struct trace_print_flags {
	unsigned long mask;
	const char *name;
};

/* The same for __print_flags_u64 and __print_symbolic_u64. */
struct trace_print_flags_u64 {
	unsigned long long mask;
	const char *name;
};

/* From TP_STRING on there is a __data_loc (or __rel_loc) word at offset; the payload is behind the fixed part. */
enum tp_field_kind {
	TP_FIELD,         /* __field: a scalar at offset */
	TP_STRUCT,        /* __field_struct: a structure at offset */
	TP_ARRAY,         /* __array: size / element_size elements at offset */
	TP_STRING,        /* __string, __string_len, __vstring: text with its NUL */
	TP_DYNAMIC_ARRAY, /* __dynamic_array: elements */
	TP_BITMASK,       /* __bitmask: bits, in unsigned longs; bit 0 is the lowest of the first */
	TP_CPUMASK,       /* __cpumask: the same, a bit a CPU */
	TP_SOCKADDR,      /* __sockaddr: the bytes of a socket address */
};

/* What the bytes of a field, or of one of its elements, are. */
enum tp_field_class {
	TP_INTEGER, /* also bool and enumerations */
	TP_FLOAT,   /* IEEE 754, 4 or 8 bytes */
	TP_POINTER, /* as wide as the machine's */
	TP_OTHER,   /* a structure, a union, a wider scalar: bytes only */
};

/*
 * A __data_loc word: the payload's length in bytes << 16 | its offset from
 * the record's start. In a __rel_loc word the offset counts from the word's
 * own end. A payload whose elements are wider than a byte, bit masks too,
 * starts at their alignment; its number of elements stands as a uint16_t (at
 * an even offset) between the end of what is in front of it and the padding
 * to that alignment, for readers of CTF, who count in elements.
 * Payloads stand in field order; the first begins where the fixed part ends.
 */
typedef uint32_t tp_data_loc_t;

struct tp_event_field {
	const char *name;
	const char *type;         /* the element's type as written, white space collapsed: "char", "pid_t" */
	enum tp_field_kind kind;
	bool relative;            /* the word at offset is a __rel_loc */
	enum tp_field_class type_class;  /* of an element */
	uint32_t offset;          /* bytes from the record's start */
	uint32_t size;            /* bytes in the fixed part: of the array, or 4 for a __data_loc word */
	uint32_t element_size;    /* bytes of an element */
	uint32_t element_align;   /* its alignment in bytes */
	bool is_signed;           /* the element is a signed integer */
	bool is_char;             /* the element is a char: an array of it is text */
	const struct trace_print_flags *symbols; /* the table by which TP_printk prints this very field, or NULL */
	const char *delimiter;    /* of __print_flags; NULL for __print_symbolic. TP_DESCRIBE sets both at once */
	bool is_hexadecimal;      /* an integer that people read in base 16; markers' only */
};

/*
 * A constant that a format names: of TRACE_DEFINE_ENUM or of an enumeration, a
 * value in a table, "sizeof(TYPE)". "" is no constant. Tables end with a NULL name.
 */
struct tp_eval {
	const char *name;
	long long value;
};

/* What the events of a class share: the record and how it reads. */
struct tp_event_class {
	const struct tp_event_field *fields;
	uint32_t nr_fields;
	uint32_t field_size;      /* bytes of a struct tp_event_field as its module has it; 0: as its reader has it */
	uint32_t fixed_size;      /* bytes of the fixed part; dynamic payloads begin here */
	const char *print_fmt;    /* what ftrace prints behind "print fmt: ", but for the evals */
	const struct tp_eval *evals; /* those that print_fmt or a field's type names, or NULL */
	/* Appends the event's TP_printk text. entry is a whole record, payloads included. */
	void (*print)(struct trace_seq *p, const void *entry);
};

/* A field by its number, from 0. Modules of older interfaces have shorter descriptions, so fields[i] is not for readers. */
static inline const struct tp_event_field *tp_event_field_at(const struct tp_event_class *event_class, uint32_t i)
{
	const size_t size = event_class->field_size ? event_class->field_size : sizeof(struct tp_event_field);

	return (const struct tp_event_field *)((const char *)event_class->fields + i * size);
}

/* How much an event matters, as syslog and LTTng-UST count: what is lower matters more. */
enum tp_loglevel {
	TP_LOGLEVEL_EMERG,
	TP_LOGLEVEL_ALERT,
	TP_LOGLEVEL_CRIT,
	TP_LOGLEVEL_ERR,
	TP_LOGLEVEL_WARNING,
	TP_LOGLEVEL_NOTICE,
	TP_LOGLEVEL_INFO,
	TP_LOGLEVEL_DEBUG_SYSTEM,
	TP_LOGLEVEL_DEBUG_PROGRAM,
	TP_LOGLEVEL_DEBUG_PROCESS,
	TP_LOGLEVEL_DEBUG_MODULE,
	TP_LOGLEVEL_DEBUG_UNIT,
	TP_LOGLEVEL_DEBUG_FUNCTION,
	TP_LOGLEVEL_DEBUG_LINE, /* of events that don't say */
	TP_LOGLEVEL_DEBUG,
};

struct tp_event {
	const char *system;       /* "sched" */
	const char *name;         /* "sched_switch" */
	const struct tp_event_class *event_class;
	struct tracepoint *tracepoint;
	/*
	 * The record writer: a probe of the tracepoint whose data is a
	 * struct tp_sink *. The generated tp_record_NAME().
	 */
	tp_probe_t record;
	enum tp_loglevel loglevel;
	/*
	 * common_type of its records: unique in the process, from 1, never used
	 * again for another layout; 0 while the module is not loaded, or where
	 * all 65535 are taken. Set by the runtime.
	 */
	uint16_t id;
	void *reserved[2];        /* for the runtime */
};

/*
 * Appends the text of the event's format file, as ftrace has it in
 * events/SYSTEM/NAME/format: with it, libtraceevent, and whatever is built on
 * that, reads the event's records. Its parts:
 *
 *	name: NAME
 *	ID: the event's id, which is common_type of its records
 *	format: a line a field: its declaration, and in bytes from the record's
 *		start its offset, its size, and whether its elements are signed
 *	print fmt: the text of TP_printk, the record being REC
 *
 * Where the class has evals, their names are replaced by their values in the
 * print format, outside of its strings and where they are no member's name,
 * and between the brackets of a type.
 *
 * The event may be that of a module that is not loaded, and has the id 0
 * then. Takes no lock and no memory: may be called anywhere, also in
 * tp_for_each_event() and in a sink's describe_event.
 *
 * 0; -EINVAL where event or its class is NULL; -ENOSPC where s is full.
 */
TP_PUBLIC int tp_event_format(const struct tp_event *event, struct trace_seq *s);

/* Calls fct for each event of each loaded module, in order of their ids, under a lock: fct must not enable events. */
TP_PUBLIC void tp_for_each_event(void (*fct)(const struct tp_event *event, void *data), void *data);

#ifdef __cplusplus
}
#endif

#endif /* TP_EVENT_H */
