# Shared by the commands of ./dev: progress lines, options, the list of what was left out.

step_number=0
step_count=0
left_out=()

# steps N: this command has N steps.
steps() { step_count=$1; }

# step TEXT: says that the next step begins.
step() {
    step_number=$((step_number + 1))
    printf '[%d/%d] %s\n' "$step_number" "$step_count" "$*"
}

say() { printf '      %s\n' "$*"; }

die() {
    printf 'dev: %s\n' "$*" >&2
    exit 1
}

# wrong_usage TEXT: the arguments make no sense.
wrong_usage() {
    printf 'dev: %s\n' "$*" >&2
    printf 'Try ./dev %s --help\n' "$command" >&2
    exit 2
}

# leave_out WHAT: remembers, for the summary, what was not done and why.
leave_out() { left_out+=("$*"); }

print_left_out() {
    [ ${#left_out[@]} -eq 0 ] && return
    printf 'left out:\n'
    printf '  %s\n' "${left_out[@]}"
}

# option_value "$@": the value of the option that comes first, which must be there.
option_value() {
    [ $# -ge 2 ] && [ -n "$2" ] || wrong_usage "$1 needs a value"
    value=$2
}

# path_given PATH: a path as the caller meant it, who may stand in another folder.
path_given() {
    case "$1" in
    /*) echo "$1" ;;
    *) echo "$called_from/$1" ;;
    esac
}

have() { command -v "$1" >/dev/null 2>&1; }

processors() { nproc 2>/dev/null || echo 2; }
