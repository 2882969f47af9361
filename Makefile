# SPDX-License-Identifier: MIT
# tpgen: Linux-kernel tracepoints for user-space C. "make help" lists the targets.

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all

ifneq ($(filter deps,$(MAKECMDGOALS)),)

# "make deps check": first deps, then a make of its own that finds what deps has installed.
REST := $(filter-out deps,$(MAKECMDGOALS))
.PHONY: deps rest $(REST)
deps:
	@.ci/deps $(if $(filter-out demo all generate install uninstall dist clean help,$(REST)),check,$(if $(filter demo,$(REST)),demo,build))
$(REST): rest ;
rest: deps
	@$(MAKE) --no-print-directory $(REST)

else

BUILD := build
VERSION = $(shell sed -n 's/^.define TP_VERSION "\(.*\)"/\1/p' runtime/include/tp/tracepoint.h)
# Of the version: what the man pages are dated.
DATE := 2026-11-27
# Programs that the library does not serve look for a library of another name.
ABI := $(shell sed -n 's/^.define TP_SONAME //p' runtime/src/core/interface.h)
SONAME := libtp.so.$(ABI)
INTERFACE = $(shell sed -n 's/^.define TP_INTERFACE_VERSION //p' runtime/include/tp/tracepoint.h)

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
CFLAGS ?= -O2 -g
CXXFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion
# On 32-bit processors, what others have anyway: files and times beyond 32 bits, and stacks that can be followed.
WIDE := $(if $(filter 4,$(shell echo __SIZEOF_POINTER__ | $(CC) $(CFLAGS) -E -P - 2>/dev/null)),-D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -funwind-tables)
OUR_CFLAGS := -std=gnu11 -D_GNU_SOURCE $(WIDE) -fPIC -fvisibility=hidden $(WARNINGS)
LIBS := -lurcu-bp -lpthread

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=

# Quiet lines; V=1 shows the commands.
Q := $(if $(V),,@)
say = @$(if $(V),:,printf '  %-7s %s\n' $(1) $(2))

# The first Python that can run tpgen, looked for when it is first needed.
PYTHONS := python3 /usr/bin/python3
ifeq ($(origin PYTHON),undefined)
PYTHON = $(eval PYTHON := $(shell for p in $(PYTHONS); do \
	$$p -c 'import jinja2, pycparser' 2>/dev/null && echo $$p && break; done))$(or $(PYTHON),$(error \
	none of these runs tpgen, for want of Jinja2 or pycparser: $(PYTHONS). "make deps" installs them; \
	or install python3-jinja2 and python3-pycparser; or say PYTHON=/path/to/a/python3/that/has/them))
