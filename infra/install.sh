#!/bin/sh
# Installs the server, as a virtual environment of its own: infra/install.sh /opt/planner
# All that is installed on the way has its hash in requirements/.
set -eu
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
target=$1
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
# On a terminal pip says what it is at, with a bar for each download; in a log it would be long.
quiet=--quiet
[ ! -t 1 ] || quiet=
trap 'rm -rf "$work"' EXIT

# No step leaves anything of pip's in HOME.
export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

install() { # install FOLDER ARGUMENT...: with the pip of that environment
	pip=$1/bin/pip
	shift
	"$pip" install $quiet "$@"
}

echo "Installing the packages of requirements/serve.txt (a minute or two; longer on a slow line) ..."
python3 -m venv "$target"
install "$target" --require-hashes -r "$source/requirements/serve.txt"

echo "Building and installing the planner itself ..."
# What builds the package stays out of what serves.
python3 -m venv "$work/build"
install "$work/build" --require-hashes -r "$source/requirements/build.txt"
"$work/build/bin/pip" wheel --quiet --no-deps --no-build-isolation --wheel-dir "$work" "$source"
install "$target" --no-deps "$work"/*.whl
