package archtest

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestRepository holds the project's source to its policy.
func TestRepository(t *testing.T) {
	root := os.DirFS("../..")
	gomod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(gomod), "\n")
	module, ok := strings.CutPrefix(first, "module ")
	if !ok {
		t.Fatalf("go.mod begins with %q, want the module line", first)
	}
	violations, err := FlexPipe(module).Check(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Error(v)
	}
}

// TestCheck feeds the checker one file, or a few, at a time.
func TestCheck(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  []string // parts of the violations, in order; none means the source is fine
	}{
		// The import table.
		{
			name:  "allowed edge",
			files: map[string]string{"heuristics/a.go": `import ("fmt"; "example.org/m/cssr"; "example.org/m/constraints/bound")`},
		},
		{
			name:  "forbidden edge",
			files: map[string]string{"heuristics/a.go": "\n" + `import "example.org/m/solve"`},
			want:  []string{"heuristics/a.go:2: heuristics may not import solve (rule: heuristics: cssr constraints constraints/bound model model/network)"},
		},
		{
			name:  "model stands alone",
			files: map[string]string{"model/a.go": `import "example.org/m/constraints"`},
			want:  []string{"model may not import constraints (rule: model: -)"},
		},
		{
			name:  "allowing a package does not allow those below it",
			files: map[string]string{"solve/lcg/a.go": `import "example.org/m/constraints/bound"`},
			want:  []string{"solve/lcg may not import constraints/bound"},
		},
		{
			name:  "the proof checker is independent of the engine",
			files: map[string]string{"solve/proof/a.go": `import "example.org/m/solve/lcg"`},
			want:  []string{"solve/proof may not import solve/lcg"},
		},
		{
			name: "wildcard and everything",
			files: map[string]string{
				"solve/portfolio/a.go": `import "example.org/m/solve/lp/clp"`,
				"cmd/flexpipe/a.go":    `import ("example.org/m/solve/tune"; "example.org/m/benchmarks/suite")`,
			},
		},
		{
			name:  "a package without a row",
			files: map[string]string{"extra/a.go": `import "example.org/m/model"`, "extra/b.go": ``},
			want:  []string{"package extra has no row"},
		},
		{
			name: "every build tag counts",
			files: map[string]string{
				"solve/lp/on.go":         "//go:build clp && cgo\n",
				"solve/lp/a_windows.go":  `import "example.org/m/model"`,
				"runtime/cuda/ignore.go": "//go:build ignore\n",
			},
			want: []string{"solve/lp/a_windows.go:1: solve/lp may not import model"},
		},
		{
			name: "what the go command ignores",
			files: map[string]string{
				"model/testdata/a.go": `import "example.org/m/solve"`,
				"model/_a.go":         `import "example.org/m/solve"`,
				".tool/a.go":          `import "example.org/m/solve"`,
				"vendor/x/a.go":       `import "example.org/m/solve"`,
				"nested/go.mod":       `module example.org/m/nested`,
				"nested/a.go":         `import "example.org/m/solve"`,
				"docs/notes.txt":      `import "example.org/m/solve"`,
			},
		},
		// Tests and conformance suites.
		{
			name: "tests may import more",
			files: map[string]string{
				"model/a_test.go":     `import ("example.org/m/model"; "example.org/m/constraints"; "example.org/m/heuristics"; "example.org/m/model/modelgen"; "example.org/m/internal/x")`,
				"solve/sat/a_test.go": `import "example.org/m/solve/solvetest"`,
			},
		},
		{
			name:  "but not everything",
			files: map[string]string{"model/a_test.go": `import "example.org/m/solve"`},
			want:  []string{"the tests of model may not import solve (rule: model: -; tests also: constraints heuristics model/modelgen internal/*)"},
		},
		{
			name:  "test support outside tests",
			files: map[string]string{"constraints/a.go": `import ("example.org/m/internal/x"; "example.org/m/model/modelgen")`},
			want:  []string{"constraints may not import internal/x", "constraints may not import model/modelgen"},
		},
		{
			name: "a conformance suite may use its layer",
			files: map[string]string{
				"solve/solvetest/a.go": `import ("testing"; "example.org/m/solve"; "example.org/m/model/modelgen"; "example.org/m/constraints/bound")`,
				"solve/lp/lptest/a.go": `import "example.org/m/solve/lp"`,
			},
		},
		{
			name: "and serves that layer's tests only",
			files: map[string]string{
				"heuristics/a_test.go": `import "example.org/m/solve/solvetest"`,
				"solve/sat/a.go":       `import "example.org/m/solve/solvetest"`,
				"solve/ilp/a_test.go":  `import "example.org/m/solve/lp/lptest"`,
			},
			want: []string{
				"heuristics may not import solve/solvetest",
				"solve/ilp may not import solve/lp/lptest",
				"solve/sat may not import solve/solvetest",
			},
		},
		// Modules.
		{
			name: "listed modules",
			files: map[string]string{
				"model/config/a.go": `import "go.yaml.in/yaml/v3"`,
				"cmd/flexpipe/a.go": `import ("github.com/urfave/cli/v2"; "github.com/jedib0t/go-pretty/v6/table")`,
				"model/a_test.go":   `import ("pgregory.net/rapid"; "github.com/google/go-cmp/cmp/cmpopts")`,
			},
		},
		{
			name: "other modules",
			files: map[string]string{
				"model/a.go":        `import "pgregory.net/rapid"`,
				"model/b_test.go":   `import "github.com/urfave/cli/v2"`,
				"model/config/a.go": `import "go.yaml.in/yaml/v30"`,
			},
			want: []string{
				"model may not import pgregory.net/rapid (rule: model: -)",
				"model may not import github.com/urfave/cli/v2 (rule: model: pgregory.net/rapid",
				"model/config may not import go.yaml.in/yaml/v30 (rule: model/config: go.yaml.in/yaml/v3)",
			},
		},
		{
			name: "C",
			files: map[string]string{
				"solve/lp/clp/a.go":          `import "C"`,
				"runtime/cuda/a.go":          `import "C"`,
				"runtime/cpu/openblas_on.go": `import "C"`,
				"runtime/cpu/gemm.go":        `import "C"`,
				"solve/lp/a.go":              `import "C"`,
			},
			want: []string{`runtime/cpu/gemm.go:1: import "C" is allowed only in`, `solve/lp/a.go:1: import "C"`},
		},
		// Names of imports.
		{
			name: "the project's runtime",
			files: map[string]string{
				"cmd/flexpipe/a.go": `import (pipert "example.org/m/runtime"; "runtime")`,
				"cmd/flexpipe/b.go": `import "example.org/m/runtime"`,
				"cmd/flexpipe/c.go": `import rt "example.org/m/runtime"`,
				"cmd/flexpipe/d.go": `import goruntime "runtime"`,
				"cmd/flexpipe/e.go": `import "example.org/m/runtime/cpu"`,
			},
			want: []string{
				`b.go:1: import the project's runtime as pipert: pipert "example.org/m/runtime"`,
				"c.go:1: import the project's runtime as pipert",
				"d.go:1: the standard library's runtime is never renamed",
			},
		},
		{
			name:  "dot import",
			files: map[string]string{"model/a.go": `import . "fmt"`},
			want:  []string{`dot import of "fmt"`},
		},
		{
			name: "vague names",
			files: map[string]string{
				"solve/util/a.go":   ``,
				"model/a.go":        `=types`,
				"model/a_test.go":   `=types_test`,
				"benchmarks/x/a.go": ``,
			},
			want: []string{
				`model/a.go:1: package model: the name "types" says nothing`,
				"solve/util/a.go:1: package solve/util has no row",
				`solve/util/a.go:1: package solve/util: the name "util" says nothing`,
			},
		},
		// Printing, logging, exit, environment.
		{
			name: "a library does not talk",
			files: map[string]string{
				"model/a.go": `import ("fmt"; "os"; "log"; "log/slog")
func a() { fmt.Println(); fmt.Fprintln(os.Stderr) }
var show = fmt.Printf
func b() { println(1); print(2) }
func c() { os.Exit(1) }
func d() { os.Getenv("X"); os.LookupEnv("X"); os.Environ() }`,
			},
			want: []string{
				"model/a.go:1: model may not import log (rule",
				"model/a.go:1: model may not import log/slog",
				"model/a.go:2: model may not use fmt.Println",
				"model/a.go:2: model may not use os.Stderr",
				"model/a.go:3: model may not use fmt.Printf",
				"model/a.go:4: model may not use the builtin println",
				"model/a.go:4: model may not use the builtin print ",
				"model/a.go:5: model may not use os.Exit",
				"model/a.go:6: model may not use os.Getenv",
				"model/a.go:6: model may not use os.LookupEnv",
				"model/a.go:6: model may not use os.Environ",
			},
		},
		{
			name:  "renamed imports are seen through",
			files: map[string]string{"model/a.go": "import f \"fmt\"\nvar a = f.Print"},
			want:  []string{"model/a.go:2: model may not use fmt.Print "},
		},
		{
			name: "what only looks like it",
			files: map[string]string{
				"model/a.go": `import ("fmt"; "io"; "os")
type out struct{ Stdout, Println int }
func a(w io.Writer, name string) { fmt.Fprintln(w, fmt.Sprint(1)); os.ReadFile(name) }
func b(os out) int { return os.Stdout }
func c(fmt out) int { println := func(int) {}; println(fmt.Println); return 0 }`,
			},
		},
		{
			name: "programs and tests may",
			files: map[string]string{
				"cmd/flexpipe/a.go":    "import (\"fmt\"; \"log\"; \"os\")\nfunc a() { fmt.Println(os.Getenv(\"X\")); log.Print(); os.Exit(1) }",
				"benchmarks/x/a.go":    "import \"fmt\"\nfunc a() { fmt.Println() }",
				"internal/x/a.go":      "import \"os\"\nfunc a() { os.Exit(1) }",
				"solve/a_test.go":      "import (\"os\"; \"time\")\nvar a, b = os.Getenv(\"X\"), time.Now()",
				"solve/solvetest/a.go": "import \"time\"\nvar a = time.Now()",
			},
		},
		// Clock and randomness.
		{
			name: "clock and randomness come in",
			files: map[string]string{
				"model/view/a.go": "import \"time\"\nvar a = time.Now()",
				"solve/lcg/a.go":  "import \"time\"\nfunc a(t time.Time) any { return time.Since(t) }",
				"heuristics/a.go": "import \"math/rand\"\nvar a = rand.Intn(3)",
				"heuristics/b.go": "import r \"math/rand/v2\"\nvar b = r.Perm",
				"cssr/a.go":       "import \"crypto/rand\"",
			},
			want: []string{
				"cssr/a.go:1: cssr may not import crypto/rand",
				"heuristics/a.go:2: heuristics may not use math/rand.Intn",
				"heuristics/b.go:2: heuristics may not use math/rand/v2.Perm",
				"model/view/a.go:2: model/view may not use time.Now",
				"solve/lcg/a.go:2: solve/lcg may not use time.Since",
			},
		},
		{
			name: "seeded randomness and durations are fine",
			files: map[string]string{
				"heuristics/a.go": "import (\"math/rand/v2\"; \"time\")\nfunc a(now func() time.Time) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }",
				"runtime/a.go":    "import \"time\"\nvar start = time.Now()",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			violations, err := FlexPipe("example.org/m").Check(source(tt.files))
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range violations {
				if i >= len(tt.want) {
					t.Errorf("unexpected: %s", v)
				} else if !strings.Contains(v.String(), tt.want[i]) {
					t.Errorf("violation %d = %q, want %q in it", i, v, tt.want[i])
				}
			}
			for _, w := range tt.want[min(len(violations), len(tt.want)):] {
				t.Errorf("missing: %s", w)
			}
		})
	}
}

