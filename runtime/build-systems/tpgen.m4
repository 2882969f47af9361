# SPDX-License-Identifier: MIT
# TPGEN_CHECK([MINIMUM-VERSION], [ACTION-IF-FOUND], [ACTION-IF-NOT-FOUND]) looks for tpgen and its library.
#
#	configure.ac:	TPGEN_CHECK([1.0])
#	Makefile.am:	server_SOURCES = server.c net.tp
#			BUILT_SOURCES = net.h
#			@TPGEN_RULES@
#
# docs/adopting/autotools.md is the page about it. It substitutes TPGEN, TP_CFLAGS and TP_LIBS, which the user of configure can
# set, too, and TPGEN_RULES: rules for GNU make. They make NAME.h and NAME.tracepoints.c of NAME.tp, add TP_CFLAGS to CPPFLAGS
# and TP_LIBS to LIBS, and clean. Without ACTION-IF-NOT-FOUND, configure ends with what is missing and the remedy; with it,
# tpgen_missing says that, and the four variables are empty.

# serial 1

AC_DEFUN([TPGEN_CHECK], [
AC_REQUIRE([AC_PROG_CC])
AC_ARG_VAR([PKG_CONFIG], [path to pkg-config])
AC_ARG_VAR([PKG_CONFIG_PATH], [directories to add to pkg-config's search path])
AC_ARG_VAR([PKG_CONFIG_LIBDIR], [path overriding pkg-config's built-in search path])
AC_ARG_VAR([TPGEN], [the command tpgen])
AC_ARG_VAR([TP_CFLAGS], [C compiler flags for tpgen's library])
AC_ARG_VAR([TP_LIBS], [linker flags for tpgen's library])
AC_PATH_TOOL([PKG_CONFIG], [pkg-config])
AC_MSG_CHECKING([for tpgen]m4_ifval([$1], [ >= $1]))
_TPGEN_LOOK([$1])
AS_IF([test "x$tpgen_missing" = x], [AC_MSG_RESULT([$tpgen_version, $TPGEN])
	_TPGEN_RULES
	m4_default([$2], [:])],
	[AC_MSG_RESULT([no])
	TPGEN= TP_CFLAGS= TP_LIBS= TPGEN_RULES=
	m4_default([$3], [AC_MSG_ERROR([$tpgen_missing])])])
AC_SUBST([TPGEN_RULES])
m4_ifdef([_AM_SUBST_NOTMAKE], [_AM_SUBST_NOTMAKE([TPGEN_RULES])])
])

# Sets tpgen_missing, unless everything is there.
AC_DEFUN([_TPGEN_LOOK], [
tpgen_missing=
tpgen_pc() {
	"$PKG_CONFIG" "$[@]" tp 2>&AS_MESSAGE_LOG_FD
}
AS_IF([test "x$PKG_CONFIG" = x],
	[tpgen_missing="pkg-config is missing, by which tpgen is found: install it, or set PKG_CONFIG to its path"],
[! tpgen_pc --exists],
	[tpgen_missing="tpgen is not found: install it, or add the directory of its tp.pc to PKG_CONFIG_PATH"],
[tpgen_version=`tpgen_pc --modversion`; ! tpgen_pc --atleast-version=m4_default([$1], [0])],
	[tpgen_missing="tpgen $tpgen_version is too old, $1 is needed: install a newer one, or add the directory of its tp.pc to PKG_CONFIG_PATH"],
[: "${TPGEN=`tpgen_pc --variable=tpgen`}"; ! $TPGEN --version >&AS_MESSAGE_LOG_FD 2>conftest.err],
	[cat conftest.err >&AS_MESSAGE_LOG_FD
	tpgen_missing="$TPGEN does not run: `sed -e 's/^tpgen: //' -e 's/^.*: line @<:@0-9@:>@*: //' conftest.err | tail -n 1`"],
	[: "${TP_CFLAGS=`tpgen_pc --cflags | sed 's/ *$//'`}"
	: "${TP_LIBS=`tpgen_pc --variable=rpath` `tpgen_pc --libs | sed 's/ *$//'`}"
	_TPGEN_LINK])
rm -f conftest.err
])

# With the library, and without, to tell what is missing.
AC_DEFUN([_TPGEN_LINK], [
tpgen_save_CPPFLAGS=$CPPFLAGS tpgen_save_LIBS=$LIBS
AC_LANG_PUSH([C])
CPPFLAGS="$CPPFLAGS $TP_CFLAGS" LIBS="$TP_LIBS $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <tp/tp.h>]], [[return tp_text_sink(0) != 0;]])], [],
	[tpgen_missing="a program can't be linked with tpgen's library by '$TP_CFLAGS' and '$TP_LIBS': config.log says why"
	LIBS="-lurcu-bp $tpgen_save_LIBS"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <urcu-bp.h>]], [[rcu_read_lock();]])], [],
		[tpgen_missing="liburcu is missing, which tpgen's library is linked with: install it (liburcu-dev)"])])
AC_LANG_POP([C])
CPPFLAGS=$tpgen_save_CPPFLAGS LIBS=$tpgen_save_LIBS
])

# What @TPGEN_RULES@ becomes. The rules are tpgen's for any Makefile.
AC_DEFUN([_TPGEN_RULES], [
TPGEN_RULES="# What tpgen has for automake.
include `tpgen_pc --variable=makefile`
\$(call tp-add,LIBS,\$\$(TP_LIBS))
mostlyclean-am: mostlyclean-tpgen
mostlyclean-tpgen:
	-\$(if \$(TP_GENERATED),rm -f \$(TP_GENERATED))
.PHONY: mostlyclean-tpgen"
])
