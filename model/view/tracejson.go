package view

import (
	"bufio"
	"encoding/json"
	"strconv"
)

// tracer writes the frame of a trace and its events, one on a line.
type tracer struct {
	w     *bufio.Writer
	buf   []byte // the event that is being written
	begun bool   // an event has been written
	ids   int    // of processes and threads, given out so far
	lost  []int  // by lane: arrows left out
	pairs uint64 // of operations, in the lanes so far
	err   error  // the first of w
}

// note is a line of the metadata.
type note struct{ name, text string }

func (t *tracer) begin() { t.w.WriteString(`{"traceEvents":[`) }

func (t *tracer) end(notes []note) {
	t.buf = append(t.buf[:0], "\n],\"displayTimeUnit\":\"ms\",\"otherData\":{"...)
	for i, n := range notes {
		if i > 0 {
			t.buf = append(t.buf, ',')
		}
		t.buf = append(t.buf, '\n')
		t.buf = appendQuoted(t.buf, n.name)
		t.buf = append(t.buf, ':')
		t.buf = appendQuoted(t.buf, n.text)
	}
	t.buf = append(t.buf, "}}\n"...)
	t.w.Write(t.buf) // the writer keeps its error for Flush
}

// id returns a number that no process and no thread has yet. Perfetto takes 0 for the
// idle task, a thread whose number is that of its process for the main thread, and
// threads of one number in two processes for the same thread if it can.
func (t *tracer) id() int {
	t.ids++
	return t.ids
}

// open starts an event of a phase.
func (t *tracer) open(phase string, pid int) {
	t.buf = append(t.buf[:0], `{"ph":"`...)
	t.buf = append(t.buf, phase...)
	t.buf = append(t.buf, `","pid":`...)
	t.buf = strconv.AppendInt(t.buf, int64(pid), 10)
}

// number adds a key with a whole number.
func (t *tracer) number(key string, n int64) {
	t.key(key)
	t.buf = strconv.AppendInt(t.buf, n, 10)
}

// micros adds a key with a time in microseconds.
func (t *tracer) micros(key string, nanoseconds int64) {
	t.key(key)
	t.buf = appendMicros(t.buf, nanoseconds)
}

// stamp adds a key with a time of an event, in microseconds. Perfetto reads it as a
// floating-point number, multiplies by 1000 and cuts off what is behind the point. Where
// that would lose a nanosecond, events that meet would overlap, and Perfetto leaves out
// those that overlap; so a fourth decimal keeps the product above the whole number.
func (t *tracer) stamp(key string, nanoseconds int64) {
	t.micros(key, nanoseconds)
	if int64(float64(nanoseconds)/1000*1000) < nanoseconds {
		t.buf = append(t.buf, '1')
	}
}

// text adds a key with a text.
func (t *tracer) text(key, text string) {
	t.key(key)
	t.buf = appendQuoted(t.buf, text)
}

// key adds a key, which needs no escapes.
func (t *tracer) key(key string) {
	if last := t.buf[len(t.buf)-1]; last != '{' {
		t.buf = append(t.buf, ',')
	}
	t.buf = append(t.buf, '"')
	t.buf = append(t.buf, key...)
	t.buf = append(t.buf, `":`...)
}

// args opens the arguments, which close adds to an event.
func (t *tracer) args() { t.buf = append(t.buf, `,"args":{`...) }

// close ends an event, with the given brackets.
func (t *tracer) close(brackets string) {
	t.buf = append(t.buf, brackets...)
	if t.begun {
		t.w.WriteByte(',')
	}
	t.begun = true
	t.w.WriteByte('\n')
	if _, err := t.w.Write(t.buf); err != nil && t.err == nil {
		t.err = err
	}
}

// appendMicros appends nanoseconds as microseconds with three decimals.
func appendMicros(dst []byte, ns int64) []byte {
	if ns < 0 {
		dst, ns = append(dst, '-'), -ns
	}
	dst = strconv.AppendInt(dst, ns/1000, 10)
	rest := ns % 1000
	return append(dst, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
}

// appendQuoted appends a text as a JSON string.
func appendQuoted[T string | []byte](dst []byte, text T) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(string(text)) // a string has no error
			return append(dst, quoted...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}
