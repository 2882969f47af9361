#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs tpgen with the first Python 3 that has what it needs.
here=$(dirname "$(readlink -f "$0")")
for python in ${TPGEN_PYTHON:-python3 /usr/bin/python3}; do
	if "$python" -c 'import jinja2, pycparser' 2>/dev/null; then
		PYTHONPATH="$here/../share/tpgen" exec "$python" -m tpgen "$@"
	fi
done
echo "tpgen: no Python 3 with Jinja2 and pycparser among: ${TPGEN_PYTHON:-python3 /usr/bin/python3};" \
	"install python3-jinja2 and python3-pycparser, or set TPGEN_PYTHON" >&2
exit 1
