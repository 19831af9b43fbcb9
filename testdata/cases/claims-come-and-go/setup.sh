#!/bin/sh
set -e
mkdir -p "$ROOT/proj/limiter" "$ROOT/proj/src/session"; cd "$ROOT/proj"; git init -q -b main; git config user.email a@example.test; git config user.name t
echo x > limiter/bucket.go; echo y > src/session/cleanup.go; git add -A; git commit -qm init; git branch release/7; git pack-refs --all
