package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"go.yaml.in/yaml/v3"
)

// Decode reads a configuration from data. name stands for the document in errors.
// A configuration that names a profile is refused, because there is no file system
// to read it from: use [Load].
//
// The error is an [Errors] that holds every refusal found, in document order. The
// cost is O(len(data)) plus O(S) per value that is given to all stages.
func Decode(data []byte, name string) (*Config, error) { return decode(data, name, nil) }

// Load reads the configuration name from fsys, and the profile that it names, if
// any. The name of the profile is relative to the directory of the configuration;
// the two are joined with [path.Join], and fsys decides which names it serves.
//
// The error is that of fsys, or an [Errors] as in [Decode].
func Load(fsys fs.FS, name string) (*Config, error) {
	data, err := readFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("reading configuration: %w", err)
	}
	return decode(data, name, fsys)
}

// readFile reads a file, but not much more of it than a document may have.
func readFile(fsys fs.FS, name string) (data []byte, err error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.LimitReader(file, maxFileBytes+1))
}

// decoder turns one document into a Config.
type decoder struct {
	root     value
	fsys     fs.FS // nil when other files cannot be read
	config   *Config
	profile  *profileDocument // of the stages; nil without one
	measured *profileDocument // of the layers of the model; nil without one
	bareSize *value           // the first small size without a unit; nil if there is none
	problems Errors
}

// decode reads a configuration; fsys may be nil.
func decode(data []byte, name string, fsys fs.FS) (*Config, error) {
	node, refusal := parse(data, name)
	if refusal != nil {
		return nil, Errors{refusal}
	}
	return decodeRoot(node, name, fsys)
}

// decodeRoot decodes the mapping at the top of a configuration.
func decodeRoot(node *yaml.Node, name string, fsys fs.FS) (*Config, error) {
	d := &decoder{fsys: fsys, config: &Config{}}
	doc := &document{file: name, problems: &d.problems, misspelt: map[*yaml.Node]bool{}}
	d.root = value{doc: doc, node: node}
	d.config.root = d.root
	checkKeys(d.root, configSchema)
	d.readSections()
	if len(d.problems) > 0 {
		return nil, d.problems.sorted(name)
	}
	sortWarnings(d.config.Warnings)
	return d.config, nil
}

// readSections reads the sections in an order in which each finds what it depends on. A
// section that fails does not keep independent ones from reporting their problems.
func (d *decoder) readSections() {
	d.readHead()
	ok := d.readSource()
	ok = d.readUnit() && ok
	d.readCluster()
	ok = d.readDevices() && ok
	ok = ok && d.readStages()
	if !ok {
		return
	}
	d.readPlacement()
	d.readMicroBatches()
	d.readRouteOf()
	edges := d.readEdges()
	if edges {
		d.readEdgeLatency()
	}
	backward := d.readBackward()
	d.readOperations()
	d.readMemory()
	d.readPartition()
	d.readRecompute()
	d.readCommunication()
	if d.config.Model == nil && backward {
		d.readCosts(edges)
	}
}

// readHead reads version, name and objective.
func (d *decoder) readHead() {
	readVersion(d.root.get("version"))
	if name := d.root.get("name"); !name.absent() {
		d.config.Name, _ = name.text()
	}
	d.config.Objective = Makespan
	if objective := d.root.get("objective"); !objective.absent() {
		d.config.Objective, _ = word(objective, Makespan, Span)
	}
}

// readVersion demands version 1.
func readVersion(v value) {
	if v.absent() {
		v.failMissing("write version: 1")
	} else if n, ok := v.integer(); !ok || n != 1 {
		v.fail("version "+describe(v.node)+" is not known", "write version: 1")
	}
}

// modelKeys are the keys that have no meaning without a model.
var modelKeys = []string{"cluster", "partition", "recompute"}

// readSource finds out where the costs come from, and reads a profile or a model.
func (d *decoder) readSource() bool {
	costs, profile, model := d.root.get("costs"), d.root.get("profile"), d.root.get("model")
	given := []value{}
	for _, source := range []value{costs, profile, model} {
		if !source.absent() {
			given = append(given, source)
		}
	}
	if len(given) == 0 {
		costs.failMissing("give costs, or a profile, or a model on a cluster")
		return false
	}
	if model.absent() {
		d.refuseModelKeys()
	}
	switch {
	case !costs.absent():
		for _, second := range given[1:] {
			second.fail("costs gives the costs already", "keep one of the two")
		}
		return len(given) == 1 && costs.mapping("write keys such as forward below it")
	case model.absent():
		d.profile = d.readProfile(profile)
		return d.profile != nil && d.profile.hasStages()
	case profile.absent():
		return d.readModel(model)
	}
	d.measured = d.readProfile(profile)
	return d.readModel(model) && d.measured != nil && d.readMeasured()
}

// refuseModelKeys fails for the keys of a model.
func (d *decoder) refuseModelKeys() {
	for _, key := range modelKeys {
		if v := d.root.get(key); !v.absent() {
			v.fail("belongs to a model, and there is none", "leave it out")
		}
	}
}

// readUnit reads the unit. It defaults to that of the profile, to microseconds for a
// model, else to ticks.
func (d *decoder) readUnit() bool {
	d.config.Unit = Tick
	switch {
	case d.config.Profile != nil:
		d.config.Unit = d.config.Profile.Unit
	case !d.root.get("model").absent():
		d.config.Unit = Microsecond
	}
	v := d.root.get("unit")
	if v.absent() {
		return true
	}
	unit, ok := word(v, Tick, Nanosecond, Microsecond, Millisecond, Second)
	if ok && (unit == Tick) != (d.config.Unit == Tick) && (d.config.Profile != nil || d.config.Model != nil) {
		v.fail(fmt.Sprintf("durations in %s cannot be given in %s", unitPlural(d.config.Unit), unitPlural(unit)), "leave it out")
		return false
	}
	if ok {
		d.config.Unit = unit
	}
	return ok
}

// unitPlural names a unit in a message.
func unitPlural(u Unit) string {
	if u == Tick {
		return "ticks"
	}
	return string(u)
}
