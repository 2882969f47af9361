/* SPDX-License-Identifier: MIT */
/*
 * traceevent_cases.h - texts of TP_printk that libtraceevent 1.7 prints as we
 * do. Included twice by test_traceevent.c, which defines CASE and REWRITTEN.
 *
 * What it can't print, of the kernel's records neither:
 *
 *	__print_flags_u64, __print_symbolic_u64, __print_dynamic_array,
 *	__print_hex_dump, __get_buf, __get_rel_sockaddr: it can't parse the text
 *	__print_array: numbers in decimal, with blanks between
 *	__get_cpumask, __get_rel_cpumask: the field's word as a number
 *	__get_rel_dynamic_array_len: it crashes
 *	%c: the letter c in brackets
 *	%pI4, %pI6, %pM, %pU of what is no __array of just that size: messages
 *	%ph, %4ph: one byte; %*ph of an __array: a message
 *	%20pM and other widths: the text without them
 *	%pS of a known symbol: no size behind it
 *	%pSR, %pB, %pK, %px, %pe: the number, and the last letter
 *	%*pb, %*pbl: "(nil)b"
 */
CASE(numbers, "%d %u %lld 0x%llx %5d|%-5d|%05d %%", REC->first, REC->first, (long long)REC->last,
     (long long)REC->last, REC->first, REC->first, REC->first)
CASE(text, "%s|%10s|%-6s|%.2s", __get_str(text), __get_str(part), __get_str(message), __get_str(text))
CASE(rel_text, "%s %s", __get_rel_str(rel_text), __get_rel_str(rel_part))
CASE(array_of_char, "%s", REC->name)
CASE(length, "%u", __get_dynamic_array_len(words))
CASE(ternary, "%s%s", REC->first ? "yes" : "no", REC->first > 3 && REC->last ? "A" : "")
CASE(flags, "%s %s %s", __print_flags(REC->first | 6, "|", {1, "one"}, {2, "two"}),
     __print_flags(REC->first, "", {1, "one"}, {2, "two"}), __print_flags(REC->first & 2, "|", {1, "one"}))
CASE(symbolic, "%s %s", __print_symbolic(REC->first, {0, "zero"}, {1, "one"}), __print_symbolic(REC->first, {7, "x"}))
CASE(symbolic_with_eval, "%s", __print_symbolic(REC->last, {1, "one"}, {ENUM_LAST, "last"}))
CASE(hex, "%s|%s", __print_hex(REC->name, 3), __print_hex(__get_dynamic_array(words), 4))
CASE(hex_str, "%s", __print_hex_str(__get_dynamic_array(words), __get_dynamic_array_len(words)))
REWRITTEN(bitmask, "%s", (__print_bitmask(bits)), "%s", "__get_bitmask(bits)")
REWRITTEN(rel_bitmask, "%s", (__print_rel_bitmask(rel_bits)), "%s", "__get_rel_bitmask(rel_bits)")
REWRITTEN(seconds, "%llu.%09u", (__print_ns_to_secs(REC->last), __print_ns_without_secs(REC->last)), "%llu.%09u",
	  "(REC->last) / 1000000000UL, (REC->last) % 1000000000UL")
REWRITTEN(sockaddr, "%s", (__print_pointer("ISpc", __get_sockaddr(address))), "%pISpc", "__get_sockaddr(address)")
REWRITTEN(sockaddr_plain, "%s", (__print_pointer("IS", __get_sockaddr(address))), "%pIS", "__get_sockaddr(address)")
REWRITTEN(v4, "%s", (__print_pointer("I4", REC->name)), "%pI4", "REC->name")
REWRITTEN(v4_zeros, "%s", (__print_pointer("i4", REC->name)), "%pi4", "REC->name")
REWRITTEN(v4_h, "%s", (__print_pointer("I4h", REC->name)), "%pI4h", "REC->name")
REWRITTEN(v4_l, "%s", (__print_pointer("I4l", REC->name)), "%pI4l", "REC->name")
REWRITTEN(v6, "%s", (__print_pointer("I6", REC->bytes)), "%pI6", "REC->bytes")
REWRITTEN(v6_raw, "%s", (__print_pointer("i6", REC->bytes)), "%pi6", "REC->bytes")
REWRITTEN(v6_compressed, "%s", (__print_pointer("I6c", REC->bytes)), "%pI6c", "REC->bytes")
REWRITTEN(mac, "%s", (__print_pointer("M", REC->mac)), "%pM", "REC->mac")
REWRITTEN(mac_plain, "%s", (__print_pointer("m", REC->mac)), "%pm", "REC->mac")
REWRITTEN(mac_fddi, "%s", (__print_pointer("MF", REC->mac)), "%pMF", "REC->mac")
REWRITTEN(mac_reversed, "%s", (__print_pointer("MR", REC->mac)), "%pMR", "REC->mac")
REWRITTEN(uuid, "%s", (__print_pointer("U", REC->bytes)), "%pU", "REC->bytes")
REWRITTEN(uuid_b, "%s", (__print_pointer("Ub", REC->bytes)), "%pUb", "REC->bytes")
REWRITTEN(uuid_B, "%s", (__print_pointer("UB", REC->bytes)), "%pUB", "REC->bytes")
REWRITTEN(uuid_l, "%s", (__print_pointer("Ul", REC->bytes)), "%pUl", "REC->bytes")
REWRITTEN(uuid_L, "%s", (__print_pointer("UL", REC->bytes)), "%pUL", "REC->bytes")
REWRITTEN(bytes, "%s", (__print_pointer_n("h", 5, __get_dynamic_array(words))), "%*ph",
	  "5, __get_dynamic_array(words)")
REWRITTEN(bytes_C, "%s", (__print_pointer_n("hC", 5, __get_dynamic_array(words))), "%*phC",
	  "5, __get_dynamic_array(words)")
REWRITTEN(bytes_D, "%s", (__print_pointer_n("hD", 5, __get_dynamic_array(words))), "%*phD",
	  "5, __get_dynamic_array(words)")
REWRITTEN(bytes_N, "%s", (__print_pointer_n("hN", 5, __get_dynamic_array(words))), "%*phN",
	  "5, __get_dynamic_array(words)")
REWRITTEN(no_symbol, "%s %s", (__print_pointer("S", (void *)(uintptr_t)REC->last),
			       __print_pointer("s", (void *)(uintptr_t)REC->last)), "%pS %ps",
	  "(void *)REC->last, (void *)REC->last")
