/* SPDX-License-Identifier: MIT */
/*
 * tp/event.h - events: the layout of their records and its description.
 *
 * A record is laid out like the kernel's: an 8-byte common header, then the
 * fixed fields, naturally aligned, then the payloads of the dynamic fields.
 * tpgen writes one struct tp_event for each event; sinks need nothing else to
 * read its records.
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

/* The last member of every record structure: where the dynamic payloads begin. C++ has no flexible array members. */
#ifdef __cplusplus
#define TP_DYNAMIC_DATA __extension__ char __data[0];
#else
#define TP_DYNAMIC_DATA char __data[];
#endif

/* Bytes of the longest record, header and payloads included: offsets in a record are 16 bits wide. */
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

/*
 * A field of the first three kinds is at offset itself. One of TP_STRING and
 * the later kinds has a __data_loc (or __rel_loc) word at offset, and its
 * payload after the fixed part.
 */
enum tp_field_kind {
	TP_FIELD,         /* __field: a scalar at offset */
	TP_STRUCT,        /* __field_struct: a structure at offset */
	TP_ARRAY,         /* __array: size / element_size elements at offset */
	TP_STRING,        /* __string, __string_len, __vstring: text with its NUL */
	TP_DYNAMIC_ARRAY, /* __dynamic_array: elements */
	TP_BITMASK,       /* __bitmask: bits, in unsigned longs; bit 0 is the lowest of the first */
	TP_CPUMASK,       /* __cpumask: the same, one bit for each CPU */
	TP_SOCKADDR,      /* __sockaddr: the bytes of a socket address */
};

/* The type of a field, or of each of its elements. */
enum tp_field_class {
	TP_INTEGER, /* includes bool and enumerations */
	TP_FLOAT,   /* IEEE 754, 4 or 8 bytes */
	TP_POINTER, /* as wide as a void * */
	TP_OTHER,   /* a structure, a union, a wider scalar: bytes only */
};

/*
 * A __data_loc word: the payload's length in bytes << 16 | its offset from
 * the record's start. In a __rel_loc word the offset counts from the word's
 * own end.
 *
 * Payloads are in field order; the first begins at the end of the fixed part.
 * A payload of elements wider than a byte, or of a bit mask, is aligned as its
 * elements are. The number of its elements comes first, a uint16_t at an even
 * offset, then padding, then the payload: readers of CTF count in elements.
 */
typedef uint32_t tp_data_loc_t;

/* A field, as tp_event_field_at() returns it. The texts are the class's, and stay as long as that does. */
struct tp_event_field {
	const char *name;
	const char *type;         /* the element's type as in the .tp file, white space collapsed: "char", "pid_t" */
	enum tp_field_kind kind;
	bool relative;            /* the word at offset is a __rel_loc */
	enum tp_field_class type_class;  /* of an element */
	uint32_t offset;          /* bytes from the record's start */
	uint32_t size;            /* bytes in the fixed part: of the array, or 4 for a __data_loc word */
	uint32_t element_size;    /* bytes of an element */
	uint32_t element_align;   /* its alignment in bytes */
	bool is_signed;           /* the element is a signed integer */
	bool is_char;             /* the element is a char: an array of it is text */
	bool is_hexadecimal;      /* an integer to be shown in base 16; only markers set it */
	const struct tp_symbols *symbols; /* the table with which TP_printk prints just this field, or NULL */
	const char *delimiter;    /* of __print_flags; NULL for __print_symbolic */
};

/*
 * The description of an event class: its events share the layout of their
 * record. It holds no pointers, so that it is data of the program's file, which
 * nothing has to touch when the program starts. Behind this structure stand
 *
 *	struct tp_field_numbers[nr_fields], at head_size
 *	struct tp_eval[nr_evals]
 *	tables of symbols: struct tp_symbols, its values, its texts
 *	texts, at text: of each field its name and its type, of each eval its name, and
 *	    the print format as ftrace has it behind "print fmt: ". A NUL ends each
 *
 * all aligned to 8 bytes but the texts. Read it by the functions below.
 */
struct tp_event_class {
	uint32_t fixed_size;      /* bytes of the record's fixed part; dynamic payloads begin here */
	uint32_t text;            /* bytes from the class's start */
	uint16_t nr_fields;
	uint16_t nr_evals;
	uint16_t head_size;       /* sizeof(struct tp_event_class) where the class was compiled ... */
	uint16_t numbers_size;    /* ... and sizeof(struct tp_field_numbers) */
};

/* A field's numbers. */
struct tp_field_numbers {
	uint32_t offset, size, element_size;
	uint16_t bits;            /* of the TP_BIT_s below, the rest */
	uint16_t symbols;         /* its table: bytes from the class's start, divided by 8; 0: none */
};

/* Where in bits what is. */
enum {
	TP_BIT_KIND = 0,          /* enum tp_field_kind, 3 bits */
	TP_BIT_RELATIVE = 3,
	TP_BIT_CLASS = 4,         /* enum tp_field_class, 2 bits */
	TP_BIT_SIGNED = 6,
	TP_BIT_CHAR = 7,
	TP_BIT_HEXADECIMAL = 8,
	TP_BIT_ALIGN = 9,         /* 3 bits: an element's alignment is 1 << them */
	TP_BIT_TYPE = 12,         /* 4 bits: which of C's types it is, see TP_C_TYPE; 0: another */
};