func TestCheckSyntaxError(t *testing.T) {
	fsys := fstest.MapFS{"model/a.go": {Data: []byte("package model\nfunc {")}}
	if _, err := FlexPipe("example.org/m").Check(fsys); err == nil || !strings.Contains(err.Error(), "model/a.go:2") {
		t.Errorf("Check() = %v, want an error at model/a.go:2", err)
	}
}

// TestTable checks the import table itself: no earlier row hides a row, and each names packages
// that have rows. That the edges in use have no cycle is the compiler's business.
func TestTable(t *testing.T) {
	rows := parseTable(projectImports)
	for _, r := range rows {
		pkg := strings.Replace(r.pattern, "*", "x", 1)
		if first, _ := find(rows, pkg); first.pattern != r.pattern {
			t.Errorf("row %s is hidden by row %s", r.pattern, first.pattern)
		}
		for _, pattern := range append(slices.Clone(r.allowed), strings.Fields(testImports)...) {
			if !slices.ContainsFunc(rows, func(other row) bool { return other.pattern == pattern || match(pattern, other.pattern) }) {
				t.Errorf("row %s allows %s, which has no row", r.pattern, pattern)
			}
		}
	}
}

// source returns files with a package clause put before each: that of the folder, or the name
// after a leading "=". Build constraints stay first.
func source(files map[string]string) fstest.MapFS {
	fsys := make(fstest.MapFS, len(files))
	for name, text := range files {
		dir := name[:strings.LastIndexByte(name, '/')]
		pkg := dir[strings.LastIndexByte(dir, '/')+1:]
		if rest, ok := strings.CutPrefix(text, "="); ok {
			pkg, text = rest, ""
		}
		if strings.HasPrefix(text, "//go:build") {
			text += "\npackage " + pkg
		} else if strings.HasSuffix(name, ".go") {
			text = "package " + pkg + ";" + text
		}
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}
