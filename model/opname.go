package model

import (
	"fmt"
	"strconv"
	"strings"
)

// AppendName appends the text form of an operation to dst: stage, letter,
// micro-batch, such as 3F5; a transfer also names the stage that receives:
// 3SEND_F5>4. What an operation does not have is left out.
func (p *Problem) AppendName(dst []byte, op OpID) []byte {
	r := p.RowOf(op)
	row := &p.Rows[r]
	if row.Stage >= 0 {
		dst = strconv.AppendInt(dst, int64(row.Stage), 10)
	}
	dst = append(dst, p.Kinds[row.Kind].Letter...)
	if !row.Single {
		dst = strconv.AppendInt(dst, int64(p.microBatch(r, int(op-p.base[r]))), 10)
	}
	if row.To >= 0 {
		dst = append(dst, '>')
		dst = strconv.AppendInt(dst, int64(row.To), 10)
	}
	return dst
}

// ParseOp is the inverse of Name. It costs O(rows) because it builds a Namer;
// who reads many names builds one and keeps it. Errors are *NameError.
func (p *Problem) ParseOp(text string) (OpID, error) { return NewNamer(p).Parse(text) }

// NameError reports a text that names no operation of the problem.
type NameError struct{ Text, Reason string }

func (e *NameError) Error() string { return fmt.Sprintf("operation %.60q: %s", e.Text, e.Reason) }

// Namer finds operations of a problem by their text forms. It is read-only
// after NewNamer and safe for concurrent use.
type Namer struct {
	p     *Problem
	rows  []int32 // by stage (one more in front for none), kind and route; -1 if there is none
	sends map[transfer]int32
}

// transfer names the rows that carry a To.
type transfer struct {
	kind             Kind
	stage, to, route int32
}

// NewNamer returns a Namer for p. Cost O(rows).
func NewNamer(p *Problem) *Namer {
	n := &Namer{p: p, sends: map[transfer]int32{}}
	n.rows = make([]int32, (len(p.Pipeline.Stages)+1)*len(p.Kinds)*len(p.members))
	for i := range n.rows {
		n.rows[i] = -1
	}
	for r := range p.Rows {
		row := &p.Rows[r]
		if row.To >= 0 {
			n.sends[transfer{row.Kind, int32(row.Stage), int32(row.To), int32(row.Route)}] = int32(r)
		} else {
			n.rows[n.slot(row.Stage, row.Kind, row.Route)] = int32(r)
		}
	}
	return n
}

func (n *Namer) slot(stage int, kind Kind, route int) int {
	return ((stage+1)*len(n.p.Kinds)+int(kind))*len(n.p.members) + route
}

// Parse returns the operation that a text in the form of Problem.Name names.
// Numbers are decimal without sign or leading zeros, so that every operation
// has one name. Cost O(len(text)) without allocation. Errors are *NameError.
func (n *Namer) Parse(text string) (OpID, error) {
	name, ok := splitName(text)
	if !ok {
		return 0, &NameError{text, "the form is stage, kind, micro-batch, such as 3F5; a transfer adds its receiver: 3SEND_F5>4"}
	}
	kind, ok := n.kind(name.letter)
	if !ok {
		return 0, &NameError{text, fmt.Sprintf("there is no kind %q; the kinds are %s", name.letter, n.letters())}
	}
	if stages := len(n.p.Pipeline.Stages); name.stage >= stages {
		return 0, &NameError{text, fmt.Sprintf("there is no stage %d; the stages are 0 to %d", name.stage, stages-1)}
	}
	if m := n.p.MicroBatches(); name.microBatch >= m {
		return 0, &NameError{text, fmt.Sprintf("there is no micro-batch %d; they are 0 to %d", name.microBatch, m-1)}
	}
	row := n.row(name.stage, kind, name.to, n.route(name.microBatch))
	if row < 0 || n.p.Rows[row].Single != (name.microBatch < 0) {
		return 0, &NameError{text, n.lacks(name, kind, row)}
	}
	return n.p.Op(int(row), name.microBatch), nil
}

// kind finds a kind by its letter.
func (n *Namer) kind(letter string) (Kind, bool) {
	for k := range n.p.Kinds {
		if n.p.Kinds[k].Letter == letter {
			return Kind(k), true
		}
	}
	return 0, false
}

// route returns the route of a micro-batch, 0 for none.
func (n *Namer) route(microBatch int) int {
	if routes := n.p.Pipeline.Routes; routes != nil && microBatch >= 0 {
		return routes[microBatch]
	}
	return 0
}

