#!/usr/bin/env bash
# Installs missing packages of the system, and downloads the sources of the derived headers once into the given folder
# ($1). The script uses only package registries and their ordinary clients. No download is committed.
set -euo pipefail
mkdir -p "$1"
truth=$(cd "$1" && pwd)

readonly APT_PACKAGES=(
  clang-19 lld-19 llvm-19 libc++-19-dev libc++abi-19-dev libclang-rt-19-dev
  libobjc-12-dev libgnustep-base-dev libblocksruntime-dev doctest-dev ruby
)
readonly CRATES=(
  foundation core-foundation core-graphics core-text ui-kit core-telephony local-authentication core-location
  avf-audio metal cf-network quartz-core call-kit
)
readonly CRATE_VERSION=0.3.2
readonly DARWIN_HEADERS=ziglang==0.17.0

install_compilers() {
  local missing=() package
  for package in "${APT_PACKAGES[@]}"; do
    dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  if [ "$(id -u)" -ne 0 ]; then
    echo "check:ios needs these packages of the system: ${missing[*]}" >&2
    exit 1
  fi
  apt-get update -qq >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Apple's own C headers and the list of symbols of libSystem are in the wheel of the Zig compiler.
fetch_darwin_headers() {
  if [ -d "$truth/darwin" ]; then return; fi
  rm -rf "$truth/wheel" "$truth/unpacked"
  python3 -m pip download --quiet --no-deps --disable-pip-version-check --dest "$truth/wheel" "$DARWIN_HEADERS"
  python3 - "$truth" <<'PYTHON'
import glob, sys, zipfile
truth = sys.argv[1]
with zipfile.ZipFile(glob.glob(f"{truth}/wheel/*.whl")[0]) as wheel:
    wanted = ("ziglang/lib/libc/include/any-darwin-any/", "ziglang/lib/libc/darwin/")
    wheel.extractall(f"{truth}/unpacked", [name for name in wheel.namelist() if name.startswith(wanted)])
PYTHON
  mv "$truth/unpacked/ziglang/lib/libc" "$truth/darwin"
  rm -rf "$truth/wheel" "$truth/unpacked"
}

# The first source of declarations of Apple's SDK: selectors, C types, nullability, enumerators.
fetch_crates() {
  if [ -d "$truth/crates" ]; then return; fi
  # The folder in which Rust's installer puts cargo, for shells that read no profile.
  local crate PATH="$PATH:$HOME/.cargo/bin"
  mkdir -p "$truth/manifest/src"
  touch "$truth/manifest/src/lib.rs"
  {
    printf '[package]\nname = "truth"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n'
    for crate in "${CRATES[@]}"; do echo "objc2-$crate = \"=$CRATE_VERSION\""; done
  } >"$truth/manifest/Cargo.toml"
  (cd "$truth/manifest" && cargo vendor --quiet "$truth/crates.part" >/dev/null)
  mv "$truth/crates.part" "$truth/crates"
}

install_compilers
fetch_darwin_headers
fetch_crates
