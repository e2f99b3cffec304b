package dsl

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"strconv"

	"go.starlark.net/starlark"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model/config"
)

// config is config(path = None, **keys): the configuration of a file, with top-level
// keys replaced. Without a path it is that of the command line, untouched, or where
// there is none one made of the keys alone.
func (r *run) config(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	if err := unpack(b, args, nil, parameters{"path?", &name}); err != nil {
		return nil, err
	}
	switch {
	case len(args) > 0:
		if !path.IsAbs(name) {
			name = path.Join(path.Dir(r.name), name)
		}
		return r.load(thread, name, kwargs, "name a file relative to the script")
	case r.Config != "":
		return r.load(thread, r.Config, nil, "the name after --config is relative to the current folder, not to the script")
	case len(kwargs) == 0:
		return nil, &fault{problem: "there is no configuration: config() has neither a path nor keys",
			remedy: "name a file, give keys such as devices = 4 to start from, or run the script with --config FILE"}
	}
	return r.fromKeys(thread, b, nil, kwargs)
}

// fromKeys is pipeline(**keys): a configuration made of keys alone.
func (r *run) fromKeys(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) > 0 {
		return nil, &fault{index: 1, problem: b.Name() + "() takes the keys of a configuration by name", remedy: "write pipeline(devices = 4, ...)"}
	}
	return r.newPipeline(thread, config.Source{FS: r.FS, Name: r.name}, kwargs)
}

// load makes a pipeline of a file and keys. The remedy is for a file that cannot be read.
func (r *run) load(thread *starlark.Thread, name string, kwargs []starlark.Tuple, remedy string) (starlark.Value, error) {
	data, err := r.read(name)
	if err != nil {
		problem := err
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			problem = path.Err // the message names the file already
		}
		return nil, &fault{index: 1, problem: "the configuration " + name + " cannot be read: " + problem.Error(), remedy: remedy, cause: err}
	}
	return r.newPipeline(thread, config.Source{FS: r.FS, Name: name, Data: data}, kwargs)
}

// mostBytes bounds what is read of a configuration; a larger one is refused when it is
// decoded.
const mostBytes = 8<<20 + 1

// read reads a file, once.
func (r *run) read(name string) (data []byte, err error) {
	if data, known := r.files[name]; known {
		return data, nil
	}
	if r.FS == nil {
		return nil, errors.New("there is no file system")
	}
	file, err := r.FS.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	data, err = io.ReadAll(io.LimitReader(file, mostBytes))
	r.files[name] = data
	return data, err
}

// newPipeline makes a pipeline of a source and keys.
func (r *run) newPipeline(thread *starlark.Thread, source config.Source, kwargs []starlark.Tuple) (starlark.Value, error) {
	p := &pipeline{run: r, source: source.Name, sites: map[string]site{}, orders: map[int][]ordered{}, letters: map[string]string{}}
	call := r.here(thread)
	p.sites[""] = call
	keys := map[string]any{}
	if source.Data == nil {
		keys["version"] = 1
	}
	for _, pair := range kwargs {
		key, _ := starlark.AsString(pair[0])
		value, err := plainValue(pair[1])
		if err != nil {
			return nil, of(err, key, 0)
		}
		keys[key], p.sites[key] = value, call
	}
	if len(keys) > 0 {
		var err error
		if source.Keys, err = json.Marshal(keys); err != nil {
			return nil, err
		}
	}
	p.spec = cssr.NewSpec(source)
	if err := p.spec.Err(); err != nil {
		return nil, r.located(p, err)
	}
	r.pipelines = append(r.pipelines, p)
	return p, nil
}

// argument is a parameter of the script.
type argument struct{ name string }

// arg is arg(name, default): a value from the command line, of the type of the default.
func (r *run) arg(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	var value starlark.Value
	if err := unpack(b, args, kwargs, parameters{"name", &name, "default", &value}); err != nil {
		return nil, err
	}
	r.arguments = append(r.arguments, argument{name})
	for _, s := range r.Set {
		if s.Name != name {
			continue
		}
		var err error
		if value, err = parse(s, value); err != nil {
			return nil, err
		}
	}
	return value, nil
}

// parse reads a setting as a value of the type of the default.
func parse(s Setting, standard starlark.Value) (starlark.Value, error) {
	refuse := func(what string) error {
		return &fault{problem: "--set " + s.Name + "=" + s.Value + ": " + strconv.Quote(s.Value) + " is not " + what,
			remedy: "write " + what + ", as the default " + short(standard) + " is"}
	}
	switch standard.(type) {
	case starlark.String, starlark.NoneType:
		return starlark.String(s.Value), nil
	case starlark.Int:
		if n, err := strconv.ParseInt(s.Value, 10, 64); err == nil {
			return starlark.MakeInt64(n), nil
		}
		return nil, refuse("a whole number")
	case starlark.Float:
		if f, err := strconv.ParseFloat(s.Value, 64); err == nil {
			return starlark.Float(f), nil
		}
		return nil, refuse("a number")
	case starlark.Bool:
		if s.Value == "true" || s.Value == "false" {
			return starlark.Bool(s.Value == "true"), nil
		}
		return nil, refuse("true or false")
	}
	return nil, &fault{arg: "default", index: 2, problem: article(standard.Type()) + " cannot come from the command line", remedy: "use a number, a text, True or False as default"}
}
