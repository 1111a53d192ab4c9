#!/bin/sh
# Handles one message: the payload on standard input, what is known about it in
# SQLSTREAMS_ variables. Exit status 0: done; 65: it can never succeed; any
# other: try again later, with the end of standard error as the reason.
payload=$(cat)
case $payload in
  *'"task"'*) ;;
  *)
    echo "message $SQLSTREAMS_ID names no task" >&2
    exit 65
    ;;
esac
echo "message $SQLSTREAMS_ID, attempt $SQLSTREAMS_ATTEMPT: $payload"
