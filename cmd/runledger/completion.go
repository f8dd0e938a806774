package main

import "fmt"

const wordsOfCompletion = "exec event flush executions events tail doctor install completion help"
const optionsOfCompletion = "--automation --execution --description --tail --no-tail --verbose --dry-run " +
	"--spool --timeout-ms --url --token-file --ca-file --console --json --state --kind --error-id --from " +
	"--since --to --q --limit --all --id --detail --help"

// `runledger completion SHELL`: prints the completion script for a shell.
func runCompletion(args []string) (int, error) {
	switch first(args) {
	case "bash":
		fmt.Printf(`_runledger() {
  local word=${COMP_WORDS[COMP_CWORD]} at
  for ((at = 1; at < COMP_CWORD; at++)); do
    if [[ ${COMP_WORDS[at]} == -- ]]; then _command_offset $((at + 1)) 2>/dev/null; return; fi
  done
  if ((COMP_CWORD == 1)); then COMPREPLY=($(compgen -W '%s' -- "$word"))
  elif [[ $word == -* ]]; then COMPREPLY=($(compgen -W '%s' -- "$word"))
  else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -F _runledger runledger
`, wordsOfCompletion, optionsOfCompletion)
	case "zsh":
		fmt.Printf(`#compdef runledger
if (( CURRENT == 2 )); then compadd %s
elif [[ $PREFIX == -* ]]; then compadd -- %s
else _files; fi
`, wordsOfCompletion, optionsOfCompletion)
	case "fish":
		fmt.Printf("complete -c runledger -n __fish_use_subcommand -f -a '%s'\n", wordsOfCompletion)
		fmt.Printf("complete -c runledger -n 'not __fish_use_subcommand' -a '%s'\n", optionsOfCompletion)
	case "powershell":
		fmt.Printf(`Register-ArgumentCompleter -Native -CommandName runledger -ScriptBlock {
  param($word, $command, $position)
  $all = if ($command.CommandElements.Count -le 2 -and -not $word.StartsWith('-')) { '%s' } else { '%s' }
  $all.Split(' ') | Where-Object { $_.StartsWith($word) } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`, wordsOfCompletion, optionsOfCompletion)
	default:
		return 0, usagef("the shell must be bash, zsh, fish or powershell")
	}
	return 0, nil
}
