package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func write(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func TestWriteIsWholeOrNothing(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "plan.json")
	p := &program{}
	if err := p.write(name, write("first")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := p.write(name, func(w io.Writer) error {
		io.WriteString(w, "half")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if data, _ := os.ReadFile(name); string(data) != "first" {
		t.Errorf("a failed write left %q", data)
	}
	if err := p.write(name, write("second")); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(name); string(data) != "second" {
		t.Errorf("a good write left %q", data)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("temporary files are left: %v", entries)
	}
}

func TestWriteKeepsLinksAndModes(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip("links:", err)
	}
	if err := (&program{}).write(link, write("new")); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(file); string(data) != "new" {
		t.Errorf("the file behind the link holds %q", data)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is no link any more: %v, %v", info, err)
	}
	if info, err = os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the file's permissions have changed: %v, %v", info, err)
	}
}

func TestWriteToDeviceAndStandardOutput(t *testing.T) {
	var out bytes.Buffer
	p := &program{out: &out}
	if err := p.write(os.DevNull, write("gone")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s has been replaced: %v, %v", os.DevNull, info, err)
	}
	if err := p.write(standard, write("seen")); err != nil || out.String() != "seen" {
		t.Errorf("standard output: %q, %v", out.String(), err)
	}
}

func TestCanWrite(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]bool{
		"": true, standard: true, os.DevNull: true,
		filepath.Join(dir, "new"):        true,
		dir:                              false,
		filepath.Join(dir, "no", "such"): false,
	} {
		if err := canWrite(name); (err == nil) != want {
			t.Errorf("canWrite(%q) = %v", name, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("canWrite left %v", entries)
	}
}
