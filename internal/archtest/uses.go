package archtest

import (
	"go/ast"
	"path"
	"slices"
	"strings"
)

// Names of the standard library, by what is wrong with them in a library.
const (
	printingNames    = `fmt.Print fmt.Printf fmt.Println os.Stdout os.Stderr`
	exitNames        = `os.Exit syscall.Exit`
	environmentNames = `os.Getenv os.LookupEnv os.Environ os.ExpandEnv syscall.Getenv syscall.Environ`
	clockNames       = `time.Now time.Since time.Until`

	// What math/rand and its second version offer beside their shared, randomly seeded source.
	randomConstructors = `New NewSource NewZipf NewPCG NewChaCha8 Rand Source Source64 Zipf PCG ChaCha8`
)

// A ban forbids names, "import/path.Name", and says why.
type ban struct {
	names  []string
	reason string
}

var (
	programBans = []ban{
		{strings.Fields(printingNames), "a library writes to an io.Writer that its caller gives"},
		{strings.Fields(exitNames), "a library returns an error"},
		{strings.Fields(environmentNames), "a library is configured through its options"},
	}
	deterministicBans = []ban{
		{strings.Fields(clockNames), "the clock comes in through options"},
	}
)

// checkUses looks at the names that the file takes from the standard library. It goes by the
// file's own scopes, without type information: a variable that shadows a package is no use of it.
func (f *file) checkUses() {
	var bans []ban
	if !f.isProgram() {
		bans = append(bans, programBans...)
	}
	if f.isDeterministic() {
		bans = append(bans, deterministicBans...)
	}
	imports := f.importNames()
	free := make(map[*ast.Ident]bool, len(f.syntax.Unresolved))
	for _, id := range f.syntax.Unresolved {
		free[id] = true
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if !ok || !free[id] {
				return true
			}
			target, ok := imports[id.Name]
			if !ok {
				return true
			}
			f.checkName(n, target, n.Sel.Name, bans)
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			if ok && free[id] && (id.Name == "print" || id.Name == "println") && !f.isProgram() {
				f.report(n.Pos(), "%s may not use the builtin %s (rule: %s)", f.pkg, id.Name, programBans[0].reason)
			}
		}
		return true
	})
}

func (f *file) checkName(n ast.Node, target, name string, bans []ban) {
	full := target + "." + name
	for _, b := range bans {
		if slices.Contains(b.names, full) {
			f.report(n.Pos(), "%s may not use %s (rule: %s)", f.pkg, full, b.reason)
		}
	}
	random := target == "math/rand" || target == "math/rand/v2"
	if random && f.isDeterministic() && !slices.Contains(strings.Fields(randomConstructors), name) {
		f.report(n.Pos(), "%s may not use %s (rule: the seed comes in through options)", f.pkg, full)
	}
}

// importNames returns the paths of the file's standard imports by the name they have in the file.
func (f *file) importNames() map[string]string {
	names := make(map[string]string)
	for _, spec := range f.syntax.Imports {
		target := importPath(spec)
		if !isStandard(target) {
			continue
		}
		name := path.Base(strings.TrimSuffix(target, "/v2"))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = target
	}
	return names
}
