# ./dev install: builds the release preset and installs it.

usage() {
    cat <<'END'
usage: ./dev install --prefix DIR

Builds the library with the release preset and installs headers, libraries, the command weft, weft.pc, the CMake package
and the documents below DIR.
END
}

main() {
    local prefix=""
    while [ $# -gt 0 ]; do
        case "$1" in
        -h | --help) usage && exit 0 ;;
        --prefix) option_value "$@" && prefix=$value && shift 2 ;;
        --prefix=*) prefix=${1#*=} && shift ;;
        *) wrong_usage "install does not know \"$1\"" ;;
        esac
    done
    [ -n "$prefix" ] || wrong_usage "install needs --prefix DIR"
    prefix=$(path_given "$prefix")
    steps 3
    require compiler cmake builder
    prefer pkg-config # which the line for programs uses
    install_packages
    step "building"
    configure release && build release installed || die "the build failed"
    step "installing into $prefix"
    mkdir -p "$prefix" || die "$prefix cannot be made"
    prefix=$(cd "$prefix" && pwd)
    cmake --install build/release --prefix "$prefix" >build/install.log || die "see build/install.log"
    cat <<END
Installed. To build and run a program with it:
  export PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name weft.pc | head -n 1)")
  export LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name libweft.so | head -n 1)")
  cc program.c \$(pkg-config --cflags --libs weft)
The command weft is in $prefix/bin:
  export PATH=$prefix/bin:\$PATH
END
}
