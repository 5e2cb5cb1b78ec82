#!/bin/bash
# Called by ./run lint [CHECK...]. Every check runs to its end; the last line says how many failed.
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit
checks=(gcc clang headers layers format tidy cppcheck shell)
jobs=$(nproc 2>/dev/null || echo 2)

mapfile -t sources < <(git ls-files '*.c')
mapfile -t headers < <(git ls-files '*.h')

# configured DIR OPTION...: a build directory of its own for each compiler, so that switching costs nothing.
configured() {
    local dir=$1
    shift
    [ -f "$dir/build.ninja" ] || meson setup "$dir" "$@" >/dev/null || return
}

# Another optimisation level than build/ has: it sees other things (uninitialised values, overflows of formats).
check_gcc() { CC=gcc configured build-gcc --buildtype=release && ninja -C build-gcc -j "$jobs" --quiet; }

check_clang() { CC=clang configured build-clang --buildtype=debugoptimized && ninja -C build-clang -j "$jobs" --quiet; }

check_headers() { configured build && /usr/bin/python3 -m pytest -q tests/integration/test_layers.py -k header; }

check_layers() { configured build && /usr/bin/python3 -m pytest -q tests/integration/test_layers.py -k layer; }

check_format() { printf '%s\n' "${sources[@]}" "${headers[@]}" | xargs clang-format --dry-run -Werror; }

# Of what is built, the programs: tests are compiled with every warning by check_clang, and generated XDR is nobody's source.
check_tidy() {
    check_clang || return
    local built
    built=$(sed -n 's|.*"file": "\.\./\(.*\.c\)".*|\1|p' build-clang/compile_commands.json | grep -v '^tests/' | sort -u)
    xargs -P "$jobs" -n 1 clang-tidy -p build-clang --quiet <<<"$built" 2> >(grep -v 'warnings\? generated\|^Suppressed\|^Use -' >&2)
}

check_cppcheck() {
    local queue # cppcheck looks into no system header, but without the macros of this one it can't parse
    queue=$(printf '#include <sys/queue.h>\n' | cc -M -E -x c - | tr ' ' '\n' | grep sys/queue.h)
    git ls-files '*.c' ':!tests' | xargs cppcheck -j "$jobs" --quiet --std=c11 --enable=warning,performance,portability --library=posix --inline-suppr \
        --suppressions-list=.cppcheck-suppressions --error-exitcode=1 -D_GNU_SOURCE --include="$queue" -I common -I rpcgen -I results -I loadgen -I target -I prime
}

check_shell() { git grep -lIE '^#!.*\b(sh|bash)$' -- . | xargs shellcheck; }

[ $# -gt 0 ] || set -- "${checks[@]}"
failed=0
for check in "$@"; do
    if ! declare -F "check_$check" >/dev/null; then
        echo "unknown check \"$check\"; checks: ${checks[*]}" >&2
        exit 2
    fi
    echo "== $check"
    start=$SECONDS
    if "check_$check"; then
        echo "== $check: ok ($((SECONDS - start)) s)"
    else
        echo "== $check: FAILED ($((SECONDS - start)) s)"
        failed=$((failed + 1))
    fi
done
echo "$# checks, $failed failed"
[ "$failed" = 0 ]
