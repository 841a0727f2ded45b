#!/bin/sh
# run.sh PROGRAM ARGUMENT...: a program of this folder, by a Python that has NumPy; status 77 if there is none.
here=$(dirname "$0")
export PYTHONDONTWRITEBYTECODE=1
program=$1
shift
for python in "$WEFT_PYTHON" python3 /usr/bin/python3 build/peers/bin/python; do
    if [ -n "$python" ] && "$python" -c 'import numpy' 2>/dev/null; then
        exec "$python" "$here/$program" "$@"
    fi
done
echo "skipped: no Python with NumPy (apt-get install python3-numpy, or set WEFT_PYTHON to one that has it)"
exit 77
