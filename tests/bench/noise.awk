# SPDX-License-Identifier: MIT
#
# noise.awk - says how noisy the run was, from table.awk's lines: minimum,
# median and maximum of a row's rounds, and its label.

BEGIN { FS = "\t" }
$2 > 0 {
	spread[++n] = ($3 - $1) / $2
	if (spread[n] > worst) {
		worst = spread[n]
		where = sprintf("\"%s\", min %.3f, median %.3f, max %.3f", $4, $1, $2, $3)
	}
}
END {
	for (i = 1; i <= n; i++) {
		below = 0
		for (j = 1; j <= n; j++)
			below += spread[j] < spread[i] || (spread[j] == spread[i] && j < i)
		if (below == int(n / 2))
			middle = spread[i]
	}
	printf "Noise: in half of the rows, max - min of the rounds is at most %.0f %% of the median; ", middle * 100
	printf "the noisiest is %s.\n", where
}