endif
TPGEN = CC='$(CC)' PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m tpgen
TPGEN_SOURCES := $(wildcard tpgen/*.py tpgen/*/*.py templates/*/*.j2)

.PHONY: all generate demo check check-rest check-all coverage mutate torture bench bench-core bench-record bench-sinks bench-start bench-control bench-read \
	install uninstall dist deps clean help examples check-programs check-units check-kernel freeze-interface
all: $(BUILD)/libtp.a $(BUILD)/libtp.so $(BUILD)/tp $(BUILD)/help.stamp generate

help:
	@echo 'make all       the runtime libraries, the tools and the generated headers (the default)'
	@echo 'make generate  generated/*.h from defs/*.tp'
	@echo 'make demo      trace a real program, and look at the trace'
	@echo 'make check     the tests to run before a commit; T=NAME for all whose name contains NAME'
	@echo 'make check-all  these, and what takes longer: more compilers, sanitizers, processors, kernels, storms; T=NAME'
	@echo 'make check-rest  only what check-all has more than check'
	@echo 'make check-units  only the unit tests, without sanitizers: for whoever builds a package'
	@echo 'make check-kernel  tpgen on all of the kernel'"'"'s own headers; make check-all takes a tenth of them'
	@echo 'make coverage  what of runtime/src and tpgen the tests run, with WHICH=check (the default), rest or all; T=NAME, also of all'
	@echo 'make mutate    mistakes made in copies of the runtime: a test must notice each; T=NAME for those of that name or file'
	@echo 'make torture   everything at once against the core, for SECONDS=$(SECONDS) in each way to build it'
	@echo 'make bench     what tracepoints cost here, beside other ways to trace'
	@echo 'make bench-core  what the core costs, and its goals; UPDATE=1 for the documents'
	@echo 'make bench-record  what recording costs, and its goals; UPDATE=1 for the documents'
	@echo 'make bench-sinks  what each sink costs, beside its tool'"'"'s own way; UPDATE=1 for the documents'
	@echo 'make bench-start  what the start with many tracepoints costs, and memory; UPDATE=1 for the documents'
	@echo 'make bench-control  how long it takes to look into a process; UPDATE=1 for the documents'
	@echo 'make bench-read  what reading a trace of READ_MB=100 costs; UPDATE=1 for the documents'
	@echo 'make install   to PREFIX=$(PREFIX), LIBDIR=$(LIBDIR), below DESTDIR=$(DESTDIR); "make uninstall" with the same'
	@echo 'make dist      the release of HEAD, $(BUILD)/tpgen-$(VERSION).tar.xz: always the same bytes'
	@echo 'make deps      install what building needs, through apt-get; "make deps demo", "make deps check": what those need'
	@echo 'make freeze-interface  keep a program of this interface for the tests of all later libraries, when it is released'
	@echo 'make clean     remove $(BUILD)/'
	@echo
	@echo 'V=1 shows whole commands. CC, CXX, CFLAGS, CXXFLAGS, CPPFLAGS, LDFLAGS and PYTHON are honoured.'

# ---- Generated headers ----

GENERATED := $(patsubst defs/%.tp,generated/%.h,$(wildcard defs/*.tp))
generate: $(GENERATED)

# tpgen leaves a header alone that would not change; the stamp says when it has looked. The recipe of a header is for one
# that has been deleted; behind it, make looks whether the header has changed.
generated/%.h: $(BUILD)/generated/%.stamp defs/%.tp
	$(if $(shell [ -e $@ ] || echo deleted),$(Q)$(TPGEN) gen -o generated $(word 2,$^))
$(BUILD)/generated/%.stamp: defs/%.tp $(TPGEN_SOURCES)
	$(call say,TPGEN,generated/$*.h)
	$(Q)mkdir -p $(@D)
	$(Q)$(TPGEN) gen --depfile $(@:.stamp=.d) --stamp $@ -o generated $<
-include $(GENERATED:generated/%.h=$(BUILD)/generated/%.d)

# ---- The runtime ----

comma := ,

# Objects of variant $(1), which are compiled with $(2) as well, stand below $(BUILD)/$(1).
RUNTIME := $(sort $(shell find runtime/src -name '*.c'))
TOOL := $(sort $(shell find runtime/tools -name '*.c'))
define variant
$$(BUILD)/$(1)/%.o: %.c | $$(GENERATED)
	$$(call say,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CPPFLAGS) $$(OUR_CFLAGS) $$(CFLAGS) $(2) -Iruntime/include -iquote generated $$(if $$(filter runtime/% tests/unit/%,$$<),-iquote runtime/src) $$(if $$(filter runtime/tools/%,$$<),-iquote runtime/tools) -MMD -MP -c -o $$@ $$<
-include $$(patsubst %.c,$$(BUILD)/$(1)/%.d,$$(RUNTIME) $$(TOOL) $$(wildcard tests/unit/*.c examples/*/*.c))
endef

# liburcu 0.13 places its per-thread structures at odd addresses, hence no alignment check. clang's check of function
# types needs the C++ library, with which a C program is not linked.
FRAMES := -fno-omit-frame-pointer
SANITIZE := -fsanitize=address,undefined -fno-sanitize=alignment$(if $(findstring clang,$(CC)),$(comma)function) -fno-sanitize-recover=all $(FRAMES)
$(eval $(call variant,obj,))
$(eval $(call variant,asan,$(SANITIZE) -DTP_CHECK_RANKS=1))
$(eval $(call variant,tsan,-fsanitize=thread $(FRAMES) -DTP_CHECK_RANKS=1))
$(eval $(call variant,ranks,-DTP_CHECK_RANKS=1))

