package cssr

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// PolicyError reports a policy that is not sound, or that does not fit a problem.
type PolicyError struct {
	Key     string // as in the text form of a Point, such as "in-flight"
	Problem string
	Remedy  string
}

func (e *PolicyError) Error() string { return e.Key + ": " + e.Problem + "; " + e.Remedy }

// Rule resolves the policy against a problem.
//
// Cost O(rows · phases). Error: a *PolicyError for a policy that is not sound in
// itself (see [Point.Check]), a kind that the problem does not have, a list of
// another length than the devices or stages, or an amount of memory in bytes where
// the problem has bare numbers.
func (pt *Policy) Rule(p *model.Problem) (*Rule, error) {
	if err := pt.check(); err != nil {
		return nil, err
	}
	r := &resolver{Policy: pt, p: p, rule: NewRule(p)}
	for _, step := range []func() error{r.resolveTypes, r.rankRows, r.setPatience, r.setCaps, r.setMemory} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r.rule, nil
}

// resolver makes the rule of a policy.
type resolver struct {
	*Policy
	p      *model.Problem
	rule   *Rule
	common []int64   // by kind: its rank under Types
	ranks  [][]int64 // by exception
}

// resolveTypes ranks the kinds of the problem under Types and each exception.
func (r *resolver) resolveTypes() error {
	var err error
	if r.common, err = r.ranksOf(typesKey(AnyActor, AnyPhase), r.Types); err != nil {
		return err
	}
	for i := range r.Exceptions {
		e := &r.Exceptions[i]
		key := typesKey(e.Actor, e.Phase)
		if e.Actor >= r.p.NumDevices() {
			return &PolicyError{key, "there are " + model.Plural(r.p.NumDevices(), "device"), "devices count from 0"}
		}
		ranks, err := r.ranksOf(key, e.Types)
		if err != nil {
			return err
		}
		r.ranks = append(r.ranks, ranks)
	}
	return nil
}

