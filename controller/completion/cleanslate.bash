# bash completion of cleanslate: asks the program itself.
# shellcheck shell=bash
# What comes back is never evaluated, and quoted before it stands on the command line.

_cleanslate() {
    COMPREPLY=()
    local typed=() rest=${COMP_LINE:0:COMP_POINT} word i
    # bash also splits words at = and : and @, between which no blank stands.
    for ((i = 0; i <= COMP_CWORD; ++i)); do
        word=${COMP_WORDS[i]}
        if ((i > 0)) && [[ $rest != [[:blank:]]* ]]; then
            typed[-1]+=$word
        else
            typed+=("$word")
        fi
        rest=${rest#"${rest%%[![:blank:]]*}"}
        rest=${rest#"$word"}
    done
    local current=${typed[-1]} program=${typed[0]/#\~\//"$HOME/"} quote='' before='' mark
    type -P -- "$program" >/dev/null || program=cleanslate
    case $current in
        [\'\"]*) quote=${current:0:1} current=${current:1} ;;
        *)
            current=${current//\\/}
            for mark in = : @; do # what of the word readline leaves alone
                [[ $COMP_WORDBREAKS == *$mark* && $current == *$mark* ]] || continue
                word=${current%"$mark"*}$mark
                ((${#word} <= ${#before})) || before=$word
            done
            ;;
    esac
    typed=("${typed[@]:1:${#typed[@]}-2}")

    local answer text
    mapfile -t answer < <("$program" __complete "${typed[@]//[\'\"\\]/}" "$current" 2>/dev/null </dev/null)
    for text in "${answer[@]:1}"; do
        text=${text%%$'\t'*}
        [[ $text != *= ]] || compopt -o nospace
        text=${text#"$before"}
        [ -n "$quote" ] || { printf -v text %q "$text" && text=${text//\\,/,}; }
        COMPREPLY+=("$text")
    done
    [[ ${answer[0]} == files\ * ]] || return 0
    compopt -o filenames
    local from=${answer[0]#files }
    while IFS= read -r text; do
        text=${current:0:from}$text
        COMPREPLY+=("${text#"$before"}")
    done < <(compgen -f -- "${current:from}")
}

complete -F _cleanslate cleanslate