# Files of several folders have the same name, so members are called after both: core-probes.o.
$(BUILD)/libtp.a: $(RUNTIME:%.c=$(BUILD)/obj/%.o)
	$(call say,AR,$@)
	$(Q)rm -rf $@ $(BUILD)/members && mkdir -p $(BUILD)/members
	$(Q)for o in $^; do name=$${o#$(BUILD)/obj/runtime/src/}; \
		ln $$o $(BUILD)/members/$$(echo $$name | tr / -) || exit 1; done
	$(Q)cd $(BUILD)/members && $(AR) rcs ../$(@F) *.o

# Those of the variants that tests link. Hidden functions can be called where the archive is linked.
define variant_libraries
$$(BUILD)/$(1)/libtp.so: $$(RUNTIME:%.c=$$(BUILD)/$(1)/%.o)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $(2) -shared -Wl,-soname,libtp.so -Wl,-z,nodelete $$(LDFLAGS) -o $$@ $$^ $$(LIBS)
$$(BUILD)/$(1)/libtp.a: $$(RUNTIME:%.c=$$(BUILD)/$(1)/%.o)
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@ && $$(AR) rcsP $$@ $$^
endef
$(eval $(call variant_libraries,asan,$(SANITIZE)))
$(eval $(call variant_libraries,tsan,-fsanitize=thread))
$(eval $(call variant_libraries,ranks,))

# The names have a version, so that where a process has libtp.so of two SONAMEs, each module finds its own. Each is
# written as a pattern, as linkers complain of names that only other processors have.
$(BUILD)/libtp.map: runtime/libtp.symbols runtime/src/core/interface.h
	$(Q)mkdir -p $(@D)
	$(Q)(echo 'LIBTP_$(ABI) { global:'; sed '/^#/d; s/.$$/[&];/' $<; echo 'local: *; };') >$@

$(BUILD)/libtp.so: $(RUNTIME:%.c=$(BUILD)/obj/%.o) $(BUILD)/libtp.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=$(BUILD)/libtp.map -Wl,-z,defs -Wl,-z,nodelete $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)
	$(Q)ln -sf $(@F) $(@D)/$(SONAME)

# ---- Tools ----

# What they have of the library: patterns, filters, format files, the formats of markers, the metadata of traces, their clock, what
# TP_printk calls, the encoder of Perfetto's packets.
TOOL_SHARED := $(addprefix runtime/src/,base/clock.c base/error_name.c base/file.c base/nearest.c base/pid_name.c base/text.c base/thread.c base/tracefs.c count/key.c count/names.c count/pairs.c events/marker_format.c \
	events/pattern.c filter/compile.c filter/decimal.c filter/described.c filter/evaluate.c filter/fields.c filter/operand.c filter/parse.c filter/predicate.c filter/value.c \
	print/description.c print/format.c print/helpers.c print/object.c print/pointer.c print/printf.c print/seq.c print/symbol.c \
	sinks/ctf/describe/metadata.c sinks/ctf/describe/string.c sinks/perfetto/proto.c sinks/perfetto/track_event.c)
define tool_variant
$$(BUILD)/$(1): $$(patsubst %.c,$$(BUILD)/$(2)/%.o,$$(TOOL) $$(TOOL_SHARED))
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $(3) $$(LDFLAGS) -o $$@ $$^
endef
$(eval $(call tool_variant,tp,obj,))
$(eval $(call tool_variant,asan/tp,asan,$(SANITIZE)))
# All of tp but tp.c, for traces by the thousand; its headers are those of tp.
$(BUILD)/asan/reader: tests/hostile/reader.c $(patsubst %.c,$(BUILD)/asan/%.o,$(filter-out runtime/tools/tp.c,$(TOOL)) $(TOOL_SHARED))
	$(call say,LD,$@)
	$(Q)$(CC) $(CPPFLAGS) $(OUR_CFLAGS) $(CFLAGS) $(SANITIZE) -Iruntime/include -iquote runtime/src -iquote runtime/tools $(LDFLAGS) -o $@ $^
