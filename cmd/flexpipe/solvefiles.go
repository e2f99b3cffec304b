package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// files returns the names of the files to write, "" for none.
func (o *solveOptions) files() []string { return []string{o.plan, o.proof, o.formula} }

// fileFlags are the flags of files.
var fileFlags = []string{"-o", "--proof", "--dimacs"}

// standardTaken reports whether a file is written to standard output, so that the
// result goes elsewhere.
func (o *solveOptions) standardTaken() bool { return slices.Contains(o.files(), standard) }

// checkFiles refuses files that cannot be written, or of which two are the same.
func (o *solveOptions) checkFiles() error {
	files := o.files()
	for i, name := range files {
		if name == "" {
			continue
		}
		if o.json && name == standard {
			return fmt.Errorf("--json and %s - both want standard output; write to a file", fileFlags[i])
		}
		for j, other := range files[:i] {
			if sameFile(name, other) {
				return fmt.Errorf("%s and %s both want %s; choose another name for one of them", fileFlags[j], fileFlags[i], wordFor(name))
			}
		}
		if err := canWrite(name); err != nil {
			return err
		}
	}
	return nil
}

// sameFile reports whether two names are those of one regular file, which may not
// exist yet, or both standard output.
func sameFile(a, b string) bool {
	if a == b {
		info, err := os.Stat(a)
		return errors.Is(err, os.ErrNotExist) || err == nil && info.Mode().IsRegular()
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && x.Mode().IsRegular() && os.SameFile(x, y)
}

func wordFor(name string) string {
	if name == standard {
		return "standard output"
	}
	return name
}

// note prints what a command did beside its result.
func (p *program) note(quiet bool, format string, args ...any) {
	if !quiet {
		fmt.Fprintf(p.err, "flexpipe: "+format+"\n", args...)
	}
}
