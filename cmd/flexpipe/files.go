package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

const (
	standard  = "-" // standard input or output
	stdinName = "<stdin>"
)

// loadConfig reads a configuration and prints its warnings.
func (p *program) loadConfig(name string, quiet bool) (*config.Config, error) {
	if name == standard {
		name = stdinName
	}
	cfg, err := config.Load(inputFS{p.in}, filepath.ToSlash(name))
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
	data, err := p.read(name)
	if err != nil {
		return nil, fmt.Errorf("reading plan: %w", err)
	}
	file, err := model.DecodePlan(data)
	var wrong *model.FileError
	if errors.As(err, &wrong) {
		if name == standard {
			name = stdinName
		}
		return nil, &placedError{fmt.Sprintf("%s:%d:%d", name, wrong.Line, wrong.Column), reason(wrong)}
	}
	return file, err
}

// reason returns what a FileError says beside the place.
func reason(e *model.FileError) error {
	if e.Path == "" {
		return errors.New(e.Reason)
	}
	return fmt.Errorf("%s: %s", e.Path, e.Reason)
}

func (p *program) read(name string) ([]byte, error) {
	if name == standard {
		return io.ReadAll(p.in)
	}
	return os.ReadFile(name)
}

// write writes a file, or standard output for "-": all of it or nothing. What was
// there before stays in place until the new content is complete.
func (p *program) write(name string, content func(io.Writer) error) error {
	if name == standard {
		return content(p.out)
	}
	target, err := resolve(name)
	if err != nil {
		return err
	}
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		return writeThrough(target, content) // a terminal, a pipe, /dev/null
	}
	f, err := createBeside(target)
	if err != nil {
		return err
	}
	err = errors.Join(content(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// canWrite makes sure that write will find a place for the file, so that no long
// search is lost.
func canWrite(name string) error {
	if name == "" || name == standard {
		return nil
	}
	target, err := resolve(name)
	if err != nil {
		return err
	}
	switch info, err := os.Stat(target); {
	case err == nil && info.IsDir():
		return &fs.PathError{Op: "write", Path: name, Err: errors.New("is a directory")}
	case err == nil && !info.Mode().IsRegular():
		return nil
	}
	f, err := createBeside(target)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// resolve follows symbolic links, so that the file behind one is replaced and not
// the link.
func resolve(name string) (string, error) {
	target, err := filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		return name, nil
	}
	return target, err
}

// createBeside creates a temporary file in the directory of target, with the
// permissions that target has or would get.
func createBeside(target string) (*os.File, error) {
	mode := fs.FileMode(0o666)
	info, err := os.Stat(target)
	if err == nil {
		mode = info.Mode().Perm()
	}
	dir, base := filepath.Split(target)
	for {
		name := filepath.Join(dir, fmt.Sprintf(".%s.%08x.tmp", base, rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

func writeThrough(name string, content func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(content(f), f.Close())
}

// writeNew writes a file that must not exist yet.
func writeNew(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; remove it first, or choose another name", name)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(name)
	}
	return err
}

// output writes a result that fits into memory to the file that -o names, or to
// standard output.
func (p *program) output(name string, content func(io.Writer) error) error {
	var text bytes.Buffer
	if err := content(&text); err != nil {
		return err
	}
	if name == "" {
		name = standard
	}
	return p.write(name, func(w io.Writer) error {
		_, err := text.WriteTo(w)
		return err
	})
}
