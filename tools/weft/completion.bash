# Completion of the command weft for bash.
_weft() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=""
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "eval info explain bench trace cache --help --version" -- "$word")
        return
    fi
    case "$before" in
    --device) words=$(weft info --json 2>/dev/null | grep -o '"id": "[^"]*"' | cut -d '"' -f 4) ;;
    --engine) words="auto interpreter llvm" ;;
    --stream) words="auto always never" ;;
    --target) words="cuda opencl llvm interpreter ir" ;;
    *)
        case "${COMP_WORDS[1]}" in
        eval) words="-o --device --engine --seed --stream --compress --json --help" ;;
        info) words="--calibrate --json --help" ;;
        explain) words="--target --device --host --json --svg --help" ;;
        bench) words="--device --elements --json --help" ;;
        trace) words="-- --help" ;;
        cache) words="clear --json --help" ;;
        esac
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    case "$before ${COMP_WORDS[1]}" in
    *" trace") [ "$before" != -- ] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -c -- "$word") ;;&
    "= "* | *" eval" | *" explain" | *" trace") mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "${word#=}") ;;
    esac
}
complete -o filenames -F _weft weft