# The man pages and the shells' functions, which tp writes of its own tables; and man pages that are made of documents.
# Of another processor, it does not run here: then it is one that does.
HOST_TP ?= $(BUILD)/tp
COMMANDS := $(shell sed -n 's/^\tX(\([a-z]*\)).*/\1/p' runtime/tools/commands/commands.h)
PAGES := tp.1 $(COMMANDS:%=tp-%.1) tpgen.1 libtp.3 tp-language.5 tp-environment.7
MANPAGE = PYTHONDONTWRITEBYTECODE=1 $(PYTHON) docs/manpage.py
DOCUMENTS := $(shell find docs -name '*.md' -o -name '*.svg')
# Of another processor, it does not run here: then it is one that does.
HOST_TP ?= $(BUILD)/tp
$(BUILD)/help.stamp: export DATE := $(DATE)
$(BUILD)/help.stamp: export VERSION := $(VERSION)
$(BUILD)/help.stamp: $(BUILD)/tp Makefile docs/manpage.py docs/api.md docs/environment.md docs/language.md tpgen/cli.py
	$(call say,HELP,'$(BUILD)/man $(BUILD)/completions')
	$(Q)rm -rf $(BUILD)/man $(BUILD)/completions && mkdir -p $(BUILD)/man $(BUILD)/completions
	$(Q)$(HOST_TP) help --man >$(BUILD)/man/tp.1 || { echo '$(HOST_TP) does not run here, and is to write the man pages: \
		build tp for this machine, too, and say HOST_TP=build/tp' >&2; exit 1; }
	$(Q)for c in $(COMMANDS); do $(HOST_TP) help --man $$c >$(BUILD)/man/tp-$$c.1 || exit 1; done
	$(Q)$(MANPAGE) --tpgen >$(BUILD)/man/tpgen.1
	$(Q)$(MANPAGE) libtp 3 'tracepoints in C programs' api.md >$(BUILD)/man/libtp.3
	$(Q)$(MANPAGE) tp-language 5 'the language of .tp files' language.md >$(BUILD)/man/tp-language.5
	$(Q)$(MANPAGE) tp-environment 7 'variables that tracing obeys' environment.md >$(BUILD)/man/tp-environment.7
	$(Q)$(HOST_TP) help --completion bash >$(BUILD)/completions/tp
	$(Q)$(HOST_TP) help --completion zsh >$(BUILD)/completions/_tp
	$(Q)touch $@

$(BUILD)/obj/runtime/tools/help/man.o $(BUILD)/asan/runtime/tools/help/man.o: OUR_CFLAGS += -DTP_DATE='"$(DATE)"'

# ---- Examples ----

