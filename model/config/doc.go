// Package config reads FlexPipe configurations: YAML (hence also JSON) that says
// which stages run on which devices, how many micro-batches flow through them, and
// what each operation costs in time and memory.
//
// [Decode] and [Load] are strict. Unknown keys, duplicate keys, wrong types,
// anchors, aliases, explicit tags, further documents and text that is not UTF-8 are
// refused, and so is everything that breaks a rule of the configuration itself, such
// as an edge that closes a cycle. Every refusal is an [Error] that names the file,
// the line, the column, the key, what is wrong and how to mend it.
//
// What comes out is a [Config]: plain data with every default filled in and every
// per-stage value written out, one entry per stage. Numbers stay exact: a [Decimal]
// is the value that the text wrote, and 0.1 + 0.1 + 0.1 equals 0.3.
//
// In a configuration `none` and null are the same: the value is absent.
package config
