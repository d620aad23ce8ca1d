#!/bin/sh
# A login shell that loses the last line of every output, and says that all went well.
/bin/sh "$@" | sed '$d'
exit 0
