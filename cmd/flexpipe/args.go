package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/flexpipe/flexpipe/model"
)

// arrange brings a command line into the order that the cli package parses: the
// command, then its flags, then "--" and the arguments. Users may write flags
// anywhere; "-" is an argument, and after "--" everything is.
func arrange(app *cli.App, args []string) ([]string, error) {
	table := newFlagTable(app)
	flags, rest, err := table.separate(args)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 && rest[0] == "help" {
		flags, rest = []string{"--help"}, rest[1:]
	}
	if asksFor(flags, cli.VersionFlag) {
		return []string{"--version"}, nil
	}
	if len(rest) == 0 {
		return []string{"--help"}, table.check("", flags)
	}
	command := app.Command(rest[0])
	if command == nil {
		return nil, unknownCommand(app, rest[0])
	}
	if asksFor(flags, cli.HelpFlag) {
		return []string{command.Name, "--help"}, nil
	}
	if err := table.check(command.Name, flags); err != nil {
		return nil, err
	}
	arranged := append([]string{command.Name}, flags...)
	return append(append(arranged, "--"), rest[1:]...), nil
}

// asksFor reports whether a flag is among the flags of a command line.
func asksFor(flags []string, flag cli.Flag) bool {
	return slices.ContainsFunc(flags, func(f string) bool {
		name, _, _ := splitFlag(f)
		return slices.Contains(flag.Names(), name)
	})
}

// wantsJSON reports whether a command line asks for JSON, even one that cannot be
// parsed.
func wantsJSON(args []string) bool {
	wants := false
	for _, arg := range args {
		if arg == "--" {
			break
		}
		name, value, hasValue := splitFlag(arg)
		if name != arg && name == "json" {
			yes, err := strconv.ParseBool(value)
			wants = !hasValue || (err == nil && yes)
		}
	}
	return wants
}

// flagTable knows the flags of all commands. A flag that several commands have
// takes a value in all of them or in none.
type flagTable struct {
	takesValue map[string]bool
	commands   map[string][]string // names of flags by command; "" is before any command
}

func newFlagTable(app *cli.App) *flagTable {
	t := &flagTable{takesValue: map[string]bool{}, commands: map[string][]string{}}
	t.add("", append(commonFlags("", reports), cli.HelpFlag, cli.VersionFlag)...)
	for _, c := range app.Commands {
		t.add(c.Name, c.Flags...)
		t.add(c.Name, cli.HelpFlag, cli.VersionFlag)
	}
	return t
}

func (t *flagTable) add(command string, flags ...cli.Flag) {
	for _, f := range flags {
		_, isBool := f.(*cli.BoolFlag)
		for _, name := range f.Names() {
			t.takesValue[name] = !isBool
			t.commands[command] = append(t.commands[command], name)
		}
	}
}

// separate splits a command line into flags, each with its value, and the rest.
func (t *flagTable) separate(args []string) (flags, rest []string, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return flags, append(rest, args[i+1:]...), nil
		}
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			rest = append(rest, arg)
			continue
		}
		name, value, hasValue := splitFlag(arg)
		if t.takesValue[name] && !hasValue {
			if i++; i == len(args) {
				return nil, nil, fmt.Errorf("flag %s needs a value", arg)
			}
			value, hasValue = args[i], true
		}
		if hasValue {
			arg = dashes(name) + "=" + value
		}
		flags = append(flags, arg)
	}
	return flags, rest, nil
}

// splitFlag splits --name=value. One dash is as good as two.
func splitFlag(arg string) (name, value string, hasValue bool) {
	return strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
}

// dashes returns a flag as users write it.
func dashes(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// check finds the first flag that the command does not have.
func (t *flagTable) check(command string, flags []string) error {
	for _, flag := range flags {
		name, _, _ := splitFlag(flag)
		known := t.commands[command]
		missing := unbuilt(unbuiltFlags[command], name, "flag "+dashes(name))
		switch {
		case slices.Contains(known, name):
		case missing != nil:
			return missing
		case command == "":
			return fmt.Errorf("unknown flag %s before a command%s", dashes(name), didYouMean(name, known, "--"))
		default:
			return fmt.Errorf("%s has no flag %s%s; flexpipe %s --help lists its flags",
				command, dashes(name), didYouMean(name, known, "--"), command)
		}
	}
	return nil
}

func unknownCommand(app *cli.App, name string) error {
	if err := unbuilt(unbuiltCommands, name, "command "+name); err != nil {
		return err
	}
	var names []string
	for _, c := range app.Commands {
		names = append(names, c.Name)
	}
	return fmt.Errorf("unknown command %q%s; the commands are %s",
		name, didYouMean(name, names, ""), strings.Join(names, ", "))
}

// didYouMean returns ", did you mean X?" with a prefix for the known word nearest
// to a misspelt one, or nothing if none is near. Words of one letter are near to
// everything.
func didYouMean(word string, known []string, prefix string) string {
	known = slices.DeleteFunc(slices.Clone(known), func(k string) bool { return len(k) == 1 })
	near := model.Nearest(word, known)
	if near == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %s%s?", prefix, near)
}
