#!/bin/sh
# rpcgen.sh RPCGEN -h|-c INPUT.x OUTPUT - runs rpcgen so that a build can: rpcgen refuses to overwrite its output, and copies the
# path of its input into an #include line. -i 0 switches off inlining, whose code does not compile without warnings.
set -e
out=$(realpath -m "$4")
cd "$(dirname "$3")"
rm -f "$out"
exec "$1" -C -M -i 0 "$2" -o "$out" "$(basename "$3")"
