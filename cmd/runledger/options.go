package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The arguments are wrong.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, values ...any) error {
	return &usageError{fmt.Sprintf(format, values...)}
}

// The format of an automation's id.
var uuidForm = regexp.MustCompile(`(?i)^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$`)

// Options of a command line by name, without dashes. A given flag has the value "true".
type values map[string]string

// Which options a command has.
type optionSpec struct {
	texts []string
	flags []string
}

// Parses `--name value`, `--name=value` and `--flag`. An error names any other argument; `hint`
// explains one that is no option.
func parseOptions(args []string, spec optionSpec, hint string) (values, []string, error) {
	found := values{}
	var positional []string
	for at := 0; at < len(args); at++ {
		arg := args[at]
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			if hint != positionalAllowed {
				return nil, nil, usagef("unexpected argument %q%s", arg, hint)
			}
			positional = append(positional, arg)
			continue
		}
		name, value, inline := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		raw, _, _ := strings.Cut(arg, "=")
		isLong := strings.HasPrefix(arg, "--")
		switch {
		case isLong && slices.Contains(spec.flags, name):
			if inline {
				return nil, nil, usagef("%s takes no value", raw)
			}
			found[name] = "true"
		case isLong && slices.Contains(spec.texts, name):
			if !inline {
				if at+1 >= len(args) {
					return nil, nil, usagef("%s needs a value", raw)
				}
				at++
				value = args[at]
				// Most likely the value is missing and this is the next option.
				if strings.HasPrefix(value, "-") {
					return nil, nil, usagef("%s needs a value before %q", raw, value)
				}
			}
			found[name] = value
		default:
			return nil, nil, usagef("unknown option %q", raw)
		}
	}
	return found, positional, nil
}

// In place of a hint: arguments that are no options are allowed and returned.
const positionalAllowed = "\x00"