// ranksOf returns the rank of each kind: the listed ones, then the others in the
// order of the table; weight gradients where their mode wants them.
func (r *resolver) ranksOf(key string, types []string) ([]int64, error) {
	var order []model.Kind
	for _, name := range types {
		kind, err := r.kind(key, name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(order, kind) {
			return nil, &PolicyError{key, fmt.Sprintf("%s stands twice", name), "name each kind once, by letter or by name"}
		}
		order = append(order, kind)
	}
	for k := range r.p.Kinds {
		if !slices.Contains(order, model.Kind(k)) {
			order = append(order, model.Kind(k))
		}
	}
	ranks := make([]int64, len(r.p.Kinds))
	for i, k := range order {
		ranks[k] = int64(i) + 1
	}
	switch r.Weights.Mode {
	case AtOnce:
		ranks[model.BackwardWeight] = 0
	case Deferred, Fill:
		ranks[model.BackwardWeight] = int64(len(order)) + 1
	}
	return ranks, nil
}

// kind returns the kind of the problem with a letter or name.
func (r *resolver) kind(key, name string) (model.Kind, error) {
	var words []string
	for k, info := range r.p.Kinds {
		if name == info.Letter || name == info.Name {
			return model.Kind(k), nil
		}
		if r.p.Pipeline.Blocking || !model.Kind(k).IsTransfer() {
			words = append(words, info.Name)
		}
	}
	remedy := "the problem has " + strings.Join(words, ", ")
	if near := model.Nearest(name, words); near != "" {
		remedy = fmt.Sprintf("did you mean %s? %s", near, remedy)
	}
	return 0, &PolicyError{key, fmt.Sprintf("unknown kind %q", name), remedy}
}

// ranking returns the ranks of the kinds for a device in a phase.
func (r *resolver) ranking(device int, phase Phase) []int64 {
	best, ranks := 0, r.common
	for i := range r.Exceptions {
		e := &r.Exceptions[i]
		if e.Actor != AnyActor && e.Actor != device || e.Phase != AnyPhase && e.Phase != phase {
			continue
		}
		weight := 1 // exceptions differ in scope, so no two weights are equal
		if e.Actor != AnyActor {
			weight += 2
		}
		if e.Phase != AnyPhase {
			weight++
		}
		if weight > best {
			best, ranks = weight, r.ranks[i]
		}
	}
	return ranks
}

// rankRows sets offsets and slopes: a mixed-radix number of type, group, stage and
// micro-batch; with Wave, of type, micro-batch and stage.
func (r *resolver) rankRows() error {
	micro, stages := int64(r.p.MicroBatches()), int64(len(r.p.Pipeline.Stages))
	group := int64(r.Group)
	if group <= 0 || group > micro {
		group = micro
	}
	perStage, perType, slope := group, group*stages*(micro/group+2), int64(1)
	if r.Traversal == Wave {
		perStage, perType, slope = 1, micro*stages, stages
	} else if group < micro {
		// Each group starts over with its first micro-batch.
		r.rule.Group, r.rule.GroupStep = int(group), group*stages-group
	}
	for i := range r.rule.Slope {
		r.rule.Slope[i] = slope
	}
	if !r.phased() {
		r.setOffsets(r.rule.Offset, AnyPhase, perType, perStage)
		return nil
	}
	for phase := WarmUp; phase < numPhases; phase++ {
		r.rule.Phased[phase] = make([]int64, len(r.p.Rows))
		r.setOffsets(r.rule.Phased[phase], phase, perType, perStage)
	}
	return nil
}

// setOffsets ranks the first operation of each row in a phase.
func (r *resolver) setOffsets(offsets []int64, phase Phase, perType, perStage int64) {
	for i := range r.p.Rows {
		row := &r.p.Rows[i]
		rank := r.ranking(int(row.Devices[0]), phase)[row.Kind]
		offsets[i] = rank*perType + r.place(row)*perStage
	}
}

// phased reports whether priorities differ by phase.
func (r *resolver) phased() bool {
	return slices.ContainsFunc(r.Exceptions, func(e Exception) bool { return e.Phase != AnyPhase })
}

// place returns the place of a row's stage in the stage-traversal priority.
func (r *resolver) place(row *model.Row) int64 {
	place := int64(max(row.Stage, 0))
	if isGradient(row.Kind) != (r.Traversal == DepthFirst) {
		return int64(len(r.p.Pipeline.Stages)) - 1 - place
	}
	return place
}

// isGradient reports whether a kind computes a gradient.
func isGradient(k model.Kind) bool { return k.CarriesGradient() || k == model.BackwardWeight }

// setPatience sets how long an actor waits before operations of each row.
func (r *resolver) setPatience() error {
	general := 0
	byKind := make([]int, len(r.p.Kinds))
	for k := range byKind {
		byKind[k] = -1
	}
	for _, w := range r.Patience {
		if w.Kind == "" {
			general = w.Eighths
			continue
		}
		kind, err := r.kind("patience", w.Kind)
		if err != nil {
			return err
		}
		if byKind[kind] >= 0 {
			return &PolicyError{"patience", fmt.Sprintf("%s stands twice", w.Kind), "name each kind once, by letter or by name"}
		}
		byKind[kind] = w.Eighths
	}
	for i := range r.p.Rows {
		kind := r.p.Rows[i].Kind
		eighths := general
		if byKind[kind] >= 0 {
			eighths = byKind[kind]
		}
		if kind == model.BackwardWeight && r.Weights.Mode == Fill {
			eighths = max(eighths, wholeWait)
		}
		r.rule.Patience[i] = uint8(eighths)
	}
	return nil
}

// wholeWait is the patience that lets no operation delay a more urgent one.
const wholeWait = 8

// setCaps sets the bounds by device and the fused stages.
func (r *resolver) setCaps() error {
	devices, stages := r.p.NumDevices(), len(r.p.Pipeline.Stages)
	caps, err := forAll("in-flight", beyond(r.p, r.InFlight, 0), devices, "device")
	if err != nil {
		return err
	}
	most, err := forAll("weights", beyond(r.p, r.Weights.Most, 0), devices, "device")
	if err != nil {
		return err
	}
	r.rule.Actor, r.rule.Backlog = int32s(caps), int32s(most)
	r.rule.Fuse, err = forAll("fuse", r.Fuse, stages, "stage")
	return err
}

// setMemory sets the memory limits.
func (r *resolver) setMemory() error {
	shares, err := forAll("memory", beyond(r.p, r.Memory, Share{100, percent}), r.p.NumDevices(), "device")
	if err != nil {
		return err
	}
	for d, share := range shares {
		amount, err := share.amount(r.p, d)
		if err != nil {
			return err
		}
		r.rule.Memory = append(r.rule.Memory, amount)
	}
	return nil
}

// amount returns the share of a device in memory units of the problem, rounded
// down. A part of no limit is no limit.
func (s Share) amount(p *model.Problem, device int) (model.Bytes, error) {
	size := new(big.Rat).SetInt64(s.Number)
	unit := p.Pipeline.MemoryUnit
	switch {
	case s.Unit == percent:
		if p.Limits[device] >= model.Unlimited {
			return model.Unlimited, nil
		}
		size.Mul(size, new(big.Rat).SetFrac64(int64(p.Limits[device]), 100))
	case s.Unit != "" && unit.Name == "":
		return 0, &PolicyError{"memory", fmt.Sprintf("%s is in bytes, the sizes of the problem are bare numbers", s),
			"give a bare number, or a part of the limit such as 80%"}
	default:
		size.Mul(size, new(big.Rat).SetInt64(shareUnits[s.Unit]))
		size.Quo(size, unit.Rat(1))
	}
	whole := new(big.Int).Quo(size.Num(), size.Denom())
	if !whole.IsInt64() || whole.Int64() > int64(model.Unlimited) {
		return model.Unlimited, nil
	}
	return model.Bytes(whole.Int64()), nil
}

// percent is the unit of a part of the limit.
const percent = "%"

// shareUnits lists the units of a Share, with their bytes.
var shareUnits = map[string]int64{
	"": 1, percent: 0, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
}

// beyond returns a list by device with entries for the engines behind them, which
// bound nothing.
func beyond[T any](p *model.Problem, list []T, none T) []T {
	devices := p.Pipeline.RealDevices()
	if len(list) != devices || devices == p.NumDevices() {
		return list
	}
	return append(slices.Clone(list), slices.Repeat([]T{none}, p.NumDevices()-devices)...)
}

// forAll returns a list with n entries: the list itself, or its only entry for all.
func forAll[T any](key string, list []T, n int, noun string) ([]T, error) {
	switch len(list) {
	case 0:
		return nil, nil
	case n:
		return list, nil
	case 1:
		return slices.Repeat(list, n), nil
	}
	return nil, &PolicyError{key, fmt.Sprintf("has %d numbers for %s", len(list), model.Plural(n, noun)),
		fmt.Sprintf("give one for all, or one for each %s", noun)}
}

// int32s returns the list in 32 bits; larger numbers bound nothing.
func int32s(list []int) []int32 {
	if list == nil {
		return nil
	}
	short := make([]int32, len(list))
	for i, n := range list {
		short[i] = int32(min(n, 1<<30))
	}
	return short
}