PGZ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard examples/pgz/*.c))
$(BUILD)/examples/pgz/pgz: $(PGZ) $(BUILD)/libtp.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lz $(LIBS)

# The seeds of the project: two modules, and the program that loads them.
MODULES := $(BUILD)/examples/tracepoint-example
$(MODULES)/%.so: $(BUILD)/libtp.so
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-rpath,'$$ORIGIN/../..' -o $@ $(filter %.o,$^) -L$(BUILD) -ltp $(LIBS)
$(MODULES)/tracepoint-example.so: $(BUILD)/obj/examples/tracepoint-example/tracepoint-example.o
$(MODULES)/tracepoint-probe-example.so: $(BUILD)/obj/examples/tracepoint-probe-example/tracepoint-probe-example.o
# -rdynamic: the modules call printk() of the host.
$(MODULES)/host: $(BUILD)/obj/examples/tracepoint-example/host.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -rdynamic -o $@ $< -ldl

# The fourth of the seeds: a tracepoint, and a marker in its probe. Its header is its own, as there is another sched_switch.
SCHED := $(BUILD)/examples/sched-trace
$(SCHED)/sched-trace.h: $(SCHED)/sched-trace.stamp ;
$(SCHED)/sched-trace.stamp: examples/sched-trace/sched-trace.tp $(TPGEN_SOURCES)
	$(call say,TPGEN,$(@:.stamp=.h))
	$(Q)mkdir -p $(@D)
	$(Q)$(TPGEN) gen --stamp $@ -o $(@D) $<
SCHED_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard examples/sched-trace/*.c))
$(SCHED_OBJECTS): $(SCHED)/sched-trace.h
$(SCHED_OBJECTS): OUR_CFLAGS += -iquote $(SCHED)
$(SCHED)/sched-trace: $(SCHED_OBJECTS) $(BUILD)/libtp.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

# A server whose late traces have the initial state.
STATE := $(BUILD)/examples/state
$(STATE)/conn.h: $(STATE)/conn.stamp ;
$(STATE)/conn.stamp: examples/state/conn.tp $(TPGEN_SOURCES)
	$(call say,TPGEN,$(@:.stamp=.h))
	$(Q)mkdir -p $(@D)
	$(Q)$(TPGEN) gen --stamp $@ -o $(@D) $<
$(BUILD)/obj/examples/state/server.o: $(STATE)/conn.h
$(BUILD)/obj/examples/state/server.o: OUR_CFLAGS += -iquote $(STATE)
$(STATE)/server: $(BUILD)/obj/examples/state/server.o $(BUILD)/libtp.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

# What servers do with processes and rights.
SERVERS := $(BUILD)/examples/servers
$(SERVERS)/web.h: $(SERVERS)/web.stamp ;
$(SERVERS)/web.stamp: examples/servers/web.tp $(TPGEN_SOURCES)
	$(call say,TPGEN,$(@:.stamp=.h))
	$(Q)mkdir -p $(@D)
	$(Q)$(TPGEN) gen --stamp $@ -o $(@D) $<
$(BUILD)/obj/examples/servers/web.o: $(SERVERS)/web.h
$(BUILD)/obj/examples/servers/web.o: OUR_CFLAGS += -iquote $(SERVERS)
$(SERVERS)/web: $(BUILD)/obj/examples/servers/web.o $(BUILD)/libtp.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

# In C++, from the creation of the tracepoints on.
CACHE := $(BUILD)/examples/cxx
$(CACHE)/cache.h: $(CACHE)/cache.stamp ;
$(CACHE)/cache.stamp: examples/cxx/cache.tp $(TPGEN_SOURCES)
	$(call say,TPGEN,$(@:.stamp=.h))
	$(Q)mkdir -p $(@D)
	$(Q)$(TPGEN) gen --stamp $@ -o $(@D) $<
CACHE_OBJECTS := $(patsubst examples/cxx/%.cc,$(CACHE)/%.o,$(wildcard examples/cxx/*.cc))
$(CACHE)/%.o: examples/cxx/%.cc $(CACHE)/cache.h
	$(call say,CXX,$@)
	$(Q)$(CXX) -std=c++17 $(WARNINGS) $(CXXFLAGS) -Iruntime/include -iquote $(CACHE) -MMD -MP -c -o $@ $<
-include $(CACHE_OBJECTS:.o=.d)
$(CACHE)/cache: $(CACHE_OBJECTS) $(BUILD)/libtp.a
	$(call say,LD,$@)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $^ $(LIBS)

examples: $(BUILD)/examples/pgz/pgz $(SCHED)/sched-trace $(STATE)/server $(SERVERS)/web $(CACHE)/cache $(MODULES)/host \
	$(MODULES)/tracepoint-example.so $(MODULES)/tracepoint-probe-example.so

demo: $(BUILD)/examples/pgz/pgz $(BUILD)/tp
	$(Q)examples/pgz/demo.sh $(BUILD)

# ---- Tests ----

UNITS := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
UNIT_HELPERS := $(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c))
CHECK_LIBS = $(or $(shell pkg-config --libs check 2>/dev/null),$(error \
	check, the unit test framework, or pkg-config is not installed: "make deps check" installs them))

# Unit tests see the runtime's hidden functions, so they are linked with its objects.
define unit_variant
$$(BUILD)/$(1)/unit/%: $$(BUILD)/$(1)/tests/unit/%.o $$(patsubst %.c,$$(BUILD)/$(1)/%.o,$$(UNIT_HELPERS) $$(RUNTIME))
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $(2) $$(LDFLAGS) -o $$@ $$^ $$(CHECK_LIBS) $$(LIBS)
endef
$(eval $(call unit_variant,obj,))
$(eval $(call unit_variant,asan,$(SANITIZE)))

check-programs: all examples $(UNITS:%=$(BUILD)/obj/unit/%) $(UNITS:%=$(BUILD)/asan/unit/%) $(BUILD)/asan/tp $(BUILD)/asan/reader

RUN_TESTS = CC='$(CC)' CXX='$(CXX)' PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/run.py
check check-rest check-all: check-programs
	$(Q)$(RUN_TESTS) $(if $(T),all $(T),$(@:check-%=%))

# As a package's build wants it: several at once, without the harness.
.PHONY: $(UNITS:%=run-%)
check-units: $(UNITS:%=run-%)
$(UNITS:%=run-%): run-%: $(BUILD)/obj/unit/%
	$(Q)TPGEN_TESTS=check $<

# Of these, only those on the kernel's own headers, and on all of them.
check-kernel: $(BUILD)/libtp.a
	$(Q)KERNEL=all $(RUN_TESTS) all kernel/test_

# For a new TP_INTERFACE_VERSION: docs/internals/architecture.md, Interfaces.
freeze-interface: all
	$(Q)CC='$(CC)' PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/interfaces/freeze.py

# In a copy of the tree. PYTHON is one that has Debian's python3-coverage.
coverage: PYTHON = /usr/bin/python3
coverage:
	$(Q)$(PYTHON) tests/coverage/measure.py $(or $(WHICH),$(if $(T),all,check)) $(T)

# Each mistake in tests/mutate/mutations.py, and the survivors.
mutate: check-programs
	$(Q)CC='$(CC)' CXX='$(CXX)' PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/mutate/mutate.py $(if $(T),'$(T)')

# As many seconds as one likes of what "make check" has two of, in each of the ways to build it.
SECONDS ?= 60
torture: $(BUILD)/libtp.a
	$(Q)CC='$(CC)' CXX='$(CXX)' SECONDS=$(SECONDS) PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/torture/variants.py
	$(Q)CC='$(CC)' SECONDS=$(SECONDS) PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/roundtrip/test_random.py
	$(Q)SECONDS=$(SECONDS) $(RUN_TESTS) all ctf/test_

bench: $(BUILD)/libtp.a $(BUILD)/tp
	$(Q)CC='$(CC)' PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/bench/bench.py $(BUILD)

# Those of the core alone, of recording, or of the sinks; UPDATE=1 writes them into docs/internals/bench-tables.md,
# some of their rows into docs/performance.md, and the pictures.
bench-core bench-record bench-sinks bench-start bench-control bench-read: bench-%: $(BUILD)/libtp.a $(BUILD)/tp
	$(Q)CC='$(CC)' PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/bench/bench.py $(BUILD) $*

# ---- Installing ----

INSTALLED := $(DESTDIR)$(PREFIX)
INSTALLED_LIB := $(DESTDIR)$(LIBDIR)
COMPLETIONS := share/bash-completion/completions/tp share/zsh/site-functions/_tp
# How programs find the library where the loader does not look anyway, as it does in Debian's directory for an architecture.
MULTIARCH = $(and $(filter /lib/ /usr/lib/,$(dir $(LIBDIR))),$(findstring -linux-,$(notdir $(LIBDIR))))
RPATH = $(if $(filter /lib /lib64 /usr/lib /usr/lib64,$(LIBDIR))$(MULTIARCH),,-Wl$(comma)-rpath$(comma)$(LIBDIR))
PLACES = -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@RPATH@|$(RPATH)|' -e 's|@UNUSUAL_LIBDIR@|$(if $(RPATH),$(LIBDIR))|' -e 's|@VERSION@|$(VERSION)|'
# What CMake asks for besides: all paths from its own, and the processor by the name of its libraries' directory in Debian.
CMAKE_PLACES = $(PLACES) -e "s|@PREFIX_OF_LIBDIR@|$$(realpath -ms --relative-to='$(LIBDIR)' '$(PREFIX)')|" -e 's|@SONAME@|$(SONAME)|' \
	-e "s|@TRIPLET@|$$($(CC) -dumpmachine | sed -e 's/-[^-]*-linux/-linux/' -e 's/^i.86-/i386-/')|" \
	-e 's|@INTERFACE@|$(INTERFACE)|' -e 's|@VERSION_MAJOR@|$(firstword $(subst ., ,$(VERSION)))|'
install: all
	$(Q)install -d $(addprefix $(INSTALLED)/,bin include/tp share/tpgen/tpgen/backends share/tpgen/tpgen/check share/tpgen/tpgen/format share/tpgen/tpgen/lsp \
		share/man/man1 share/man/man3 share/man/man5 share/man/man7 share/doc/tp $(dir $(COMPLETIONS))) \
		$(INSTALLED_LIB)/pkgconfig $(INSTALLED_LIB)/cmake/tpgen
	$(Q)install -m 644 runtime/include/tp/*.h $(INSTALLED)/include/tp
	$(Q)install -m 644 $(BUILD)/libtp.a $(INSTALLED_LIB)
	$(Q)install -m 755 $(BUILD)/libtp.so $(INSTALLED_LIB)/$(SONAME)
	$(Q)install -m 755 $(BUILD)/tp $(INSTALLED)/bin
	$(Q)for p in $(PAGES); do install -m 644 $(BUILD)/man/$$p $(INSTALLED)/share/man/man$${p##*.} || exit 1; done
	$(Q)for d in $(DOCUMENTS:docs/%=%); do install -D -m 644 docs/$$d $(INSTALLED)/share/doc/tp/$$d || exit 1; done
	$(Q)for f in $(COMPLETIONS); do install -m 644 $(BUILD)/completions/$${f##*/} $(INSTALLED)/$$f || exit 1; done
	$(Q)ln -sf $(SONAME) $(INSTALLED_LIB)/libtp.so
	$(Q)install -m 644 tpgen/*.py $(INSTALLED)/share/tpgen/tpgen
	$(Q)for d in backends check format lsp; do install -m 644 tpgen/$$d/*.py $(INSTALLED)/share/tpgen/tpgen/$$d || exit 1; done
	$(Q)for d in templates/*; do install -d $(INSTALLED)/share/tpgen/$$d && \
		install -m 644 $$d/* $(INSTALLED)/share/tpgen/$$d || exit 1; done
	$(Q)sed $(PLACES) runtime/build-systems/tp.pc.in >$(INSTALLED_LIB)/pkgconfig/tp.pc
	$(Q)sed $(PLACES) runtime/build-systems/tp.mk.in >$(INSTALLED)/share/tpgen/tp.mk
	$(Q)install -D -m 644 runtime/build-systems/tpgen.m4 $(INSTALLED)/share/aclocal/tpgen.m4
	$(Q)cd runtime/build-systems/cmake && for f in *; do sed $(CMAKE_PLACES) $$f >$(INSTALLED_LIB)/cmake/tpgen/$${f%.in} || exit 1; done
	$(Q)install -m 755 tpgen/launcher.sh $(INSTALLED)/bin/tpgen
	@echo 'tpgen is installed in $(INSTALLED); docs/api.md says how a project uses it.'
	@[ -n '$(DESTDIR)' ] || { PATH="$$PATH:/usr/sbin:/sbin"; \
		if ldconfig -N -v 2>/dev/null | sed -n 's|^\(/[^:]*\):.*|\1|p' | \
			while read -r d; do [ ! "$$d" -ef $(LIBDIR) ] || echo "$$d"; done | grep -q .; \
		then ldconfig 2>/dev/null || echo 'The loader does not know of it yet: run ldconfig as root.'; \
		else echo 'The loader does not look in $(LIBDIR): programs need -Wl,-rpath,$(LIBDIR), as tp.mk sets it.'; fi; }

# The directories share/tpgen, share/doc/tp, cmake/tpgen and include/tp are this project's; from the others, only its own files go.
uninstall:
	$(Q)rm -f $(addprefix $(INSTALLED)/include/tp/,$(notdir $(wildcard runtime/include/tp/*.h))) \
		$(addprefix $(INSTALLED)/,bin/tpgen bin/tp share/aclocal/tpgen.m4) \
		$(addprefix $(INSTALLED)/,$(foreach p,$(PAGES),share/man/man$(patsubst .%,%,$(suffix $(p)))/$(p)) $(COMPLETIONS)) \
		$(addprefix $(INSTALLED_LIB)/,libtp.a libtp.so $(SONAME) pkgconfig/tp.pc)
	$(Q)rm -rf $(INSTALLED)/share/tpgen $(INSTALLED)/share/doc/tp $(INSTALLED_LIB)/cmake/tpgen
	$(Q)[ ! -d $(INSTALLED)/include/tp ] || rmdir --ignore-fail-on-non-empty $(INSTALLED)/include/tp
	@echo 'tpgen is no longer installed in $(INSTALLED).'

# ---- Releasing ----

dist:
	$(Q)PYTHONDONTWRITEBYTECODE=1 $(PYTHON) .ci/dist.py $(BUILD)

clean:
	rm -rf $(BUILD)

endif
