package dsl

import (
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// site is a place in the script where something was said. The zero value is none.
type site struct {
	line, column int
	calls        []Frame          // that led there
	call         *syntax.CallExpr // that stands there, or nil
}

func siteAt(p syntax.Position) site { return site{line: int(p.Line), column: int(p.Col)} }

// to returns the site of a node within the call of s.
func (s site) to(n syntax.Node) site {
	start, _ := n.Span()
	s.line, s.column = int(start.Line), int(start.Col)
	return s
}

// here returns the site of the running call.
func (r *run) here(thread *starlark.Thread) site { return r.siteOf(thread.CallStack()) }

// siteOf returns the site of the innermost call in a stack that stands in the script,
// and the calls that led there. What the interpreter calls in between is left out.
func (r *run) siteOf(stack starlark.CallStack) site {
	stack = slices.DeleteFunc(slices.Clone(stack), func(f starlark.CallFrame) bool { return f.Pos.Filename() != r.name })
	if len(stack) == 0 {
		return site{}
	}
	last := len(stack) - 1
	s := r.named(stack[last].Pos)
	for i := last; i > 0; i-- {
		from := r.named(stack[i-1].Pos)
		s.calls = append(s.calls, Frame{function(stack[i].Name), from.line, from.column})
	}
	return s
}

// function returns the name of a function as messages show it.
func function(name string) string {
	if name == "lambda" {
		return "the lambda"
	}
	return name
}

// named returns the site of a position in a stack: for a call, which the interpreter
// places at its parenthesis, that of the name that is called, and for an attribute,
// which it places at the dot, that of its name.
func (r *run) named(p syntax.Position) site {
	if name := r.dots[plain(p)]; name != nil {
		return siteAt(name.NamePos)
	}
	call := r.calls[plain(p)]
	if call == nil {
		return siteAt(p)
	}
	s := siteAt(p).to(call.Fn)
	if dot, isMethod := call.Fn.(*syntax.DotExpr); isMethod {
		s = siteAt(dot.Name.NamePos)
	}
	s.call = call
	return s
}

// argument returns the site of an argument of the call at s: by its name, or else by
// its place from 1; or s if neither is there.
func (s site) argument(name string, index int) site {
	if key, _ := s.named(name); key != nil {
		return s.to(key)
	}
	if s.call == nil || index < 1 || index > len(s.call.Args) {
		return s
	}
	if arg := s.call.Args[index-1]; positional(arg) {
		return s.to(arg)
	}
	return s
}

// named returns the key and the value of an argument that is given by name.
func (s site) named(name string) (key, value syntax.Expr) {
	if s.call == nil || name == "" {
		return nil, nil
	}
	for _, arg := range s.call.Args {
		if pair, ok := arg.(*syntax.BinaryExpr); ok && pair.Op == syntax.EQ {
			if id, ok := pair.X.(*syntax.Ident); ok && id.Name == name {
				return pair.X, pair.Y
			}
		}
	}
	return nil, nil
}

// positional reports whether an argument is a plain expression.
func positional(arg syntax.Expr) bool {
	switch arg := arg.(type) {
	case *syntax.BinaryExpr:
		return arg.Op != syntax.EQ
	case *syntax.UnaryExpr:
		return arg.Op != syntax.STAR && arg.Op != syntax.STARSTAR
	}
	return true
}

// key returns the site of what stands at a path such as costs.forward[2] in the call at
// s: of the literal if it is one, else of the argument.
func (s site) key(path string) site {
	top, rest := cut(path)
	name, value := s.named(top)
	if name == nil {
		return s
	}
	found := s.to(name)
	for rest != "" && value != nil {
		var step string
		if step, rest = cut(rest); step == "" {
			break
		}
		if name, value = below(value, step); name == nil {
			break
		}
		found = s.to(name)
	}
	return found
}

// cut returns the first step of a path, a key or a [number], and what follows.
func cut(path string) (step, rest string) {
	path = strings.TrimPrefix(path, ".")
	end := strings.IndexAny(path[min(1, len(path)):], ".[")
	if end < 0 {
		return path, ""
	}
	return path[:end+1], path[end+1:]
}

// below returns the entry of a literal, and the value of the entry; nil if the literal
// has none of that name.
func below(literal syntax.Expr, step string) (name, value syntax.Expr) {
	switch x := literal.(type) {
	case *syntax.DictExpr:
		for _, e := range x.List {
			entry := e.(*syntax.DictEntry)
			if key, ok := entry.Key.(*syntax.Literal); ok && key.Value == step {
				return entry.Key, entry.Value
			}
		}
	case *syntax.ListExpr:
		return item(x.List, step)
	case *syntax.TupleExpr:
		return item(x.List, step)
	case *syntax.ParenExpr:
		return below(x.X, step)
	case *syntax.CallExpr: // dict(forward = 1)
		if id, ok := x.Fn.(*syntax.Ident); ok && id.Name == "dict" {
			return site{call: x}.named(step)
		}
	}
	return nil, nil
}

func item(entries []syntax.Expr, step string) (name, value syntax.Expr) {
	i, err := strconv.Atoi(strings.Trim(step, "[]"))
	if err != nil || i >= len(entries) {
		return nil, nil
	}
	return entries[i], entries[i]
}
