package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/heuristics"
)

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "write a completion script for bash, zsh or fish",
		ArgsUsage: "SHELL",
		Description: "bash: source <(flexpipe completion bash)\n" +
			"zsh:  source <(flexpipe completion zsh)\n" +
			"fish: flexpipe completion fish | source",
		Flags:  outputFlags("write the script to this `FILE`"),
		Action: p.completion,
	}
}

func (p *program) completion(c *cli.Context) error {
	if !c.Args().Present() {
		return errors.New("completion needs a shell: bash, zsh or fish")
	}
	if err := atMost(c, 1); err != nil {
		return err
	}
	var script string
	switch shell := c.Args().First(); shell {
	case "bash":
		script = bashCompletion(c.App)
	case "zsh":
		script = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n" + bashCompletion(c.App)
	case "fish":
		script = fishCompletion(c.App)
	default:
		return fmt.Errorf("completion: unknown shell %q; write bash, zsh or fish", shell)
	}
	return p.output(c.String("output"), func(w io.Writer) error {
		_, err := io.WriteString(w, script)
		return err
	})
}

// completions lists the words that a flag or an argument takes; what is not here
// is completed as a file.
func completions() map[string][]string {
	var schedules []string
	for _, s := range heuristics.Schedules() {
		schedules = append(schedules, s.Name)
	}
	return map[string][]string{
		"--mode":      {"auto", "exact", "heuristic"},
		"--schedule":  schedules,
		"--objective": {"makespan", "span"},
		"--format":    {"ascii", "svg"},
		"completion":  {"bash", "zsh", "fish"},
	}
}

// eachFlag calls visit for each flag of a command as users write it.
func eachFlag(c *cli.Command, visit func(flag, usage string)) {
	for _, f := range c.Flags {
		usage := ""
		if doc, ok := f.(cli.DocGenerationFlag); ok {
			usage = strings.ReplaceAll(doc.GetUsage(), "`", "")
		}
		for _, name := range f.Names() {
			visit(dashes(name), usage)
		}
	}
}

func bashCompletion(app *cli.App) string {
	var b strings.Builder
	b.WriteString("_flexpipe() {\n  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n  case $before in\n")
	lists := completions()
	for _, c := range app.Commands {
		eachFlag(c, func(flag, _ string) {
			if words := lists[flag]; words != nil {
				fmt.Fprintf(&b, "    %s) COMPREPLY=($(compgen -W %q -- \"$word\")); return;;\n", flag, strings.Join(words, " "))
				delete(lists, flag)
			}
		})
	}
	b.WriteString("  esac\n  if [[ $COMP_CWORD -eq 1 ]]; then words=\"")
	for i, c := range app.Commands {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(c.Name)
	}
	b.WriteString("\"; else\n    case ${COMP_WORDS[1]} in\n")
	for _, c := range app.Commands {
		words := lists[c.Name]
		eachFlag(c, func(flag, _ string) { words = append(words, flag) })
		fmt.Fprintf(&b, "      %s) words=%q;;\n", c.Name, strings.Join(words, " "))
	}
	b.WriteString("    esac\n  fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n" +
		"  [[ $COMP_CWORD -gt 1 && $word != -* ]] && COMPREPLY+=($(compgen -f -- \"$word\"))\n  return 0\n}\n" +
		"complete -o filenames -F _flexpipe flexpipe\n")
	return b.String()
}

func fishCompletion(app *cli.App) string {
	var b strings.Builder
	lists := completions()
	for _, c := range app.Commands {
		fmt.Fprintf(&b, "complete -c flexpipe -n __fish_use_subcommand -f -a %s -d %s\n", c.Name, fishQuote(c.Usage))
		seen := "'__fish_seen_subcommand_from " + c.Name + "'"
		if words := lists[c.Name]; words != nil {
			fmt.Fprintf(&b, "complete -c flexpipe -n %s -f -a %s\n", seen, fishQuote(strings.Join(words, " ")))
		}
		eachFlag(c, func(flag, usage string) {
			option := "-l " + strings.TrimPrefix(flag, "--")
			if len(flag) == 2 {
				option = "-s " + flag[1:]
			}
			if words := lists[flag]; words != nil {
				option += " -x -a " + fishQuote(strings.Join(words, " "))
			}
			fmt.Fprintf(&b, "complete -c flexpipe -n %s %s -d %s\n", seen, option, fishQuote(usage))
		})
	}
	return b.String()
}

func fishQuote(text string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), "'", `\'`) + "'"
}
