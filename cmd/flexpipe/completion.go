package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
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
		Flags:  commonFlags("write the script to this `FILE`", writes),
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
		"--engine":    engineNames(),
		"--schedule":  schedules,
		"--objective": {"makespan", "span"},
		"--format":    {"ascii", "svg", "trace"},
		"--backend":   {onCPU, onEmulated},
		"--schedules": append(slices.Clone(schedules), bySolve, byTune),
		"completion":  {"bash", "zsh", "fish"},
	}
}

// eachFlag calls visit for each of the flags that help shows, as users write it.
func eachFlag(flags []cli.Flag, visit func(flag, usage string)) {
	for _, f := range flags {
		usage := ""
		if doc, ok := f.(cli.DocGenerationFlag); ok {
			usage = strings.ReplaceAll(doc.GetUsage(), "`", "")
		}
		if visible, ok := f.(cli.VisibleFlag); ok && !visible.IsVisible() || f == cli.HelpFlag {
			continue
		}
		for _, name := range f.Names() {
			visit(dashes(name), usage)
		}
	}
}

// flagNames lists flags as users write them.
func flagNames(flags []cli.Flag) []string {
	var names []string
	eachFlag(flags, func(flag, _ string) { names = append(names, flag) })
	return names
}

// bashScript completes in bash, and in zsh by its emulation. It reads lines one by
// one, because file names hold spaces and old versions know no mapfile. Its
// parts are cases of flags with words, names of commands as a pattern, flags
// before a command, cases of commands, and names of commands.
const bashScript = `_flexpipe() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= words= flags= files= i line
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      %[2]s) command=${COMP_WORDS[i]}; break;;
    esac
  done
  case $before in
%[1]s    *)
      case $command in
        "") words="%[5]s" flags="%[3]s";;
%[4]s      esac;;
  esac
  [[ $word == -* ]] && words=$flags files=
  COMPREPLY=()
  while IFS= read -r line; do
    [[ -n $line ]] && COMPREPLY+=("$line")
  done < <(
    compgen -W "$words" -- "$word"
    [[ -n $files ]] && compgen -f -- "$word"
  )
  return 0
}
complete -o filenames -F _flexpipe flexpipe
`

func bashCompletion(app *cli.App) string {
	var flags, commands strings.Builder
	var names []string
	lists := completions()
	for _, c := range app.Commands {
		names = append(names, c.Name)
		for _, flag := range flagNames(c.Flags) {
			if words := lists[flag]; words != nil {
				fmt.Fprintf(&flags, "    %s) words=%q;;\n", flag, strings.Join(words, " "))
				delete(lists, flag)
			}
		}
		words, files := lists[c.Name], ""
		if words == nil && c.ArgsUsage != "" {
			files = " files=1"
		}
		fmt.Fprintf(&commands, "        %s) words=%q flags=%q%s;;\n",
			c.Name, strings.Join(words, " "), strings.Join(flagNames(c.Flags), " "), files)
	}
	flags.WriteString("    --output|-o|--proof|--dimacs) files=1;;\n")
	common := flagNames(commonFlags("", writes))
	return fmt.Sprintf(bashScript, flags.String(), strings.Join(names, "|"), strings.Join(common, " "), commands.String(), strings.Join(names, " "))
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
		eachFlag(c.Flags, func(flag, usage string) {
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