/*
 * A constant that a format names. Its name is that of a TRACE_DEFINE_ENUM, of
 * an enumeration or of a value in a table, or "sizeof(TYPE)".
 */
struct tp_eval {
	long long value;
	long long known;          /* 0: to the C compiler it is no constant */
};

/*
 * A table of values and their names. Behind it stand the values, and at names,
 * in bytes from the table's start, the texts: the delimiter if it is one of
 * flags, then the names. A NUL ends each.
 */
struct tp_symbols {
	uint16_t nr;
	uint16_t is_flags;        /* 1 for __print_flags; 0 for __print_symbolic */
	uint32_t names;
};

/* A value of a table, and its name. Zeros are in front of the first. */
struct tp_named_value {
	unsigned long long value;
	const char *name;
	uint32_t nr;              /* how many were before it, and itself */
};

/*
 * A value of a table as __print_symbolic and __print_flags see it: as an unsigned long. Where that has 32 bits, the value
 * was widened like any constant of C, so -1 is all ones; what has no room in a long is of a table of ..._u64.
 */
static inline unsigned long long tp_symbol_value(unsigned long long value)
{
	return (long long)value == (long)value ? (unsigned long)value : value;
}

/* Goes on to the next value of a table, or to the first. False: there is none, or symbols is NULL. */
static inline bool tp_named_value_next(const struct tp_symbols *symbols, struct tp_named_value *symbol)
{
	const char *name;

	if (!symbols || symbol->nr == symbols->nr)
		return false;
	name = symbol->nr ? symbol->name : (const char *)symbols + symbols->names;
	if (symbol->nr || symbols->is_flags) {
		while (*name++)
			;
	}
	symbol->name = name;
	symbol->value = tp_symbol_value(((const unsigned long long *)(symbols + 1))[symbol->nr++]);
	return true;
}

/* A field of a class, by its number from 0, which must be less than nr_fields. Takes no lock, allocates no memory. */
TP_PUBLIC void tp_event_field_at_sized(const struct tp_event_class *event_class, uint32_t i, struct tp_event_field *field,
				       size_t size);

static inline struct tp_event_field tp_event_field_at(const struct tp_event_class *event_class, uint32_t i)
{
	struct tp_event_field field;

	tp_event_field_at_sized(event_class, i, &field, sizeof(field));
	return field;
}

/* The importance of an event, with the numbers of syslog and LTTng-UST: a lower number is more important. */
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
	TP_LOGLEVEL_DEBUG_LINE, /* the default of an event */
	TP_LOGLEVEL_DEBUG,
};

struct tp_event {
	/* All but id and reserved is the module's. Until somebody asks for a tracepoint, all of it is 0. */
	const char *system;       /* "sched" */
	const char *name;         /* "sched_switch" */
	const struct tp_event_class *event_class;
	struct tracepoint *tracepoint;
	/*
	 * The record writer, the generated tp_record_NAME(): a probe of the
	 * tracepoint whose data is a struct tp_sink *.
	 */
	tp_probe_t record;
	/* Appends a record's TP_printk text. entry is a whole record, payloads included. */
	void (*print)(struct trace_seq *p, const void *entry);
	enum tp_loglevel loglevel;
	/*
	 * The common_type of the event's records, from 1. Set by the runtime. It is
	 * unique in the process, and never used again for another layout. It is
	 * 0 while the module is not loaded, and if all 65535 ids are taken.
	 */
	uint16_t id;
	void *reserved[2];        /* for the runtime */
};

/*
 * Appends the text of the event's format file, as ftrace has it in
 * events/SYSTEM/NAME/format. With this text, libtraceevent and the tools that
 * use it can read the event's records. Its parts:
 *
 *	name: NAME
 *	ID: the event's id, which is common_type of its records
 *	format: a line for each field: its declaration, its offset from the
 *		record's start and its size, both in bytes, and whether its
 *		elements are signed
 *	print fmt: the text of TP_printk, with REC as the record
 *
 * If the class has evals, their values replace their names in two places:
 * between the brackets of a type; and in the print format, but not in its
 * strings, nor for a name that is a member's.
 *
 * If the event's module is not loaded, the id is 0. Takes no lock and
 * allocates no memory, so it can be called anywhere, including
 * tp_for_each_event() and a sink's describe_event; but if nobody has asked for a
 * tracepoint yet, it does first what tp_for_each_event() would do.
 *
 * 0        success
 * -EINVAL  event or its class is NULL
 * -ENOSPC  s is full
 */
TP_PUBLIC int tp_event_format(const struct tp_event *event, struct trace_seq *s);

/*
 * Calls fct for each event of each loaded module, in order of the ids. A lock
 * is held meanwhile: fct must not enable events.
 */
TP_PUBLIC void tp_for_each_event(void (*fct)(const struct tp_event *event, void *data), void *data);

#ifdef __cplusplus
}
#endif

#endif /* TP_EVENT_H */
