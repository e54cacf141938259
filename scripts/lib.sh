# SPDX-License-Identifier: BSD-3-Clause
# Shared by the scripts of this folder (sourced, bash): messages, Debian packages, building.
# shellcheck shell=bash
# shellcheck disable=SC2034 # the variables are for the scripts that source this

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$(basename "$0")

# What a build needs, what running needs on top, and what the tests and checks need on top of both. Each word is a
# Debian 12 package, or command=package where any other way to have the command is as good. redis-tools holds the
# server's program too (as redis-check-rdb, see redis_server), so no second Redis is started on the machine.
build_packages=(gcc=gcc libc6-dev meson=meson ninja=ninja-build pkg-config=pkg-config
    libdpdk-dev libpmem-dev libisal-dev libjansson-dev)
run_packages=(ip=iproute2 ethtool=ethtool redis-cli=redis-tools python3=python3)
test_packages=(libcunit1-dev libhiredis-dev python3-redis ca-certificates node=nodejs npm=npm)
check_packages=(clang-format=clang-format shellcheck=shellcheck)

say() {
    printf '%s\n' "$*"
}

warn() {
    printf '%s: %s\n' "$program" "$*" >&2
}

die() {
    warn "$@"
    exit 1
}

is_root() {
    [ "$(id -u)" = 0 ]
}

need_root() {
    is_root || die "needs root ($1); run it with sudo"
}

have_package() {
    local state
    case $1 in
    *=*) command -v "${1%%=*}" >/dev/null ;;
    *) state=$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) && [ "$state" = installed ] ;;
    esac
}

# need_packages WORD...: install by apt those that are missing, and only those.
need_packages() {
    local word missing=() log
    for word; do
        have_package "$word" || missing+=("${word#*=}")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null || die "these Debian packages, or their like, are missing: ${missing[*]}"
    is_root || die "these packages are missing: ${missing[*]}; install them, or run me as root"
    say "installing ${#missing[@]} missing packages: ${missing[*]}"
    log=$(mktemp)
    if ! install_packages "${missing[@]}" >"$log" 2>&1; then
        tail -n 15 "$log" >&2
        rm -f "$log"
        die "apt-get could not install: ${missing[*]} (its last words are above)"
    fi
    rm -f "$log"
}

# The package lists may be absent (fresh machine) or stale (files moved on): refresh them once and try again.
install_packages() {
    local install=(apt-get install -y -q --no-install-recommends "$@")
    export DEBIAN_FRONTEND=noninteractive
    "${install[@]}" || { apt-get update -q && "${install[@]}"; }
}

# build DIR MESON-OPTIONS...: configure DIR with these options and bring it up to date. Quiet unless it fails.
build() {
    local dir=$1 log again=()
    shift
    mkdir -p "$dir"
    log=$dir/build.log
    [ ! -e "$dir/build.ninja" ] || again=(--reconfigure)
    if [ "$*" != "$(cat "$dir/options" 2>/dev/null)" ] || [ ${#again[@]} = 0 ]; then
        if ! meson setup "${again[@]}" "$dir" "$top" "$@" >"$log" 2>&1; then
            tail -n 30 "$log" >&2
            die "meson could not configure $dir (log: $log)"
        fi
        say "$*" >"$dir/options"
    fi
    if ! ninja -C "$dir" >"$log" 2>&1; then
        grep -E -A 5 'FAILED|error:|ERROR' "$log" | head -n 40 >&2
        die "the build in $dir failed (log: $log)"
    fi
}

release_dir=$top/build/release

build_release() {
    build "$release_dir" --buildtype=release "$@"
}

# redis_server ARGS...: Redis's own server, out of redis-tools: the program decides by its name what it is.
redis_server() {
    if command -v redis-server >/dev/null; then
        exec redis-server "$@"
    fi
    exec -a redis-server redis-check-rdb "$@"
}
