package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// block matches a script of docs/dsl.md, or a command and what it prints.
var block = regexp.MustCompile("(?s)```(python|console)\n(?:\\$ flexpipe ([^\n]*)\n)?(.*?)```")

// pipelineMade matches a script that makes its pipeline.
var pipelineMade = regexp.MustCompile(`(?m)^p = `)

// page is docs/dsl.md while its scripts are run.
type page struct {
	text     string
	preamble string // the line that makes the pipeline of scripts without one
	script   string // the last one
}

// TestDSLPage runs the scripts of docs/dsl.md: those without a pipeline of their own
// behind the first line of the first. What a command prints, on both outputs, is
// compared; a script without a command must give a plan. With -update new output is
// put in.
func TestDSLPage(t *testing.T) {
	name, err := filepath.Abs("../../docs/dsl.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	p := page{text: string(text)}
	blocks := block.FindAllStringSubmatch(p.text, -1)
	for i, b := range blocks {
		if b[1] == "console" {
			p.runCommand(t, b[0], b[2], b[3])
			continue
		}
		if p.take(b[3]); i+1 == len(blocks) || blocks[i+1][1] == "python" {
			p.runAlone(t)
		}
	}
	if *update {
		if err := os.WriteFile(name, []byte(p.text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// take makes a script the last one.
func (p *page) take(script string) {
	if p.preamble == "" {
		p.preamble, _, _ = strings.Cut(script, "\n")
	}
	if !pipelineMade.MatchString(script) {
		script = p.preamble + "\n" + script
	}
	p.script = script
}

// runAlone runs a script without a command.
func (p *page) runAlone(t *testing.T) {
	t.Helper()
	code, _, messages := runIn(p.script, "build", "-q", "-")
	if code != exitDone {
		t.Errorf("%s\nexit code %d: %s", p.script, code, messages)
	}
}

// runCommand runs a command, with the last script as the file that it names.
func (p *page) runCommand(t *testing.T, shown, command, want string) {
	t.Helper()
	args := strings.Fields(command)
	i := slices.IndexFunc(args, func(arg string) bool { return strings.HasSuffix(arg, ".star") })
	if err := os.WriteFile(args[i], []byte(p.script), 0o666); err != nil {
		t.Fatal(err)
	}
	_, out, messages := runIn("", args...)
	got := withoutTimes(messages + out)
	if got == want {
		return
	}
	if !*update {
		t.Errorf("flexpipe %s prints\n%s\ndocs/dsl.md has\n%s", command, got, want)
	}
	p.text = strings.Replace(p.text, shown, "```console\n$ flexpipe "+command+"\n"+got+"```", 1)
}
