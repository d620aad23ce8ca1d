#compdef cleanslate
# zsh completion of cleanslate: asks the program itself. What comes back is never evaluated.

_cleanslate() {
    local -a answer plain open
    local line text program=${(Q)words[1]/#\~\//$HOME/}
    (( $+commands[$program] )) || [[ $program == */* && -x $program ]] || program=cleanslate
    answer=("${(@f)$("$program" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}")
    for line in "${(@)answer[2,-1]}"; do
        text=${line%%$'\t'*}
        [[ -n $text ]] || continue
        # _describe has a colon between the word and what it is about.
        if [[ $text == *= ]]; then
            open+=("${text//:/\\:}:${line#*$'\t'}")
        else
            plain+=("${text//:/\\:}:${line#*$'\t'}")
        fi
    done
    (( $#plain )) && _describe -t words word plain
    (( $#open )) && _describe -t forms form open -S ''
    [[ $answer[1] == files\ * ]] || return 0
    compset -p ${answer[1]#files }
    _files
}

if [[ $funcstack[1] == _cleanslate ]]; then
    _cleanslate "$@"
else
    compdef _cleanslate cleanslate
fi
