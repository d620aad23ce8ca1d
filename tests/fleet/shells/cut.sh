#!/bin/sh
# A login shell that closes the connection in the middle of the output.
/bin/sh "$@" | head -c 600
kill -9 "$PPID"
