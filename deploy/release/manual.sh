#!/bin/sh
# Writes the manual page and the completions of the command `runledger` into a folder:
#   manual.sh PROGRAM FOLDER
# The page is what `runledger help` prints: a section for each paragraph.
set -eu
program=$1 folder=$2
mkdir -p "$folder"
{
  echo ".TH RUNLEDGER 1 \"\" \"Runledger $("$program" version)\""
  echo .na
  "$program" help | sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\\([.']\\)/\\\\\\&\\1/" | awk '
    NR == 1 {
      sub(/^Reports/, "reports"); sub(/\.$/, "")
      print ".SH NAME\nrunledger \\- " $0 "\n.SH SYNOPSIS\n.B runledger\nCOMMAND [ARGUMENT…]\n.SH COMMANDS"
      next
    }
    /^$/ { if (open) print ".fi"; open = 0; next }
    !open { sub(/^ +/, ""); print ".SS " $0 "\n.nf"; open = 1; next }
    { sub(/^      /, ""); print }
    END { if (open) print ".fi" }'
  printf '%s\n' '.SH FILES' '.I /var/spool/runledger' 'is the spool of root.' '.SH SEE ALSO' \
    'https://github.com/runledger/runledger'
} | gzip -n -9 > "$folder/runledger.1.gz"
"$program" completion bash > "$folder/runledger.bash"
"$program" completion zsh > "$folder/_runledger"
"$program" completion fish > "$folder/runledger.fish"
"$program" completion powershell > "$folder/runledger.ps1"
