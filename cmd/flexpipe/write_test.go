package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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

func TestWriteFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	file, link, dangling := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "dangling")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	links(t, file, link)
	links(t, "created", dangling) // relative, and nothing there yet
	for _, c := range []struct{ name, behind string }{{link, file}, {dangling, filepath.Join(dir, "created")}} {
		if err := (&program{}).write(c.name, write("new")); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(c.behind); string(data) != "new" {
			t.Errorf("the file behind the link holds %q: %v", data, err)
		}
		if info, err := os.Lstat(c.name); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is no link any more: %v, %v", info, err)
		}
	}
	links(t, "b", filepath.Join(dir, "a"))
	links(t, "a", filepath.Join(dir, "b"))
	if err := (&program{}).write(filepath.Join(dir, "a"), write("new")); err == nil {
		t.Error("links that lead to each other: no error")
	}
}

func links(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skip("links:", err)
	}
}

// TestWriteKeepsPermissions does so also where the process's mask would not, and
// leaves protected files alone.
func TestWriteKeepsPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions: windows has others")
	}
	for _, mode := range []fs.FileMode{0o600, 0o666, 0o777, 0o640} {
		name := filepath.Join(t.TempDir(), "file")
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chmod(name, mode)); err != nil {
			t.Fatal(err)
		}
		if err := (&program{}).write(name, write("new")); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("permissions %v have become %v, %v", mode, info.Mode().Perm(), err)
		}
	}
	name := filepath.Join(t.TempDir(), "protected")
	if err := os.WriteFile(name, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	const want = "it is write-protected; make it writable"
	if err := (&program{}).write(name, write("new")); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	if err := canWrite(name); err == nil {
		t.Error("canWrite says that it can be written")
	}
	if data, _ := os.ReadFile(name); string(data) != "old" {
		t.Errorf("a protected file holds %q", data)
	}
}

// TestWriteErrorsNameTheFile demands the user's name in errors, and no other.
func TestWriteErrorsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "no", "plan.json")
	want := "writing " + name + ": there is no directory " + filepath.Join(dir, "no") + "; create it, or choose another name"
	for i, err := range []error{(&program{}).write(name, write("")), (&program{}).writeNew(name, write("")), canWrite(name)} {
		if err == nil || err.Error() != want {
			t.Errorf("%d: error %v\nwant %s", i, err, want)
		}
		if where(err) != name {
			t.Errorf("%d: the place is %q", i, where(err))
		}
	}
	long := filepath.Join(dir, strings.Repeat("x", 250))
	if err := (&program{}).write(long, write("new")); err != nil {
		t.Errorf("a long name: %v", err)
	}
}

func TestWriteNewIsWholeOrNothing(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "mine.yaml")
	broken := errors.New("broken")
	err := (&program{}).writeNew(name, func(w io.Writer) error {
		io.WriteString(w, "half")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if err := (&program{}).writeNew(name, write("first")); err != nil {
		t.Fatal(err)
	}
	if err := (&program{}).writeNew(name, write("second")); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("error %v", err)
	}
	if data, _ := os.ReadFile(name); string(data) != "first" {
		t.Errorf("the file holds %q", data)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("temporary files are left: %v", entries)
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
