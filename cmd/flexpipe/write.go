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
)

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

// write writes a file, or standard output for "-": all of it or nothing. What was
// there before stays in place until the new content is complete.
func (p *program) write(name string, content func(io.Writer) error) error {
	if name == standard {
		return content(p.out)
	}
	target, err := findTarget(name)
	switch {
	case err != nil:
		return err
	case target.stream:
		return target.writeThrough(content)
	}
	if err := p.notInput(name); err != nil {
		return err
	}
	return target.fill(content, os.Rename)
}

// notInput refuses files to be written one of which is what the command read.
func (p *program) notInput(names ...string) error {
	in, err := os.Stat(p.input)
	if err != nil || !in.Mode().IsRegular() {
		return nil
	}
	for _, name := range names {
		if out, err := os.Stat(name); err == nil && os.SameFile(in, out) {
			return (&target{name: name}).fail(errors.New("it is the input; choose another name"))
		}
	}
	return nil
}

// writeNew is write for a file that must not exist yet.
func (p *program) writeNew(name string, content func(io.Writer) error) error {
	target, err := findTarget(name)
	switch {
	case err != nil:
		return err
	case target.stream:
		return target.writeThrough(content)
	}
	return target.fill(content, func(temporary, path string) error {
		err := os.Link(temporary, path) // unlike a renaming, this never replaces a file
		if errors.Is(err, fs.ErrExist) {
			err = errors.New("it exists already; remove it first, or choose another name")
		}
		return errors.Join(err, os.Remove(temporary))
	})
}

// canWrite makes sure that write will find a place for the file, so that no long
// search is lost.
func canWrite(name string) error {
	if name == "" || name == standard {
		return nil
	}
	target, err := findTarget(name)
	if err != nil || target.stream {
		return err
	}
	f, err := target.createBeside()
	if err != nil {
		return err
	}
	return target.explain(errors.Join(f.Close(), os.Remove(f.Name())))
}

// target is where a file is to be written.
type target struct {
	name   string       // as the user calls it
	path   string       // the file behind symbolic links
	mode   *fs.FileMode // permissions to keep; nil: there is no file yet
	stream bool         // no regular file: a terminal, a pipe, /dev/null
}

// findTarget refuses what is not to be overwritten.
func findTarget(name string) (*target, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return &target{name: name, path: name, stream: true}, nil // links to a pipe do not name a path
	}
	path, err := followLinks(name)
	if err != nil {
		return nil, err
	}
	t := &target{name: name, path: path}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil // or its directory is missing, which createBeside tells
	}
	if err != nil {
		return nil, t.explain(err)
	}
	mode := info.Mode()
	switch {
	case mode.IsDir():
		return nil, t.fail(errors.New("it is a directory; choose another name"))
	case mode.Perm()&0o222 == 0:
		return nil, t.fail(errors.New("it is write-protected; make it writable, or choose another name"))
	}
	permissions := mode.Perm()
	t.mode = &permissions
	return t, nil
}

// followLinks returns the file behind symbolic links, also one that does not
// exist yet, so that it is written and not the link replaced.
func followLinks(name string) (string, error) {
	path := name
	for range 40 {
		link, err := os.Readlink(path)
		if err != nil { // no link, or nothing there
			return path, nil
		}
		if !filepath.IsAbs(link) {
			dir, _ := filepath.Split(path)
			link = dir + link // not cleaned: a .. may lead out of a linked directory
		}
		path = link
	}
	return "", (&target{name: name}).fail(errors.New("its symbolic links lead to each other; choose another name"))
}

// fill writes the content to a temporary file and has place put it at the path.
func (t *target) fill(content func(io.Writer) error, place func(temporary, path string) error) error {
	f, err := t.createBeside()
	if err != nil {
		return err
	}
	if err = errors.Join(content(f), f.Close()); err == nil {
		err = place(f.Name(), t.path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return t.explain(err)
}

// createBeside creates a temporary file in the directory of the target, with the
// permissions that the target has or would get.
func (t *target) createBeside() (*os.File, error) {
	dir, _ := filepath.Split(t.path)
	for {
		name := fmt.Sprintf("%s.flexpipe-%08x.tmp", dir, rand.Uint32())
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil && t.mode != nil {
			err = f.Chmod(*t.mode)
		}
		if err != nil && f != nil {
			f.Close()
			os.Remove(name)
		}
		return f, t.explain(err)
	}
}

func (t *target) writeThrough(content func(io.Writer) error) error {
	f, err := os.OpenFile(t.path, os.O_WRONLY, 0)
	if err != nil {
		return t.explain(err)
	}
	return t.explain(errors.Join(content(f), f.Close()))
}

// explain returns an error of the file system in terms of the file that the user
// named, with the remedy, and never with the name of a temporary file.
func (t *target) explain(err error) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	dir := filepath.Dir(t.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("there is no directory %s; create it, or choose another name", dir)
	case errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("directory %s may not be written; choose another", dir)
	}
	return t.fail(err)
}

func (t *target) fail(err error) error { return &fs.PathError{Op: "writing", Path: t.name, Err: err} }
