#!/bin/sh
# Compiles the server: the classes are in target/haboob below this folder.
set -eu
cd "$(dirname "$0")"
rm -rf target/haboob
mkdir -p target/haboob
exec javac -encoding UTF-8 --release 17 -d target/haboob Haboob.java
