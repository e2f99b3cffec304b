package config

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

var update = flag.Bool("update", false, "rewrite the expected errors in testdata/refusals")

// A file of testdata/refusals holds cases of this form:
//
//	### what is wrong
//	the configuration
//	-- profile.json --
//	a profile, where one is needed
//	==>
//	the error
const (
	caseMark    = "### "
	profileMark = "-- profile.json --\n"
	errorMark   = "==>\n"
)

// refusal is a configuration that must not decode.
type refusal struct {
	name, config, profile, want string
}

// files returns the case as a file system.
func (r refusal) files() fs.FS {
	files := fstest.MapFS{"c.yaml": {Data: []byte(r.config)}}
	if r.profile != "" {
		files["profile.json"] = &fstest.MapFile{Data: []byte(r.profile)}
	}
	return files
}

// parseRefusals reads the cases of one file.
func parseRefusals(text string) []refusal {
	var list []refusal
	for block := range strings.SplitSeq("\n"+text, "\n"+caseMark) {
		name, body, found := strings.Cut(block, "\n")
		if !found {
			continue
		}
		input, want, _ := strings.Cut(body, errorMark)
		config, profile, _ := strings.Cut(input, profileMark)
		list = append(list, refusal{name: name, config: config, profile: profile, want: strings.TrimSuffix(want, "\n")})
	}
	return list
}

// formatRefusals writes the cases of one file.
func formatRefusals(list []refusal) string {
	var text strings.Builder
	for _, r := range list {
		text.WriteString(caseMark + r.name + "\n" + r.config)
		if r.profile != "" {
			text.WriteString(profileMark + r.profile)
		}
		text.WriteString(errorMark + r.want + "\n\n")
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func TestRefusals(t *testing.T) {
	files, err := filepath.Glob("testdata/refusals/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of refusals: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			list := parseRefusals(string(text))
			for i := range list {
				t.Run(list[i].name, func(t *testing.T) { list[i].check(t) })
			}
			if *update {
				if err := os.WriteFile(file, []byte(formatRefusals(list)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// check decodes the case, and compares the error with the expected one or replaces that.
func (r *refusal) check(t *testing.T) {
	_, err := Load(r.files(), "c.yaml")
	if err == nil {
		t.Fatalf("decoded:\n%s", r.config)
	}
	var first *Error
	if !errors.As(err, &first) {
		t.Fatalf("error of type %T", err)
	}
	if first.Line < 1 || first.Column < 1 || first.Problem == "" || first.Remedy == "" {
		t.Errorf("incomplete error %+v", first)
	}
	if *update {
		r.want = err.Error() + "\n"
		return
	}
	if got := err.Error() + "\n"; strings.TrimRight(got, "\n") != strings.TrimRight(r.want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, r.want)
	}
}
