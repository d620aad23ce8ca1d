# Part of the survey: marks what nvidia-smi prints, and finds out which optional fields it knows. POSIX sh;
# docs/remote-protocol.md has the grammar of what it prints.
# shellcheck shell=sh
# shellcheck disable=SC2154 # nonce, learn, older_columns: from the survey's first lines; step, asked, tries: from look

# Marks each line with where it came from, and ends at the last record even where a stuck child keeps the pipe open:
# nothing that comes later can be taken for anything else. After too many lines of the core queries there is no last
# record; those of the others are dropped: in mksh each costs a fork.
tag() {
  section=gpu count=0 more=0 unknown='' held=''
  while IFS= read -r line && [ "$count" -lt 4096 ]; do
    case $line in
      "$nonce section "*) section=${line##* } ;;
      "$nonce done queries")
        end_round
        return 0
        ;;
      "$nonce "*) tag_record "${line#"$nonce "}" ;;
      *)
        case $section in
          gpu | app)
            count=$((count + 1))
            [ -z "$line" ] || printf '%s\n' "$section $line"
            ;;
          *)
            more=$((more + 1))
            [ "$more" -gt 1024 ] || [ -z "$line" ] || tag_optional
            ;;
        esac
        ;;
    esac
  done
}

# How the optional query ended is held back with its answer, where it can be asked again without a field.
tag_record() {
  case $1 in "took "*) [ "${1##* }" -le "$slowest" ] || slowest=${1##* } ;; esac
  case $1 in
    "took help "*) return ;;
    "tool help "*)
      helped=${1##* }
      return
      ;;
    "tool opt timeout") give_up ;;
    "took opt "* | "tool opt "[0-9]*)
      if [ -n "$unknown" ]; then
        held="$held
record $1"
        return
      fi
      ;;
  esac
  case $1 in "tool opt timeout" | "tool opt "[0-9]*) echo "record fields $asked" ;; esac
  echo "record $1"
}

tag_optional() {
  case $section:$line in
    help:\"*) note_known "$line" ;;
    help:*) ;;
    opt:'Field "'*'" is not a valid field to query.'*)
      name=${line#*\"}
      name=${name%%\"*}
      if [ "$learn" = 1 ] && [ -z "$unknown" ] && in_list "$name" "$asked"; then
        unknown=$name
        held="opt $line"
      else
        printf '%s\n' "$section $line"
      fi
      ;;
    *) printf '%s\n' "$section $line" ;;
  esac
}

# The answer that was held back counts.
give_up() {
  [ -z "$unknown" ] || printf '%s\n' "$held"
  unknown=
}

# in_list NAME A,B,...: a name has nothing but lower case letters, digits, _ and .
in_list() {
  case $1 in "" | *[!a-z0-9_.]*) return 1 ;; esac
  case ,$2, in *",$1,"*) ;; *) return 1 ;; esac
}

older_of() {
  older=,$older_columns
  case $older in *",$1:"*) older=${older#*",$1:"} older=${older%%,*} ;; *) older= ;; esac
}

# A line of --help-query-gpu: "name" or "other name".
note_known() {
  rest=$1
  for _ in 1 2 3 4; do
    case $rest in *\"*\"*) ;; *) return ;; esac
    rest=${rest#*\"}
    name=${rest%%\"*}
    rest=${rest#*\"}
    case $older_columns, in *":$name,"*) wanted=1 ;; *) wanted=0 ;; esac
    if in_list "$name" "$asked" || { [ "$wanted" = 1 ] && in_list "$name" "$name"; }; then known=$known,$name; fi
  done
}

# Takes out of asked what is not known, under the newer or the older name. A help that lists nothing is no help.
keep_known() {
  [ -n "$known" ] || return 0
  kept='' blanks=$IFS
  IFS=,
  for field in $asked; do
    older_of "$field"
    if in_list "$field" "$known"; then
      kept=$kept,$field
    elif in_list "$older" "$known"; then
      kept=$kept,$older
    else
      echo "record unknown-field $field"
    fi
  done
  IFS=$blanks  # to unset it is not enough for mksh
  asked=${kept#,}
}

drop_field() {
  in_list "$1" "$asked" || return 0
  asked=,$asked,
  asked=${asked%%",$1,"*},${asked#*",$1,"}
  asked=${asked#,}
  asked=${asked%,}
  echo "record unknown-field $1"
}

# Behind the last record of a round: the end, or the next round, which has a pipe and this of its own.
end_round() {
  if [ "$step" = help ]; then
    case $helped in
      timeout)
        echo "record tool opt timeout"
        echo "record done queries"
        ;;
      *)
        keep_known
        drop_field "$refused"
        ask_again
        ;;
    esac
  elif [ -z "$unknown" ]; then
    echo "record done queries"
  elif [ "$tries" -ge 3 ]; then
    echo "record fields $asked"
    give_up
    echo "record done queries"
  elif [ "$step" = first ]; then
    refused=$unknown
    if can_spare; then
      step='help' known='' helped=''
      one_more help --help-query-gpu </dev/null | tag
    else
      echo "record tool opt skipped"
      echo "record done queries"
    fi
  else
    tries=$((tries + 1))
    drop_field "$unknown"
    ask_again
  fi
}

ask_again() {
  step=again
  if [ -n "$asked" ] && can_spare; then
    one_more opt </dev/null | tag
  else
    echo "record fields ${asked:--}"
    echo "record tool opt skipped"
    echo "record done queries"
  fi
}

# Another question after the others.
one_more() {
  begin_asking
  case $1 in
    opt) ask_optional_columns "$asked" || print_stuck 0 ;;
    *) ask "$@" || print_stuck 0 ;;
  esac
  end_asking
}
