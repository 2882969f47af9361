# SPDX-License-Identifier: MIT
#
# table.awk - a group's table, from lines of fields that are separated by tabs:
#
#	group HEADING UNIT
#	row NUMBER KIND LABEL   KIND is base, peer, plain or ours
#	value NUMBER VALUE      a round's
#	count NUMBER VALUE      instructions
#	note TEXT
#
# What base takes is taken off the others. The ratio is to the best peer.
# Rows that were measured in more than one round are appended to "spread" for
# noise.awk: minimum, median and maximum, and the label.

function format_number(x) {
	if (x == "")
		return "-"
	return sprintf(x < 10 && x > -10 ? "%.3f" : x < 100 ? "%.1f" : "%.0f", x)
}

function sort_values(row,    i, j, x) {
	for (i = 2; i <= values[row]; i++) {
		x = value[row, i]
		for (j = i - 1; j > 0 && value[row, j] > x; j--)
			value[row, j + 1] = value[row, j]
		value[row, j + 1] = x
	}
}

function median(row) {
	return (value[row, int((values[row] + 1) / 2)] + value[row, int((values[row] + 2) / 2)]) / 2
}

BEGIN { FS = "\t" }
$1 == "group" { heading = $2; unit = $3 }
$1 == "row" { rows++; kind[$2] = $3; label[$2] = $4 }
$1 == "value" { value[$2, ++values[$2]] = $3 + 0 }
$1 == "count" { count[$2] = $3; counted = 1 }
$1 == "note" { note[++notes] = $2 }

END {
	for (i = 1; i <= rows; i++) {
		sort_values(i)
		if (kind[i] == "base") {
			base = median(i)
			base_count = count[i]
		}
		if (values[i] > 1)
			printf "%s\t%s\t%s\t%s\n", value[i, 1], median(i), value[i, values[i]], label[i] >>"spread"
	}
	for (i = 1; i <= rows; i++) {
		off = kind[i] == "base" ? 0 : base
		result[i] = median(i) - off
		range[i] = values[i] < 2 ? "" : \
			format_number(value[i, 1] - off) " .. " format_number(value[i, values[i]] - off)
		if (kind[i] == "peer" && (!best || result[i] < result[best]))
			best = i
	}
	printf "\n%s\n", heading
	printf "  %-46s %9s %21s %10s %13s\n", "", unit, "min .. max", best ? "to best" : "", counted ? "instructions" : ""
	for (i = 1; i <= rows; i++) {
		ratio = best && (kind[i] == "peer" || kind[i] == "ours") && result[best] > 0 ? sprintf("%.2f", result[i] / result[best]) : ""
		instructions = count[i] == "" ? "" : \
			sprintf("%.1f", count[i] - (kind[i] == "base" ? 0 : base_count))
		line = sprintf("  %-46s %9s %21s %10s %13s", label[i], format_number(result[i]), range[i], ratio, instructions)
		sub(/ +$/, "", line)
		print line
	}
	for (i = 1; i <= notes; i++)
		print "  " note[i]
}
