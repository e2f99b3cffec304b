package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A Violation is one place where the source departs from the policy.
type Violation struct {
	File    string // slash-separated path inside the module
	Line    int    // from 1
	Message string // what is wrong, and the rule
}

func (v Violation) String() string {
	return fmt.Sprintf("%s:%d: %s", v.File, v.Line, v.Message)
}

// Check reads every Go file of the module whose root is fsys, leaving out what the go command
// leaves out (testdata, vendor, names that begin with "." or "_", nested modules), and returns
// the violations ordered by file and line. A file that cannot be parsed is an error.
func (p *Policy) Check(fsys fs.FS) ([]Violation, error) {
	var violations []Violation
	hasRow := make(map[string]bool) // packages whose row was looked up
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name != "." && (ignored(d.Name()) || isModuleRoot(fsys, name)) {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, ".go") || ignored(d.Name()):
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		f, err := p.parse(name, src)
		if err != nil {
			return err
		}
		if !hasRow[f.pkg] {
			hasRow[f.pkg] = true
			f.checkPackage()
		}
		f.checkImports()
		f.checkUses()
		violations = append(violations, f.violations...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	slices.SortStableFunc(violations, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return violations, nil
}

// ignored reports whether the go command leaves out a file or folder of this name.
func ignored(name string) bool {
	return name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func isModuleRoot(fsys fs.FS, dir string) bool {
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil
}

// A file is one parsed Go file with what the rules ask about it.
type file struct {
	policy *Policy
	name   string
	pkg    string // folder inside the module, "." for the root
	test   bool   // _test.go, or part of a conformance suite
	fset   *token.FileSet
	syntax *ast.File

	violations []Violation
}

func (p *Policy) parse(name string, src []byte) (*file, error) {
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, name, src, 0)
	if err != nil {
		return nil, err
	}
	pkg := path.Dir(name)
	_, suite := suiteLayer(pkg)
	return &file{
		policy: p,
		name:   name,
		pkg:    pkg,
		test:   suite || strings.HasSuffix(name, "_test.go"),
		fset:   fset,
		syntax: syntax,
	}, nil
}

func (f *file) report(pos token.Pos, format string, args ...any) {
	f.violations = append(f.violations, Violation{f.name, f.fset.Position(pos).Line, fmt.Sprintf(format, args...)})
}

// checkPackage demands a row in the import table and a telling name.
func (f *file) checkPackage() {
	pos := f.syntax.Name.Pos()
	if _, ok := f.row(); !ok {
		f.report(pos, "package %s has no row in the import table of internal/archtest", f.pkg)
	}
	for _, name := range append(strings.Split(f.pkg, "/"), strings.TrimSuffix(f.syntax.Name.Name, "_test")) {
		if slices.Contains(f.policy.vagueNames, name) {
			f.report(pos, "package %s: the name %q says nothing; name what the package does", f.pkg, name)
			break
		}
	}
}

// row returns the line of the import table that governs the file's package. That of a conformance
// suite is the line of its layer, and the layer itself.
func (f *file) row() (row, bool) {
	layer, suite := suiteLayer(f.pkg)
	if !suite {
		return find(f.policy.imports, f.pkg)
	}
	r, ok := find(f.policy.imports, layer)
	return row{f.pkg, append([]string{layer}, r.allowed...)}, ok
}

func (f *file) checkImports() {
	for _, spec := range f.syntax.Imports {
		target := importPath(spec)
		if spec.Name != nil && spec.Name.Name == "." {
			f.report(spec.Pos(), "dot import of %q hides what the file uses", target)
		}
		project, inside := f.policy.inModule(target)
		switch {
		case target == "C":
			f.checkCgo(spec)
		case inside:
			f.checkProjectImport(spec, project)
		case isStandard(target):
			f.checkStandardImport(spec, target)
		default:
			f.checkModuleImport(spec, target)
		}
	}
}

func (f *file) checkCgo(spec *ast.ImportSpec) {
	allowed := slices.ContainsFunc(f.policy.cgoFiles, func(pattern string) bool {
		ok, err := path.Match(pattern, f.name)
		return err == nil && ok
	})
	if !allowed {
		f.report(spec.Pos(), `import "C" is allowed only in %s`, strings.Join(f.policy.cgoFiles, " "))
	}
}

// checkProjectImport checks one edge between packages of the project.
func (f *file) checkProjectImport(spec *ast.ImportSpec, target string) {
	if target == "runtime" && (spec.Name == nil || spec.Name.Name != "pipert") {
		f.report(spec.Pos(), `import the project's runtime as pipert: pipert "%s/runtime"`, f.policy.module)
	}
	if target == f.pkg {
		return // the external test package
	}
	if layer, suite := suiteLayer(target); suite {
		if !f.test || !inLayer(f.pkg, layer) {
			f.report(spec.Pos(), "%s may not import %s (rule: a conformance suite serves the tests of its own layer, %s)", f.pkg, target, layer)
		}
		return
	}
	r, ok := f.row()
	if !ok {
		return // reported once for the package
	}
	if matchAny(r.allowed, target) || f.test && matchAny(f.policy.testImports, target) {
		return
	}
	if f.test {
		f.report(spec.Pos(), "the tests of %s may not import %s (rule: %s; tests also: %s)", f.pkg, target, r, strings.Join(f.policy.testImports, " "))
		return
	}
	f.report(spec.Pos(), "%s may not import %s (rule: %s)", f.pkg, target, r)
}

func (f *file) checkStandardImport(spec *ast.ImportSpec, target string) {
	switch {
	case target == "runtime" && spec.Name != nil:
		f.report(spec.Pos(), "the standard library's runtime is never renamed")
	case (target == "log" || strings.HasPrefix(target, "log/")) && !f.isProgram():
		f.report(spec.Pos(), "%s may not import %s (rule: a library returns what it has to say; only %s log)", f.pkg, target, strings.Join(f.policy.programs, " "))
	case target == "crypto/rand" && f.isDeterministic():
		f.report(spec.Pos(), "%s may not import crypto/rand (rule: the seed comes in through options)", f.pkg)
	}
}

func (f *file) checkModuleImport(spec *ast.ImportSpec, target string) {
	r, ok := find(f.policy.modules, f.pkg)
	if !ok {
		r = row{pattern: f.pkg}
	}
	allowed := r.allowed
	if f.test {
		allowed = slices.Concat(allowed, f.policy.testModules)
	}
	for _, module := range allowed {
		if target == module || strings.HasPrefix(target, module+"/") {
			return
		}
	}
	f.report(spec.Pos(), "%s may not import %s (rule: %s)", f.pkg, target, row{r.pattern, allowed})
}

// isProgram reports whether the file may print, log, exit and read the environment.
func (f *file) isProgram() bool {
	return f.test || matchAny(f.policy.programs, f.pkg)
}

// isDeterministic reports whether the file must take clock and seed from its caller.
func (f *file) isDeterministic() bool {
	return !f.test && matchAny(f.policy.deterministic, f.pkg)
}

// inModule returns the path inside the module of one of its packages.
func (p *Policy) inModule(target string) (pkg string, ok bool) {
	if target == p.module {
		return ".", true
	}
	return strings.CutPrefix(target, p.module+"/")
}

// isStandard reports whether the path belongs to the standard library: its first element, unlike
// that of any module that can be fetched, has no dot.
func isStandard(target string) bool {
	first, _, _ := strings.Cut(target, "/")
	return !strings.Contains(first, ".")
}

// importPath returns the path of an import; the parser has checked the quotes.
func importPath(spec *ast.ImportSpec) string {
	target, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic(err)
	}
	return target
}
