package cssr

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
)

// Spec builds a [Request] verb by verb:
//
//	s := cssr.NewSpec(config.Source{Name: "mine.yaml", Data: data})
//	s.Backward("fused").Prefer("B", "F").InFlight(4, 3, 2, 1)
//	request, err := s.Request()
//
// The first error sticks: it is that of Err and of Request, and the verbs after it do
// nothing. Lists by device or stage may have a single entry that holds for all.
type Spec struct {
	source     config.Source // Keys and Operations are in the fields below
	keys       map[string]json.RawMessage
	operations []json.RawMessage
	base       *config.Config // the configuration without operations
	shape      *layout

	request Request
	err     error
}

// NewSpec returns a spec of the configuration of a source. The spec decodes it at once.
func NewSpec(source config.Source) *Spec {
	s := &Spec{source: source, keys: map[string]json.RawMessage{}}
	if source.Keys != nil {
		s.err = json.Unmarshal(source.Keys, &s.keys)
	}
	s.source.Operations = nil
	if source.Operations != nil && s.err == nil {
		s.err = json.Unmarshal(source.Operations, &s.operations)
	}
	return s.decode()
}

// Err returns the first error of the verbs so far.
func (s *Spec) Err() error { return s.err }

// Set replaces a key at the top of the configuration, such as partition or recompute.
// The value is what encoding/json makes the key's value from.
func (s *Spec) Set(key string, value any) *Spec {
	if s.err != nil {
		return s
	}
	data, err := json.Marshal(value)
	if err != nil {
		s.err = fmt.Errorf("key %s: %w", key, err)
		return s
	}
	s.keys[key] = data
	return s.decode()
}

// decode decodes the configuration, without operations: they may name each other.
func (s *Spec) decode() *Spec {
	if s.err == nil {
		s.base, s.err = s.config(nil)
	}
	return s.lay()
}

// config decodes the configuration with further operations.
func (s *Spec) config(operations []json.RawMessage) (*config.Config, error) {
	source, err := s.source, error(nil)
	if len(s.keys) > 0 {
		if source.Keys, err = json.Marshal(s.keys); err != nil {
			return nil, err
		}
	}
	if len(operations) > 0 {
		if source.Operations, err = json.Marshal(operations); err != nil {
			return nil, err
		}
	}
	return source.Decode()
}

// lay finds out which stages there are, and where they sit.
func (s *Spec) lay() *Spec {
	if s.err == nil {
		s.shape, s.err = newLayout(s.base, s.request.Point.Choices)
	}
	return s
}

// Place lays out the stages by a rule: linear, loop or v; each stage is divided into
// so many chunks, of which each is a stage then. See [Choices.SplitStages].
func (s *Spec) Place(rule string, chunks int) *Spec {
	if s.err != nil {
		return s
	}
	return s.chunk(rule, chunks)
}

// PlaceOn lists the devices of each stage of the configuration, which chunks repeat.
func (s *Spec) PlaceOn(devices [][]int, chunks int) *Spec {
	if s.Set("placement", devices); s.err != nil {
		return s
	}
	return s.chunk("", chunks)
}

// Bidirectional adds a second route through the devices in reverse order. See
// [Choices.Bidirectional].
func (s *Spec) Bidirectional() *Spec {
	if s.err == nil {
		s.request.Point.Choices.Bidirectional = true
	}
	return s.lay()
}

func (s *Spec) chunk(rule string, chunks int) *Spec {
	if chunks < 1 {
		s.err = &ChoiceError{fmt.Sprintf("chunks %d", chunks), "there must be at least 1 chunk", "give a number from 1 up"}
		return s
	}
	c := &s.request.Point.Choices
	if c.Placement, c.SplitStages = rule, chunks; chunks == 1 {
		c.SplitStages = 0 // as by default
	}
	return s.check().lay()
}

// Backward says how stages with both halves of a backward run them: split, fused or
// auto; several words are one for each stage of the configuration.
func (s *Spec) Backward(modes ...string) *Spec {
	if s.err != nil {
		return s
	}
	if len(modes) != 1 {
		s.request.Point.Choices.Backward = nil
		return s.Set("backward", modes)
	}
	mode := slices.Index(modeNames, modes[0])
	if mode < 0 {
		s.err = &ChoiceError{"backward " + modes[0], "it is not known", suggest(modes[0], modeNames) + "use " + wordList(modeNames)}
		return s
	}
	chosen := model.Mode(mode)
	s.request.Point.Choices.Backward = &chosen
	return s
}