// row returns the row of a kind of a stage on a route, -1 if there is none.
func (n *Namer) row(stage int, kind Kind, to, route int) int32 {
	if to < 0 {
		return n.rows[n.slot(stage, kind, route)]
	}
	if row, ok := n.sends[transfer{kind, int32(stage), int32(to), int32(route)}]; ok {
		return row
	}
	return -1
}

// letters lists the letters of all kinds; transfers are operations only if they block.
func (n *Namer) letters() string {
	var all []string
	for k := range n.p.Kinds {
		if n.p.Pipeline.Blocking || !Kind(k).IsTransfer() {
			all = append(all, n.p.Kinds[k].Letter)
		}
	}
	return strings.Join(all, ", ")
}

// lacks says why there is no operation of a name of good form whose numbers are
// in range. Row is the one that differs only in having a micro-batch, or -1.
func (n *Namer) lacks(name opName, kind Kind, row int32) string {
	switch {
	case row >= 0 && name.microBatch < 0:
		return "the micro-batch is missing"
	case row >= 0:
		return fmt.Sprintf("%s runs once for the iteration and has no micro-batch", name.letter)
	}
	like := n.like(name, kind)
	switch {
	case like == "" && (name.stage < 0 || kind.IsTransfer()):
		return "no stage has " + name.letter
	case name.stage < 0 && name.to >= 0:
		return "write the stage that sends, too, as in " + like
	case name.stage < 0:
		return "write the stage too, as in " + like
	case name.to >= 0:
		return fmt.Sprintf("there is no such transfer from stage %d to stage %d", name.stage, name.to)
	case kind.IsTransfer():
		return "a transfer names its receiver, such as " + like
	}
	var has []string
	for k := range n.p.Kinds {
		if n.row(name.stage, Kind(k), -1, n.route(name.microBatch)) >= 0 {
			has = append(has, n.p.Kinds[k].Letter)
		}
	}
	return fmt.Sprintf("stage %d has no %s; it has %s", name.stage, name.letter, strings.Join(has, ", "))
}

// like returns the name of an operation of a kind, of the stage and the micro-batch of
// a name if there is one; "" if no stage has the kind.
func (n *Namer) like(name opName, kind Kind) string {
	microBatch, found := max(name.microBatch, 0), -1
	for r := range n.p.Rows {
		row := &n.p.Rows[r]
		if row.Kind != kind || row.Stage < 0 || !row.Single && row.Route != n.route(microBatch) {
			continue
		}
		if found < 0 || row.Stage == name.stage && n.p.Rows[found].Stage != name.stage {
			found = r
		}
	}
	if found < 0 {
		return ""
	}
	return n.p.Name(n.p.Op(found, microBatch))
}

// move returns the operation that does for another micro-batch what op does for
// its own. The micro-batch is in range, and op is not Single; false if its route
// has no such operation.
func (n *Namer) move(op OpID, microBatch int) (OpID, bool) {
	r := n.p.RowOf(op)
	if n.p.position != nil {
		row := &n.p.Rows[r]
		r = int(n.row(row.Stage, row.Kind, row.To, n.route(microBatch)))
		if r < 0 {
			return 0, false
		}
	}
	return n.p.Op(r, microBatch), true
}

// class returns a row that stands for all rows which differ from that of op in
// their route only.
func (n *Namer) class(row int) int32 {
	if n.p.position == nil {
		return int32(row)
	}
	r := &n.p.Rows[row]
	for route := range r.Route {
		if first := n.row(r.Stage, r.Kind, r.To, route); first >= 0 {
			return first
		}
	}
	return int32(row)
}

// opName is a split name; numbers that it does not have are -1.
type opName struct {
	stage, microBatch, to int
	letter                string
}

func splitName(text string) (opName, bool) {
	var name opName
	var ok bool
	if name.stage, text, ok = leadingNumber(text); !ok {
		return name, false
	}
	end := 0
	for end < len(text) && !isDigit(text[end]) && text[end] != '>' {
		end++
	}
	name.letter, text = text[:end], text[end:]
	if name.microBatch, text, ok = leadingNumber(text); !ok {
		return name, false
	}
	name.to = -1
	if text != "" && text[0] == '>' {
		if name.to, text, ok = leadingNumber(text[1:]); !ok || name.to < 0 {
			return name, false
		}
	}
	return name, end > 0 && text == ""
}

// leadingNumber cuts a decimal number off the front of text; -1 if there is
// none. It is not ok if the number has leading zeros or more than 10 digits.
func leadingNumber(text string) (number int, rest string, ok bool) {
	end := 0
	for end < len(text) && isDigit(text[end]) {
		number = number*10 + int(text[end]-'0')
		if end++; end > 10 {
			return 0, text, false
		}
	}
	if end == 0 {
		return -1, text, true
	}
	return number, text[end:], end == 1 || text[0] != '0'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
