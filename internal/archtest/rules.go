package archtest

import (
	"fmt"
	"path"
	"strings"
)

// projectImports is the policy: which packages of the project each package may import. Any edge
// that is not here is forbidden; the standard library is always allowed. "-" is nothing, "*"
// everything, and "x/*" every package below x.
//
// The order is that of the layers: model and rules, the schedule space, engines, execution,
// programs, support for tests.
const projectImports = `
model               -
model/config        model
model/network       model
model/view          model
model/modelgen      model

constraints         model
constraints/bound   model

cssr                model model/config model/network constraints
cssr/dsl            cssr model model/config
heuristics          cssr constraints constraints/bound model model/network

solve               constraints constraints/bound model
solve/lp            -
solve/lp/clp        solve/lp
solve/ilp           solve/lp
solve/sat           solve constraints model
solve/lcg           solve constraints model
solve/proof         solve constraints model
solve/periodic      solve solve/ilp solve/lp constraints model
solve/partition     solve/ilp solve/lp cssr model model/config model/network
solve/portfolio     solve solve/* heuristics cssr constraints constraints/bound model
solve/tune          solve solve/portfolio solve/partition heuristics cssr constraints constraints/bound model model/config model/network

runtime/lower       constraints model
runtime             runtime/lower model model/network
runtime/cpu         runtime runtime/lower model model/network
runtime/emulated    runtime runtime/lower model model/network
runtime/profile     runtime runtime/lower model model/config model/network
runtime/cuda        runtime runtime/lower model model/network
runtime/exchange    runtime/lower constraints model model/config

benchmarks          *
benchmarks/*        *
cmd/flexpipe        *

internal/*          constraints heuristics model model/modelgen internal/*
`

// testImports is what files named *_test.go, and the conformance suites, may import beside what
// their package may. A conformance suite is the package NAMEtest below the layer NAME whose
// implementations it tests, such as solve/solvetest or solve/lp/lptest; only that layer may use it.
const testImports = `constraints heuristics model/modelgen internal/*`

// moduleImports lists the modules, or single packages of them, that a package may import from
// outside the project and the standard library.
const moduleImports = `
model/config        go.yaml.in/yaml/v3
cssr/dsl            go.starlark.net
solve/lp            gonum.org/v1/gonum
solve/lp/clp        github.com/lanl/clp
solve/sat           github.com/irifrance/gini
runtime/cpu         gonum.org/v1/gonum gonum.org/v1/netlib
runtime/cuda        gorgonia.org/cu
benchmarks          go.yaml.in/yaml/v3 github.com/jedib0t/go-pretty/v6
benchmarks/*        go.yaml.in/yaml/v3 github.com/jedib0t/go-pretty/v6
cmd/flexpipe        github.com/urfave/cli/v2 github.com/jedib0t/go-pretty/v6 github.com/vbauerster/mpb/v8
`

// testModuleImports is what test files may import from outside beside what their package may.
const testModuleImports = `pgregory.net/rapid github.com/google/go-cmp github.com/rogpeppe/go-internal/testscript`

// cgoFiles are the files, as patterns of path.Match, that may import "C".
const cgoFiles = `solve/lp/clp/*.go runtime/cuda/*.go runtime/cpu/openblas*.go`

// programs may print, log, exit and read the environment; so may tests and internal/*, which
// holds support for tests only. A library hands results and errors to its caller.
const programs = `benchmarks benchmarks/* cmd/* internal/*`

// deterministic packages take clock and seed through their options.
const deterministic = `model model/* constraints constraints/* cssr cssr/* heuristics heuristics/* solve solve/*`

// vagueNames say nothing of what a package does.
const vagueNames = `util utils common helpers types`

// A Policy says what the source of a module may do. See [FlexPipe] for the project's own.
type Policy struct {
	module        string // module path
	imports       []row  // project packages a package may import
	testImports   []string
	modules       []row // foreign modules a package may import
	testModules   []string
	cgoFiles      []string
	programs      []string
	deterministic []string
	vagueNames    []string
}

// A row allows the packages that match pattern to import those that match one of allowed.
type row struct {
	pattern string
	allowed []string
}

// FlexPipe returns the policy of this project for the module path given.
func FlexPipe(module string) *Policy {
	return &Policy{
		module:        module,
		imports:       parseTable(projectImports),
		testImports:   strings.Fields(testImports),
		modules:       parseTable(moduleImports),
		testModules:   strings.Fields(testModuleImports),
		cgoFiles:      strings.Fields(cgoFiles),
		programs:      strings.Fields(programs),
		deterministic: strings.Fields(deterministic),
		vagueNames:    strings.Fields(vagueNames),
	}
}

// parseTable reads lines "package import import...". It panics on a line without imports: the
// tables are constants.
func parseTable(text string) []row {
	var rows []row
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
			continue
		case len(fields) == 1:
			panic(fmt.Sprintf("archtest: no imports in table line %q", line))
		case len(fields) == 2 && fields[1] == "-":
			rows = append(rows, row{pattern: fields[0]})
		default:
			rows = append(rows, row{fields[0], fields[1:]})
		}
	}
	return rows
}

// String returns the row as it stands in the table.
func (r row) String() string {
	if len(r.allowed) == 0 {
		return r.pattern + ": -"
	}
	return r.pattern + ": " + strings.Join(r.allowed, " ")
}

// find returns the first row whose pattern matches pkg.
func find(rows []row, pkg string) (row, bool) {
	for _, r := range rows {
		if match(r.pattern, pkg) {
			return r, true
		}
	}
	return row{}, false
}

// match reports whether pkg, a path inside the module, is pattern or below pattern's "/*".
func match(pattern, pkg string) bool {
	if pattern == "*" {
		return true
	}
	if dir, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(pkg, dir+"/")
	}
	return pattern == pkg
}

func matchAny(patterns []string, pkg string) bool {
	for _, p := range patterns {
		if match(p, pkg) {
			return true
		}
	}
	return false
}

// suiteLayer returns the layer whose conformance suite pkg is.
func suiteLayer(pkg string) (layer string, ok bool) {
	layer, name := path.Split(pkg)
	layer = strings.TrimSuffix(layer, "/")
	return layer, layer != "" && name == path.Base(layer)+"test"
}

// inLayer reports whether pkg is the layer or below it.
func inLayer(pkg, layer string) bool {
	return pkg == layer || strings.HasPrefix(pkg, layer+"/")
}
