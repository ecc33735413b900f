#!/bin/sh
# Installs storefront on Linux and macOS: downloads the archive for this system, verifies its SHA-256, and copies the program.
#
#   curl -LsSf https://github.com/OWNER/REPOSITORY/releases/latest/download/install.sh | sh
#
#   STOREFRONT_VERSION        version to install; the latest by default
#   STOREFRONT_INSTALL_DIR    directory of the program; ~/.local/bin by default
#   STOREFRONT_RELEASES       address of the releases, for a copy of them in your own network
set -eu

fail() {
    echo "error: $*; nothing was installed" >&2
    exit 1
}

target() {
    case $(uname -s)-$(uname -m) in
        Linux-x86_64 | Linux-amd64) echo x86_64-unknown-linux-musl ;;
        Linux-aarch64 | Linux-arm64) echo aarch64-unknown-linux-musl ;;
        Darwin-arm64) echo aarch64-apple-darwin ;;
        Darwin-x86_64)
            # A shell that Rosetta translates says `x86_64` on Apple silicon too.
            if [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then
                echo aarch64-apple-darwin
            else
                echo x86_64-apple-darwin
            fi ;;
        *) fail "there is no program for $(uname -s) on $(uname -m); build one with \`cargo install\`" ;;
    esac
}

download() { # URL FILE
    if command -v curl >/dev/null; then
        case $1 in
            # A redirection to an address without TLS is not followed.
            https://*) curl --fail --silent --show-error --location --proto '=https' --tlsv1.2 --output "$2" "$1" ;;
            *) curl --fail --silent --show-error --location --output "$2" "$1" ;;
        esac
    elif command -v wget >/dev/null; then
        wget -q -O "$2" "$1"
    else
        fail "curl or wget is needed"
    fi || fail "cannot download \`$1\`"
}

sha256() { # FILE
    if command -v sha256sum >/dev/null; then
        sha256sum "$1"
    elif command -v shasum >/dev/null; then
        shasum -a 256 "$1"
    elif command -v openssl >/dev/null; then
        openssl dgst -sha256 -r "$1"
    fi | cut -d ' ' -f 1
}

main() {
    releases=${STOREFRONT_RELEASES:-https://github.com/OWNER/REPOSITORY/releases}
    directory=${STOREFRONT_INSTALL_DIR:-$HOME/.local/bin}
    version=${STOREFRONT_VERSION:-}
    target=$(target)
    work=$(mktemp -d)
    new=$directory/.storefront-$$
    trap 'rm -rf "$work" "$new"' EXIT
    trap 'exit 1' HUP INT TERM

    if [ -n "$version" ]; then
        download "$releases/download/v$version/SHA256SUMS" "$work/SHA256SUMS"
    else
        download "$releases/latest/download/SHA256SUMS" "$work/SHA256SUMS"
    fi
    line=$(grep -E "^[0-9a-f]{64} [ *]storefront-[0-9]+\.[0-9]+\.[0-9]+-$target\.tar\.gz\$" "$work/SHA256SUMS") ||
        fail "SHA256SUMS does not name an archive for $target"
    expected=${line%% *}
    archive=${line##*[ *]}
    top=${archive%.tar.gz}
    found=${top#storefront-}
    found=${found%"-$target"}
    [ "${version:-$found}" = "$found" ] || fail "SHA256SUMS of version $version names version $found"

    # By its version: the latest release can become another one between two downloads.
    download "$releases/download/v$found/$archive" "$work/$archive"
    actual=$(sha256 "$work/$archive")
    [ -n "$actual" ] || fail "sha256sum, shasum or openssl is needed to verify the download"
    [ "$actual" = "$expected" ] ||
        fail "\`$archive\` is not the file of the release: expected SHA-256 $expected, found $actual"

    tar -xzf "$work/$archive" -C "$work" "$top/storefront" || fail "cannot unpack \`$archive\`"
    mkdir -p "$directory" || fail "cannot create \`$directory\`"
    # Beside the old program, so that one name stands for the old program or for the whole new one.
    cp "$work/$top/storefront" "$new" || fail "cannot write to \`$directory\`"
    chmod 755 "$new"
    "$new" --version >/dev/null || fail "the program does not start"
    mv -f "$new" "$directory/storefront" || fail "cannot write \`$directory/storefront\`"

    echo "installed storefront $found: $directory/storefront"
    case :$PATH: in
        *":$directory:"*) ;;
        *) echo "add it to PATH, in the start file of your shell: export PATH=\"$directory:\$PATH\"" ;;
    esac
}

# In a function, so that half of a script that was not downloaded to its end does nothing.
main