// Objective says what to minimise: makespan or span.
func (s *Spec) Objective(name string) *Spec {
	if s.err != nil {
		return s
	}
	objective, known := model.ParseObjective(name)
	if !known {
		words := []string{model.Makespan.String(), model.Span.String()}
		s.err = &ChoiceError{"objective " + name, "it is not known", suggest(name, words) + "use " + wordList(words)}
		return s
	}
	s.request.Point.Choices.Objective = &objective
	return s
}

// Take sets all choices and priorities to those of a point in text form, see [ParsePoint].
func (s *Spec) Take(point string) *Spec {
	if s.err != nil {
		return s
	}
	if s.request.Point, s.err = ParsePoint(point); s.err != nil {
		return s
	}
	return s.check().lay()
}

// Prefer ranks the computation types, the most urgent first, by letter or name.
func (s *Spec) Prefer(types ...string) *Spec { return s.PreferIn(AnyActor, AnyPhase, types...) }

// PreferIn ranks the computation types for an actor, in a phase. The last call for an
// actor and phase holds.
func (s *Spec) PreferIn(actor int, phase Phase, types ...string) *Spec {
	if s.err != nil {
		return s
	}
	policy := &s.request.Point.Policy
	if actor == AnyActor && phase == AnyPhase {
		policy.Types = types
		return s.check()
	}
	policy.Exceptions = slices.DeleteFunc(policy.Exceptions, func(e Exception) bool { return e.Actor == actor && e.Phase == phase })
	policy.Exceptions = append(policy.Exceptions, Exception{actor, phase, types})
	return s.check()
}

// Traverse says in which order an actor visits its stages: breadth-first, depth-first
// or wave; and how many micro-batches go through all its stages together, 0 for all.
func (s *Spec) Traverse(order string, group int) *Spec {
	if s.err != nil {
		return s
	}
	index := slices.Index(traversalNames[:], order)
	if index < 0 {
		s.err = &PolicyError{"traversal", fmt.Sprintf("%.60q is not known", order), suggest(order, traversalNames[:]) + "use " + wordList(traversalNames[:])}
		return s
	}
	s.request.Point.Policy.Traversal, s.request.Point.Policy.Group = Traversal(index), group
	return s.check()
}

// InFlight bounds the micro-batches in flight, by device. See [Policy.InFlight].
func (s *Spec) InFlight(most ...int) *Spec {
	return s.policy(func(p *Policy) { p.InFlight = most })
}

// Memory lowers the memory limit, by device, to amounts such as 80%, 24GB or 7.
func (s *Spec) Memory(amounts ...string) *Spec {
	shares := make([]Share, len(amounts))
	for i, text := range amounts {
		share, err := parseShare(span{text, 1})
		if err != nil && s.err == nil {
			s.err = &PolicyError{"memory", fmt.Sprintf("%.60q is no amount of memory", text), shareRemedy}
		}
		shares[i] = share
	}
	return s.policy(func(p *Policy) { p.Memory = shares })
}

// Weights says when gradients of weights run: by-type, at-once, deferred or fill; and
// with deferred, by device, how many may be outstanding.
func (s *Spec) Weights(mode string, outstanding ...int) *Spec {
	if s.err != nil {
		return s
	}
	index := slices.Index(weightNames[:], mode)
	if index < 0 {
		s.err = &PolicyError{"weights", fmt.Sprintf("%.60q is not known", mode), suggest(mode, weightNames[:]) + "use " + wordList(weightNames[:])}
		return s
	}
	return s.policy(func(p *Policy) { p.Weights = Weights{WeightMode(index), outstanding} })
}

// Patience lets actors wait before operations of a kind, "" for all that no other call
// names, so many eighths of their duration. See [Wait].
func (s *Spec) Patience(kind string, eighths int) *Spec {
	return s.policy(func(p *Policy) {
		p.Patience = slices.DeleteFunc(p.Patience, func(w Wait) bool { return w.Kind == kind })
		p.Patience = append(p.Patience, Wait{kind, eighths})
	})
}

// policy changes the policy, and checks it.
func (s *Spec) policy(change func(*Policy)) *Spec {
	if s.err == nil {
		change(&s.request.Point.Policy)
	}
	return s.check()
}

func (s *Spec) check() *Spec {
	if s.err == nil {
		s.err = s.request.Point.Check()
	}
	return s
}

// Operation adds an operation of one's own: a mapping with the keys of an entry of
// operations in a configuration.
func (s *Spec) Operation(entry map[string]any) *Spec {
	if s.err != nil {
		return s
	}
	data, err := json.Marshal(entry)
	if err != nil {
		s.err = fmt.Errorf("operation: %w", err)
		return s
	}
	s.operations = append(s.operations, data)
	return s
}

