package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/flexpipe/flexpipe/cssr"
	"github.com/flexpipe/flexpipe/model"
	"github.com/flexpipe/flexpipe/model/config"
	"github.com/flexpipe/flexpipe/model/network"
	"github.com/flexpipe/flexpipe/model/view"
	"github.com/flexpipe/flexpipe/solve"
	"github.com/flexpipe/flexpipe/solve/tune"
)

// tuned is the result of a tuning on its way to the user.
type tuned struct {
	cfg     *config.Config
	result  *tune.Result
	options *tuneOptions
	wall    time.Duration
}

// text prints the ranked table, why the best plan wins, and its picture.
func (t *tuned) text(w io.Writer) error {
	r, o := t.result, t.options
	if len(r.Rows) == 0 {
		fmt.Fprintln(w, "no plan: "+r.Reason)
		return nil
	}
	best := &r.Rows[0]
	if o.quiet {
		fmt.Fprintln(w, t.essence(best))
	} else {
		fields(w, t.summary()...)
		fmt.Fprintln(w)
		t.table(w)
		fmt.Fprintln(w)
		t.why(w)
	}
	if o.gantt || !o.quiet && best.Problem.NumDevices() <= mostLanes {
		fmt.Fprintln(w)
		return view.ASCII(w, best.Problem, best.Result.Plan, best.Result.Timeline, view.ASCIIOptions{Color: o.color, Bound: best.Result.Bound})
	}
	return nil
}

// essence returns the best row in one line.
func (t *tuned) essence(best *tune.Row) string {
	p := best.Problem
	text := fmt.Sprintf("%s %s, bound of its shape %s, %s: %s", p.Pipeline.Objective, p.FormatTime(best.Result.Value),
		p.FormatTime(best.Result.Bound), t.standing(best), best.Point.String())
	if t.result.Reason != "" {
		text += " (" + t.result.Reason + ")"
	}
	return text
}

// standing says what is proved of a row: it speaks of its shape, never of the space, of
// which a part was searched.
func (t *tuned) standing(row *tune.Row) string {
	a := answer{result: row.Result, options: solveOptions{color: false}}
	switch {
	case t.result.Fallback:
		return "no plan of the space was found, this is the reference"
	case row.Result.Status == solve.Optimal:
		return "optimal for its shape, " + a.proved()
	}
	return "not proved best for its shape"
}

// summary says what was searched.
func (t *tuned) summary() [][2]string {
	r := t.result
	shapes := []string{model.Plural(r.Shapes, "shape")}
	if r.Refused > 0 {
		shapes = append(shapes, fmt.Sprintf("%d that are not possible here", r.Refused))
	}
	if r.TooLarge > 0 {
		shapes = append(shapes, fmt.Sprintf("%d beyond the memory limits", r.TooLarge))
	}
	if r.NoOrder > 0 {
		shapes = append(shapes, fmt.Sprintf("%d of which no plan that fits was found", r.NoOrder))
	}
	if r.Unbuilt > 0 {
		shapes = append(shapes, fmt.Sprintf("%d that there was no time for", r.Unbuilt))
	}
	list := [][2]string{
		{"space", fmt.Sprintf("%s of %s", model.Plural(r.Points, "point"), strings.Join(shapes, ", "))},
		{"looked at", fmt.Sprintf("%d decoded, %d pruned by bounds", r.Evaluated, r.Pruned)},
		{"found in", fmt.Sprintf("%v (seed %d)", rounded(t.wall), t.options.seed)},
	}
	if r.Reason != "" {
		list = append(list, [2]string{"stopped", r.Reason})
	}
	return list
}

// table prints the best shapes, and the reference below.
func (t *tuned) table(w io.Writer) {
	rows := make([]*tune.Row, 0, len(t.result.Rows)+1)
	for i := range t.result.Rows {
		rows = append(rows, &t.result.Rows[i])
	}
	if t.result.Reference != nil {
		rows = append(rows, t.result.Reference)
	}
	rank, value, ratio := column{name: "", left: true}, column{name: rows[0].Problem.Pipeline.Objective.String()}, column{name: "speed-up"}
	gaps, peak := column{name: "gap"}, column{name: "peak memory"}
	for i, row := range rows {
		rank.add(t.rank(i))
		value.add(row.Problem.FormatTime(row.Result.Value))
		ratio.add(t.speedup(row))
		gaps.add(percent(row.Result.Value-row.Result.Bound, row.Result.Value))
		peak.add(row.Problem.FormatMemory(highestPeak(row)))
	}
	columns := []column{rank, value, ratio, gaps}
	if rows[0].Problem.ModelsMemory() {
		columns = append(columns, peak)
	}
	for _, d := range shapeColumns {
		c := column{name: d.name, left: true}
		differ := false
		for _, row := range rows {
			c.add(d.of(t.cfg, row))
			differ = differ || c.cells[len(c.cells)-1] != c.cells[0]
		}
		if differ {
			columns = append(columns, c)
		}
	}
	printTable(w, columns...)
}

func (t *tuned) rank(i int) string {
	if i == len(t.result.Rows) {
		return t.reference()
	}
	return strconv.Itoa(i + 1)
}

// reference names what the rows are compared with.
func (t *tuned) reference() string {
	if t.options.options.Start != nil {
		return "the script's schedule"
	}
	return t.result.ReferenceName
}

// speedup returns how much faster than the reference a row is.
func (t *tuned) speedup(row *tune.Row) string {
	if t.result.Reference == nil || row.Value == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2fx", t.result.Reference.Value/row.Value)
}

