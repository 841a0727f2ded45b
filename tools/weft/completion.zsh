#compdef weft
# Completion of the command weft for zsh.
_weft() {
    local -a devices
    _arguments -C '1:command:(eval info explain bench trace cache --help --version)' '*::argument:->arguments'
    [[ $state == arguments ]] || return
    devices=(${(f)"$(weft info --json 2>/dev/null | grep -o '"id": "[^"]*"' | cut -d '"' -f 4)"})
    case ${words[1]} in
    eval)
        _arguments '1:code:' '*-o[save a result]:NAME=FILE:_files' "--device[where to compute]:device:(${devices//:/\\:})" \
            '--engine[of the CPU]:engine:(auto interpreter llvm)' '--seed[of random operands]:number:' \
            '--stream[in pieces]:when:(auto always never)' '--compress[npz files]' '--json' '--help' '*:operand:_files'
        ;;
    explain)
        _arguments '1:code or file:_files' '--target[code for]:target:(cuda opencl llvm interpreter ir)' \
            "--device[context of calls]:device:(${devices//:/\\:})" '*--host[what a host function does]:NAME=ACCESS:' '--json' \
            '--svg[a picture]' '--help' '*:operand:_files'
        ;;
    bench)
        _arguments "--device[only this one]:device:(${devices//:/\\:})" '--elements[of an array]:number:' '--json' '--help'
        ;;
    trace) _arguments '1:file of the timeline:_files' '2:program after --:(--)' '*:::program:_normal' '--help' ;;
    info) _arguments '--calibrate[measure costs]' '--json' '--help' ;;
    cache) _arguments '1:what:(clear)' '--json' '--help' ;;
    esac
}
_weft "$@"