// Order appends operations, as [model.Problem.Name] writes them, to the order of a
// device. Where one device has an order, all need one.
func (s *Spec) Order(device int, operations ...string) *Spec {
	if s.err != nil {
		return s
	}
	if device < 0 || device > config.MaxDevices {
		s.err = &OrderError{Device: device, Position: -1, Problem: fmt.Sprintf("there is no device %d", device), Remedy: "devices count from 0"}
		return s
	}
	for len(s.request.Order) <= device {
		s.request.Order = append(s.request.Order, nil)
	}
	s.request.Order[device] = append(s.request.Order[device], operations...)
	return s
}

// Schedule asks for a schedule of the literature by name.
func (s *Spec) Schedule(name string) *Spec {
	s.request.Schedule = name
	return s
}

// Solve asks for a search for the best plan.
func (s *Spec) Solve(r SolveRequest) *Spec {
	s.request.Solve = &r
	return s
}

// Tune asks for a search for the best point.
func (s *Spec) Tune(space Space) *Spec {
	s.request.Tune = &space
	return s
}

// SpecError reports verbs of a Spec that do not go together.
type SpecError struct {
	Verb    string // the one to mend, such as order
	Problem string
	Remedy  string
}

func (e *SpecError) Error() string { return e.Verb + ": " + e.Problem + "; " + e.Remedy }

// Request returns what the verbs have described, which the spec keeps building on.
//
// Errors are those of the verbs, a *SpecError for verbs that do not go together, and
// those of the configuration with its operations.
func (s *Spec) Request() (*Request, error) {
	if s.err != nil {
		return nil, s.err
	}
	if err := s.contradiction(); err != nil {
		return nil, err
	}
	r := s.request
	if r.Config = s.base; len(s.operations) > 0 {
		var err error
		if r.Config, err = s.config(s.operations); err != nil {
			return nil, err
		}
	}
	r.Order = slices.Clone(r.Order)
	for d := range r.Order {
		r.Order[d] = slices.Clone(r.Order[d])
	}
	return &r, nil
}

// contradiction returns a *SpecError for verbs that do not go together.
func (s *Spec) contradiction() error {
	r := &s.request
	policy := Point{Policy: r.Point.Policy}
	ranked := policy.String() != "*"
	searches := r.Solve != nil || r.Tune != nil
	switch {
	case r.Order != nil && r.Schedule != "":
		return &SpecError{"order", "the schedule " + r.Schedule + " has an order of its own", "keep one of the two"}
	case r.Order != nil && ranked:
		return &SpecError{"order", "an explicit order leaves nothing to decide for " + policyWords(policy), "keep one of the two"}
	case r.Schedule != "" && ranked:
		return &SpecError{"schedule", "a schedule by name leaves nothing to decide for " + policyWords(policy), "keep one of the two"}
	case searches && r.Order != nil:
		return &SpecError{"order", "an explicit order leaves nothing to search", "build it, or leave the order out"}
	case searches && r.Schedule != "":
		return &SpecError{"schedule", "a schedule by name leaves nothing to search", "build it, or leave the name out"}
	}
	return nil
}

// policyWords names the verbs that have set parts of a policy.
func policyWords(policy Point) string {
	var words []string
	for _, word := range fields(policy.String()) {
		key, _, _ := strings.Cut(word.text, "=")
		if verb := VerbOf(key); !slices.Contains(words, verb) {
			words = append(words, verb)
		}
	}
	return strings.Join(words, ", ")
}

// VerbOf returns the verb of a Spec, as scripts write it, that sets what a key of a
// point in text form says, such as prefer for types@3.
func VerbOf(key string) string {
	switch key {
	case "placement", "chunks":
		return "place"
	case "in-flight":
		return "in_flight"
	case "traversal", "group":
		return "traverse"
	}
	if strings.HasPrefix(key, keyTypes) {
		return "prefer"
	}
	return key
}

// Config returns the configuration as it is so far, without the operations of
// [Spec.Operation]; nil after an error in it.
func (s *Spec) Config() *config.Config { return s.base }

// Stages returns the number of stages, chunks counted one by one.
func (s *Spec) Stages() int { return s.shape.stages() }

// DevicesOf returns the devices of a stage, on the first route where there are several:
// one, or those of a gang.
func (s *Spec) DevicesOf(stage int) []int { return s.shape.devices[stage] }

// StagesOn returns the stages that a device holds, on any route, ascending.
func (s *Spec) StagesOn(device int) []int {
	var stages []int
	for stage := range s.shape.devices {
		if slices.Contains(s.shape.everyDevice(stage), device) {
			stages = append(stages, stage)
		}
	}
	return stages
}
