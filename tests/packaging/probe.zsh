# probe.zsh LINE: prints <<what stands on the line>> after the Tab that follows it, in a shell that reads a terminal.
zmodload zsh/zpty
zpty inner zsh -f -i
expect() {
    local got= part
    while zpty -r inner part; do
        got+=$part
        [[ $got == *$~1* ]] && break
    done
    print -r -- "$got"
}
zpty -w inner 'PROMPT= RPROMPT= TERM=dumb; unset zle_bracketed_paste; stty -echo columns 200; setopt no_beep'
zpty -w inner 'fpath=($PWD/functions $fpath); autoload -Uz compinit && compinit -C -d $PWD/dump'
zpty -w inner 'probe() { zle complete-word; print -r -- "<<$BUFFER>>"; exit 0 }'
zpty -w inner 'zle -N probe; bindkey "^X" probe; print re""ady'
expect ready >/dev/null
zpty -w -n inner "$1"$'\x18'
expect '>>'
zpty -d inner
