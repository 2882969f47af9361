#!/bin/sh
# SPDX-License-Identifier: MIT
# A compiler that makes objects of @TREE@/runtime/src count what runs, and lends programs what this takes.
# Notes and counters stand in a directory of their own, as tests remove their objects. Any user may write the counters.
source='' output='' stage=link depends='' before='' uncounted=''
case $0 in *clang*) uncounted=yes ;; esac
for word; do
	[ "$before" != -o ] || output=$word
	case $word in
	-c) stage=object ;;
	-E | -M | -MM | -S | -r | -fsyntax-only) stage=other ;;
	-MD | -MMD) depends=yes ;;
	-fsanitize=*) uncounted=yes ;; # what these run is run without, too; with counters, single steps under them take hours
	@TREE@/runtime/src/*.c) source=$word ;;
	runtime/src/*.c) [ "$(pwd -P)" != @TREE@ ] || source=$word ;;
	esac
	before=$word
done
[ $stage != link ] || exec @REAL@ "$@" -lgcov
[ $stage = object ] && [ "$source" ] && [ ! "$uncounted" ] && [ "$output" ] || exec @REAL@ "$@"
base=$(mktemp @NOTES@/XXXXXXXXXX) || exit
before=''
for word; do
	shift
	[ "$before" = -o ] && set -- "$@" "$base.o" || set -- "$@" "$word"
	before=$word
done
@REAL@ "$@" -O0 --coverage -fprofile-update=atomic -fprofile-abs-path \
	${depends:+-MF "${output%.*}.d" -MT "$output"} || exit
: >"$base.gcda" && chmod 666 "$base.gcda" && mv -f "$base.o" "$output"
