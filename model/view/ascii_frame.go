package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/flexpipe/flexpipe/model"
)

// axisLine returns the times from 0 to end above a number of columns. The first digit
// of a number stands in the column of its time.
func axisLine(unit model.Unit, end model.Time, columns int) string {
	longest := len(unit.Format(int64(end)))
	line := make([]byte, 0, columns)
	for _, m := range marks(unit, end, columns/max(longest+2, 10)) {
		at := m.position(end, columns)
		if at+len(m.label) > columns {
			break
		}
		line = append(line, strings.Repeat(" ", at-len(line))...)
		line = append(line, m.label...)
	}
	return string(line)
}

// wrap writes parts with separators in lines of a width, each with the indent.
func wrap(w io.Writer, width int, indent string, parts []string, separator string) {
	line := indent
	for i, part := range parts {
		if i < len(parts)-1 {
			part += separator
		}
		switch {
		case line == indent:
		case textColumns(line)+1+textColumns(part) > width:
			fmt.Fprintln(w, line)
			line = indent
		default:
			line += " "
		}
		line += part
	}
	fmt.Fprintln(w, line)
}

// kindLegend explains letters of kinds.
func (tr *track) kindLegend() []string {
	var parts []string
	for _, k := range tr.kinds() {
		if !k.IsTransfer() {
			parts = append(parts, tr.p.Kinds[k].Letter+" "+tr.kindName(k))
		}
	}
	return parts
}

// ruler says how long a number of columns is.
func (tr *track) ruler(columns int, t model.Time) string {
	return model.Plural(columns, "column") + " = " + tr.p.FormatTime(t)
}
