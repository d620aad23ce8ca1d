# fish completion of cleanslate: asks the program itself. What comes back is never evaluated.

function __cleanslate_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct | string replace -r '^[\'"]' '')
    set -l program cleanslate
    if string match -q '*/*' -- $typed[1]; and test -x "$typed[1]"
        set program $typed[1]
    end
    command -q $program; or return
    set -l answer (command $program __complete $typed[2..-1] "$current" 2>/dev/null </dev/null)
    for line in $answer[2..-1]
        printf '%s\n' $line
    end
    if string match -q 'files *' -- $answer[1]
        set -l from (string replace 'files ' '' -- $answer[1])
        set -l before (string sub -l $from -- "$current")
        for file in (__fish_complete_path (string sub -s (math $from + 1) -- "$current"))
            printf '%s%s\n' "$before" $file
        end
    end
end

complete -c cleanslate -f -a '(__cleanslate_complete)'
