package model

import (
	"encoding"
	"math"
	"reflect"
	"strings"
)

// DecodeJSON reads text, a JSON value, into the variable that v points to, as strictly as
// a plan file is read: unknown keys, keys given twice or in another case, wrong types and
// trailing data are errors. Variables are structs by their json tags, slices, pointers,
// strings, signed integers, uint64, booleans, and what unmarshals text.
//
// Errors are [*FileError] that call the text document. Cost O(len(text)).
func DecodeJSON(document, text string, v any) error {
	r := jsonReader{document: document, text: text}
	if err := r.decode(v); err != nil {
		return err
	}
	return r.end()
}

// decode reads the next value into the variable that v points to: structs by
// their json tags, slices, pointers (null is nil), strings, signed integers, uint64, booleans,
// and what unmarshals text.
// Unknown keys are errors.
func (r *jsonReader) decode(v any) error { return r.value(reflect.ValueOf(v).Elem()) }

func (r *jsonReader) value(v reflect.Value) error {
	switch to := v.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		return r.unmarshal(to)
	case *objectText:
		text, err := r.objectText()
		*to = text
		return err
	}
	switch v.Kind() {
	case reflect.Pointer:
		if r.word("null") {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return r.value(v.Elem())
	case reflect.Struct:
		return r.structure(v)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return r.array(func(i int) error {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			return r.value(v.Index(i))
		})
	case reflect.String:
		text, err := r.string()
		v.SetString(text)
		return err
	case reflect.Bool:
		yes := r.word("true")
		if v.SetBool(yes); !yes && !r.word("false") {
			return r.expected("true or false")
		}
		return nil
	case reflect.Uint64:
		n, err := r.natural()
		v.SetUint(n)
		return err
	default:
		return r.signed(v)
	}
}

// unmarshal reads a string into what takes text.
func (r *jsonReader) unmarshal(v encoding.TextUnmarshaler) error {
	r.next()
	at := r.pos
	text, err := r.string()
	if err != nil {
		return err
	}
	if err := v.UnmarshalText([]byte(text)); err != nil {
		file := r.fail(at, "%v", err).(*FileError)
		file.Err = err
		return file
	}
	return nil
}

func (r *jsonReader) signed(v reflect.Value) error {
	n, err := r.integer()
	if err != nil {
		return err
	}
	if v.OverflowInt(n) {
		return r.fail(r.pos, "%d is out of range: the largest is %d", n, int64(math.MaxInt64)>>(64-v.Type().Bits()))
	}
	v.SetInt(n)
	return nil
}

// jsonField is a field of a struct, embedded ones' included.
type jsonField struct {
	key   string
	index []int
}

// fieldsOf lists the fields of a struct, once for each type.
func (r *jsonReader) fieldsOf(t reflect.Type) []jsonField {
	fields, ok := r.fields[t]
	if ok {
		return fields
	}
	for _, f := range reflect.VisibleFields(t) {
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" {
			fields = append(fields, jsonField{key, f.Index})
		}
	}
	if r.fields == nil {
		r.fields = map[reflect.Type][]jsonField{}
	}
	r.fields[t] = fields
	return fields
}

func (r *jsonReader) structure(v reflect.Value) error {
	fields := r.fieldsOf(v.Type())
	return r.object(func(key string, at int) error {
		for _, f := range fields {
			if f.key == key {
				return r.value(v.FieldByIndex(f.index))
			}
		}
		return r.unknownKey(at, key, fields)
	})
}

func (r *jsonReader) unknownKey(at int, key string, fields []jsonField) error {
	var known []string
	for _, f := range fields {
		known = append(known, f.key)
	}
	r.path = r.path[:len(r.path)-1]
	return r.fail(at, "unknown key %.60q; the keys here are %s", key, strings.Join(known, ", "))
}
