package record

import (
	"bytes"
	"reflect"
	"unsafe"
)

// Present reports whether r has the field, as a value or an explicit null.
func Present(r Record, f *Field) bool { return r.isSet(f) || IsNull(r, f.Name) }

// Same reports whether one field has the same JSON value in a and b.
func Same(a, b Record, f *Field) bool { return FieldText(a, f) == FieldText(b, f) }

// Equal reports whether two records of one schema have the same binary form.
func Equal(a, b Record) bool { return bytes.Equal(AppendBinary(nil, a), AppendBinary(nil, b)) }

// FieldText returns the JSON text of one field's value; "null" if it is unset.
func FieldText(r Record, f *Field) string {
	if !r.isSet(f) {
		return "null"
	}
	return string(appendValue(nil, r, f))
}

// Copy copies one field, including a null, from src to dst, which may be another struct type with that field. Lists
// and objects are shared afterwards.
func Copy(dst, src Record, f *Field) {
	target := f
	if dst.Schema != src.Schema {
		target = &dst.Schema.Fields[dst.Schema.byName[f.Name]]
	}
	if !src.isSet(f) {
		valueOf(dst, target).SetZero()
		if IsNull(src, f.Name) != IsNull(dst, f.Name) {
			toggle(dst, f.Name)
		}
		return
	}
	valueOf(dst, target).Set(valueOf(src, f))
	if listed(dst.Object().Unusual, f.Name) {
		toggle(dst, f.Name)
	}
}

// Unset makes one field of r absent.
func Unset(r Record, f *Field) {
	valueOf(r, f).SetZero()
	MarkAbsent(r, f.Name)
}

// Retain removes the elements of a list of structs for which keep returns false.
func Retain(r Record, f *Field, keep func(Record) bool) {
	list, n := valueOf(r, f), 0
	for i := range list.Len() {
		if !keep(r.At(f, i)) {
			continue
		}
		if n < i {
			list.Index(n).Set(list.Index(i))
		}
		n++
	}
	list.Slice(n, list.Len()).Clear() // Grow requires it
	list.SetLen(n)
}

// valueOf returns the Go value of a field of r.
func valueOf(r Record, f *Field) reflect.Value {
	return reflect.NewAt(f.typ, unsafe.Add(r.ptr, f.offset)).Elem()
}

// toggle adds a name to the list of unusual fields, or removes it. The list stays in field order, so equal records
// have equal lists.
func toggle(r Record, name string) {
	o := r.Object()
	var list []byte
	for i := range r.Schema.Fields {
		n := r.Schema.Fields[i].Name
		if listed(o.Unusual, n) == (n == name) {
			continue
		}
		if len(list) > 0 {
			list = append(list, ',')
		}
		list = append(list, n...)
	}
	o.Unusual = string(list)
}

// HasField reports whether a list of unknown fields has that name.
func HasField(extra, name string) bool {
	fields, err := Fields("{" + extra + "}")
	return err == nil && fields.Has(name)
}

// UniteExtra joins two lists of unknown fields. The first wins if both have a name.
func UniteExtra(first, second string) string {
	known, err := Fields("{" + first + "}")
	if err != nil {
		return first
	}
	out := append([]byte{'{'}, first...)
	_ = EachField("{"+second+"}", func(name, raw string) error { // stops at damage
		if !known.Has(name) {
			out = AppendField(out, name, raw)
		}
		return nil
	})
	return string(out[1:])
}
