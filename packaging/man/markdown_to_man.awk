# markdown_to_man.awk: a page of docs/ as a manual page. Tables become lists of terms, which stay readable in 80
# columns. Knows what those pages use: headings, paragraphs, lists, tables, fenced and indented blocks, `code`, **bold**,
# *emphasis* and links, of which the text stays.
#
#   awk -v name=cleanslate-inventory -v section=5 -v about='...' -v date=2026-11-30 -v version=0.1.0 \
#       -v source=inventory-format.md -f markdown_to_man.awk inventory-format.md

# What roff would take for its own.
function escape(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/\^/, "\\(ha", text)
    gsub(/~/, "\\(ti", text)
    gsub(/`/, "\\(ga", text)
    gsub(/'/, "\\(aq", text)
    return text
}
# A line of text may begin with neither of these.
function begun(text) { return text ~ /^[.]/ ? "\\&" text : text }

# Text between marks in a font of its own: emphasised(TEXT, MARK, FONT)
function emphasised(text, mark, font,    out, from, to) {
    while ((from = index(text, mark)) > 0 && (to = index(substr(text, from + length(mark)), mark)) > 1) {
        out = out substr(text, 1, from - 1) "\\f" font substr(text, from + length(mark), to - 1) "\\fR"
        text = substr(text, from + to + 2 * length(mark) - 1)
    }
    return out text
}
function plain(text) {
    gsub(/[`*]/, "", text)
    return unlinked(text)
}
# [text](address) -> text
function unlinked(text,    out, shown) {
    while (match(text, /\[[^][]*\]\([^()]*\)/)) {
        shown = substr(text, RSTART + 1, RLENGTH - 1)
        sub(/\]\(.*/, "", shown)
        out = out substr(text, 1, RSTART - 1) shown
        text = substr(text, RSTART + RLENGTH)
    }
    return out text
}
# No word of code is hyphenated; within a word the same mark would allow just that.
function unbroken(code, before) {
    gsub(/ /, " \\%", code)
    return (before ~ /(^| )$/ ? "\\%" : "") code
}
# Code is bold, and nothing in it is a mark.
function inlined(text,    out, part, parts, i) {
    part = split(unlinked(text), parts, "`")
    for (i = 1; i <= part; ++i) {
        if (i % 2 == 0 && i < part)
            out = out "\\fB" unbroken(escape(parts[i]), out) "\\fR"
        else
            out = out (i % 2 == 0 ? "\\(ga" : "") emphasised(emphasised(escape(parts[i]), "**", "B"), "*", "I")
    }
    return out
}

# Prints text in lines that people can read here, too.
function say(text,    count, words, i, line) {
    count = split(text, words, " ")
    for (i = 1; i <= count; ++i) {
        if (line != "" && length(line) + length(words[i]) >= 79) {
            print begun(line)
            line = ""
        }
        line = line (line == "" ? "" : " ") words[i]
    }
    print begun(line)
    fresh = 0
}

# --- what is gathered until it ends ---------------------------------------------------------------------------------

function end_paragraph(    text) {
    if (paragraph == "") return
    text = inlined(paragraph)
    paragraph = ""
    if (pending != "") print pending
    else if (!fresh) print "." (level > 0 ? "IP" : "PP")
    pending = ""
    say(text)
}
function end_list() {
    end_paragraph()
    level = 0
}
# A block of lines as they are: further to the left where they are long.
function begin_block() {
    end_list()
    block = 1
    lines = widest = 0
}
function literal(line) {
    if (length(line) > widest) widest = length(line)
    line = escape(line)
    kept[++lines] = (line ~ /^[.]/ ? "\\&" : "") line
}
function end_block(    i) {
    if (!block) return
    block = 0
    if (!fresh) print ".PP"
    if (widest <= 69) print ".RS 4"
    if (widest > 73) print ".RS -7"
    print ".EX"
    for (i = 1; i <= lines; ++i) print kept[i]
    print ".EE"
    if (widest <= 69 || widest > 73) print ".RE"
    fresh = 0
}
function headed(macro, text) {
    end_list()
    print macro " " text
    fresh = 1
}

# "| a | b |" -> cells[1..n]; a bar in code is written \|
function cells_of(line, cells,    count, i) {
    sub(/^[ ]*\|[ ]*/, "", line)
    sub(/[ ]*\|[ ]*$/, "", line)
    gsub(/\\\|/, "\001", line)
    count = split(line, cells, /[ ]*\|[ ]*/)
    for (i = 1; i <= count; ++i) gsub(/\001/, "|", cells[i])
    return count
}
# One row: its first cell is the term; the second what it means; the others are named by their headings.
function table_row(line,    cells, count, i) {
    count = cells_of(line, cells)
    print ".TP"
    print begun(cells[1] ~ /`/ ? inlined(cells[1]) : "\\fB" inlined(cells[1]) "\\fR")
    say(cells[2] == "" ? "\\&" : inlined(cells[2]))
    for (i = 3; i <= count; ++i) {
        if (cells[i] == "") continue
        print ".br"
        say((heading[i] == "" ? "" : "\\fI" inlined(heading[i]) ":\\fR ") inlined(cells[i]))
    }
}

BEGIN {
    title = toupper(name)
    printf ".\\\" Made from docs/%s: change that.\n", source
    printf ".TH %s %s %s \"cleanslate %s\" \"cleanslate\"\n", escape(title), section, date, version
    print ".ad l"
    print ".SH NAME\n" escape(name) " \\- " escape(about)
    headed(".SH", "DESCRIPTION")
}

/^```/ {
    if (fenced) { fenced = 0; end_block(); next }
    fenced = 1
    begin_block()
    next
}
fenced { literal($0); next }

/^    / && paragraph == "" && level == 0 {
    if (!block) begin_block()
    while (empty-- > 0) literal("")
    empty = 0
    literal(substr($0, 5))
    next
}
block && /^$/ { ++empty; next }
block { empty = 0; end_block() }

/^$/ { end_paragraph(); table = 0; next }
/^# / { next }  # the page's name says it
/^## / { headed(".SH", toupper(escape(plain(substr($0, 4))))); next }
/^###* / { sub(/^#* /, ""); headed(".SS", escape(plain($0))); next }

/^\|[- :|]*\|$/ { next }
/^\|/ {
    end_list()
    if (!table) { table = 1; cells_of($0, heading); next }
    table_row($0)
    next
}
{ table = 0 }

/^- / || /^[0-9]+\. / {
    end_paragraph()
    mark = $1
    pending = mark == "-" ? ".IP \\(bu 2" : ".IP " mark " 4"
    level = 1
    paragraph = substr($0, length(mark) + 2)
    next
}
level > 0 && !/^ / && paragraph == "" { end_list() }
{
    sub(/^ */, "")
    paragraph = paragraph (paragraph == "" ? "" : " ") $0
}
END { end_block(); end_list() }