// highestPeak returns the largest peak of a device.
func highestPeak(row *tune.Row) model.Bytes {
	most := model.Bytes(0)
	for _, dm := range row.Result.Metrics.Devices {
		most = max(most, dm.Peak)
	}
	return most
}

// shapeColumn is a column about what shapes the problem of a row.
type shapeColumn struct {
	name string
	of   func(cfg *config.Config, row *tune.Row) string
}

var shapeColumns = []shapeColumn{
	{"placement", func(_ *config.Config, row *tune.Row) string { return orWord(row.Point.Choices.Placement, "as is") }},
	{"stages", func(_ *config.Config, row *tune.Row) string { return strconv.Itoa(len(row.Problem.Pipeline.Stages)) }},
	{"layers", func(_ *config.Config, row *tune.Row) string { return cutText(row.Point.Choices.Partition) }},
	{"backward", func(_ *config.Config, row *tune.Row) string {
		if b := row.Point.Choices.Backward; b != nil {
			return b.String()
		}
		return "as is"
	}},
	{"vocabulary", func(_ *config.Config, row *tune.Row) string { return orWord(row.Point.Choices.Vocabulary, "as is") }},
	{"recompute", func(_ *config.Config, row *tune.Row) string { return recomputeText(row.Point.Choices.Recompute) }},
	{"micro-batches", func(_ *config.Config, row *tune.Row) string { return strconv.Itoa(row.Problem.MicroBatches()) }},
}

func orWord(word, otherwise string) string {
	if word == "" {
		return otherwise
	}
	return word
}

// why says where the time of the best plan goes, beside that of the reference.
func (t *tuned) why(w io.Writer) {
	best, reference := &t.result.Rows[0], t.result.Reference
	fields(w, t.reasons()...)
	fmt.Fprintln(w)
	unit := best.Problem.TimeUnit()
	part, own := column{name: "where the time goes, " + unit.Plural(), left: true}, column{name: "best"}
	other, saved := column{name: t.reference()}, column{name: "saved"}
	for _, line := range tune.Parts() {
		amount := line.Amount(best.Account)
		part.add(line.Name)
		own.add(decimal(amount))
		if reference != nil {
			before := line.Amount(reference.Account)
			other.add(decimal(before))
			saved.add(decimal(before - amount))
		}
	}
	if reference == nil {
		printTable(w, part, own)
		return
	}
	printTable(w, part, own, other, saved)
}

// reasons names the point that wins, and the largest savings.
func (t *tuned) reasons() [][2]string {
	best, reference := &t.result.Rows[0], t.result.Reference
	list := [][2]string{{"best", best.Point.String()}, {"", t.standing(best)}}
	if rule := best.Result.Rule; rule != best.Point.String() {
		a := answer{problem: best.Problem, result: best.Result}
		list = append(list, [2]string{"found by", a.origin()})
	}
	if layers, err := cssr.Layers(t.cfg, best.Point.Choices); err == nil && layers != nil {
		list = append(list, [2]string{"layers", strings.Join(layers, " | ")})
	}
	if reference == nil {
		return append(list, [2]string{"why", t.reference() + " does not fit the memory limits"})
	}
	return append(list, [2]string{"why", t.sentence(best, reference)})
}

// sentence says which parts of the reference's time became less, and which more.
func (t *tuned) sentence(best, reference *tune.Row) string {
	total := reference.Value - best.Value
	if total <= 0 {
		return t.reference() + " is as fast"
	}
	unit := best.Problem.TimeUnit().Plural()
	var less, more []string
	for _, line := range tune.Parts() {
		saved := line.Amount(reference.Account) - line.Amount(best.Account)
		switch {
		case saved > total/20:
			less = append(less, fmt.Sprintf("%s %s less %s", decimal(saved), unit, line.Name))
		case saved < -total/20:
			more = append(more, fmt.Sprintf("%s %s more %s", decimal(-saved), unit, line.Name))
		}
	}
	text := fmt.Sprintf("%.2f times as fast as %s: %s", reference.Value/best.Value, t.reference(), joined(less, "and"))
	if more != nil {
		text += ", against " + joined(more, "and")
	}
	spread := func(a tune.Account) float64 {
		if a.Average == 0 {
			return 1
		}
		return a.Work / a.Average
	}
	if before, after := spread(reference.Account), spread(best.Account); before > 1.01*after {
		text += fmt.Sprintf("; its busiest device has %.2f times the average work, instead of %.2f times", after, before)
	}
	return text
}

// decimal writes an amount with three decimals at most.
func decimal(amount float64) string {
	text := strconv.FormatFloat(amount, 'f', 3, 64)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// recomputeText says what stages recompute: one word if all do the same.
func recomputeText(modes []network.Recompute) string {
	if modes == nil {
		return "as is"
	}
	counts := map[network.Recompute]int{}
	for _, m := range modes {
		counts[m]++
	}
	var parts []string
	for _, m := range []network.Recompute{network.RecomputeNone, network.RecomputeSelective, network.RecomputeFull} {
		switch n := counts[m]; {
		case n == len(modes):
			return m.String()
		case n > 0:
			parts = append(parts, fmt.Sprintf("%d %s", n, m))
		}
	}
	return strings.Join(parts, " ")
}

// cutText writes the layers of the stages, or the ends of a long list.
func cutText(cut []int) string {
	if cut == nil {
		return "as is"
	}
	return stageList(cut)
}
