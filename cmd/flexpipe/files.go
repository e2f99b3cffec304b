package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

const (
	standard  = "-" // standard input or output
	stdinName = "<stdin>"
)

// displayName is what messages call an input file.
func displayName(name string) string {
	if name == standard {
		return stdinName
	}
	return name
}

// loadConfig reads a configuration and prints its warnings.
func (p *program) loadConfig(name string, quiet bool) (*config.Config, error) {
	if name == "" {
		return nil, errors.New("the name of the configuration is empty; write a file, or - for standard input")
	}
	p.input = name
	name = displayName(name)
	var input bytes.Buffer // what standard input held, as far as it was read
	cfg, err := config.Load(inputFS{io.TeeReader(p.in, &input)}, filepath.ToSlash(name))
	var wrong config.Errors
	var one *config.Error
	if (errors.As(err, &wrong) || errors.As(err, &one)) && filepath.Ext(name) == ".star" {
		return nil, &placedError{name, errors.New("this is a script, no configuration; use flexpipe build")}
	}
	if err != nil {
		if other := otherFile(beginning(name, &input)); other != nil {
			return nil, &placedError{name, other}
		}
	}
	if err != nil {
		return nil, err
	}
	if !quiet {
		for _, w := range cfg.Warnings {
			fmt.Fprintf(p.err, "flexpipe: warning: %s:%s\n", name, w)
		}
	}
	return cfg, nil
}

// beginning returns the first bytes of a file, or of standard input; none if it
// cannot be read.
func beginning(name string, input io.Reader) []byte {
	if name != stdinName {
		f, err := os.Open(name)
		if err != nil {
			return nil
		}
		defer f.Close()
		input = f
	}
	head := make([]byte, 256)
	n, _ := io.ReadFull(input, head)
	return head[:n]
}

// otherFile says what a file is, by its beginning, that is no configuration; nil if that is not
// known.
func otherFile(head []byte) error {
	switch {
	case bytes.Contains(head, []byte(`"flexpipe/plan"`)):
		return errors.New("this is a plan file, no configuration; use flexpipe check, show or run")
	case bytes.Contains(head, []byte(`"flexpipe/profile"`)):
		return errors.New("this is a profile, no configuration; name it in one, as profile: FILE")
	}
	return nil
}

// inputFS serves the files of the operating system by any path, also one with
// "..", and standard input as <stdin>. What <stdin> names is relative to the
// working directory.
type inputFS struct{ stdin io.Reader }

func (f inputFS) Open(name string) (fs.File, error) {
	if name == stdinName {
		return stdinFile{f.stdin}, nil
	}
	return os.Open(filepath.FromSlash(name))
}

type stdinFile struct{ io.Reader }

func (stdinFile) Stat() (fs.FileInfo, error) {
	return nil, &fs.PathError{Op: "stat", Path: stdinName, Err: errors.ErrUnsupported}
}
func (stdinFile) Close() error { return nil }

// loadPlan reads a plan file.
func (p *program) loadPlan(name string) (*model.PlanFile, error) {
	if name == "" {
		return nil, errors.New("the name of the plan is empty; write a file, or - for standard input")
	}
	p.input = name
	data, err := p.read(name)
	if err != nil {
		return nil, fmt.Errorf("reading plan: %w", err)
	}
	file, err := model.DecodePlan(data)
	var wrong *model.FileError
	if errors.As(err, &wrong) {
		return nil, &placedError{fmt.Sprintf("%s:%d:%d", displayName(name), wrong.Line, wrong.Column), reason(wrong)}
	}
	return file, err
}

// reason returns what a FileError says beside the place.
func reason(e *model.FileError) error {
	text := e.Reason
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if errors.Is(e, model.ErrNotPlan) {
		text += "; flexpipe solve makes one"
	}
	return errors.New(text)
}

func (p *program) read(name string) ([]byte, error) {
	if name == standard {
		return io.ReadAll(p.in)
	}
	return os.ReadFile(name)
}

// loadProfile reads a profile.
func (p *program) loadProfile(name string) (*config.Profile, error) {
	data, err := p.read(name)
	if err != nil {
		return nil, fmt.Errorf("reading profile: %w", err)
	}
	return config.DecodeProfile(data, displayName(name))
}
