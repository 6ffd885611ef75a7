package record

import (
	"bytes"
	"iter"
	"reflect"
	"strings"
	"unsafe"
)

// This file contains the package's unsafe code. It accesses fields by offset, because reflect.Value.Field costs more
// than the work on the field. The pointers never outlive their record.

// bytesOf returns the bytes of a text. They must not be modified.
func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }

// stringOf returns b as a text. b must not be modified afterwards.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// A Record is a pointer to a struct with its schema.
type Record struct {
	Schema *Schema
	ptr    unsafe.Pointer
}

// Of returns v as a Record.
func Of[T any](v *T) Record { return Record{SchemaOf[T](), unsafe.Pointer(v)} }

// As returns the struct that r points to. It panics if that is not a T, which is a bug.
func As[T any](r Record) *T {
	if r.Schema.Type != reflect.TypeFor[T]() {
		panic("record: record of " + r.Schema.Type.String() + " is not " + reflect.TypeFor[T]().String())
	}
	return (*T)(r.ptr)
}

// Reset clears the record.
func (r Record) Reset() { reflect.NewAt(r.Schema.Type, r.ptr).Elem().SetZero() }

// Clone returns a shallow copy of the record: lists and objects are shared.
func (r Record) Clone() Record {
	v := reflect.New(r.Schema.Type)
	v.Elem().Set(reflect.NewAt(r.Schema.Type, r.ptr).Elem())
	return Record{r.Schema, v.UnsafePointer()}
}

// IsNil reports whether r was made from a nil pointer.
func (r Record) IsNil() bool { return r.ptr == nil }

// Object returns the embedded Object.
func (r Record) Object() *Object { return (*Object)(unsafe.Add(r.ptr, r.Schema.object)) }

// String returns the field, which must be of ShapeString, or of ShapeRaw: the JSON text.
func (r Record) String(f *Field) *String { return (*String)(unsafe.Add(r.ptr, f.offset)) }

// Int returns the field, which must be of ShapeInt.
func (r Record) Int(f *Field) *Int { return (*Int)(unsafe.Add(r.ptr, f.offset)) }

// StringNamed returns the field of that name, or an unset one if the record has no such text.
func (r Record) StringNamed(name string) *String {
	if f, ok := r.Schema.Field(name); ok && f.Shape == ShapeString {
		return r.String(f)
	}
	return new(String)
}

// IntNamed returns the field of that name, or an unset one if the record has no such integer.
func (r Record) IntNamed(name string) *Int {
	if f, ok := r.Schema.Field(name); ok && f.Shape == ShapeInt {
		return r.Int(f)
	}
	return new(Int)
}

// Float returns the field, which must be of ShapeFloat.
func (r Record) Float(f *Field) *Float { return (*Float)(unsafe.Add(r.ptr, f.offset)) }

// Bool returns the field, which must be of ShapeBool.
func (r Record) Bool(f *Field) *Bool { return (*Bool)(unsafe.Add(r.ptr, f.offset)) }

// Strings returns the field, which must be of ShapeStrings.
func (r Record) Strings(f *Field) *[]string { return (*[]string)(unsafe.Add(r.ptr, f.offset)) }

// Ints returns the field, which must be of ShapeInts.
func (r Record) Ints(f *Field) *[]int64 { return (*[]int64)(unsafe.Add(r.ptr, f.offset)) }

// Sub returns the object of a ShapeObject field, and whether it is set.
func (r Record) Sub(f *Field) (Record, bool) {
	p := *(*unsafe.Pointer)(unsafe.Add(r.ptr, f.offset))
	return Record{f.Elem, p}, p != nil
}

// MakeSub sets a ShapeObject field to a new object and returns it.
func (r Record) MakeSub(f *Field) Record {
	v := reflect.New(f.typ.Elem())
	valueOf(r, f).Set(v)
	return Record{f.Elem, v.UnsafePointer()}
}

// CloneSub replaces the object of a field with a shallow copy, and returns the copy.
func (r Record) CloneSub(f *Field) Record {
	sub, _ := r.Sub(f)
	clone := sub.Clone()
	*(*unsafe.Pointer)(unsafe.Add(r.ptr, f.offset)) = clone.ptr
	return clone
}

// CloneList replaces a list of structs with a shallow copy.
func (r Record) CloneList(f *Field) {
	list := valueOf(r, f)
	list.Set(reflect.AppendSlice(reflect.MakeSlice(f.typ, 0, list.Len()), list))
}

// sliceHeader is the runtime layout of every slice.
type sliceHeader struct {
	data unsafe.Pointer
	len  int
	cap  int
}

// Len returns the length of a list of structs, and whether it is set.
func (r Record) Len(f *Field) (n int, set bool) {
	h := (*sliceHeader)(unsafe.Add(r.ptr, f.offset))
	return h.len, h.data != nil
}

// At returns element i of a list of structs; i must be below Len.
func (r Record) At(f *Field, i int) Record {
	h := (*sliceHeader)(unsafe.Add(r.ptr, f.offset))
	return Record{f.Elem, unsafe.Add(h.data, uintptr(i)*f.Elem.Type.Size())}
}

// MakeList sets a list to an empty one with capacity for n elements.
func (r Record) MakeList(f *Field, n int) {
	if n == 0 { // Fast path: an empty list is the same for all types.
		*(*[]struct{})(unsafe.Add(r.ptr, f.offset)) = []struct{}{}
		return
	}
	valueOf(r, f).Set(reflect.MakeSlice(f.typ, 0, n))
}

// Grow appends a zero element to a list of structs and returns it. The elements between length and capacity are zero.
func (r Record) Grow(f *Field) Record {
	h := (*sliceHeader)(unsafe.Add(r.ptr, f.offset))
	if h.len == h.cap {
		valueOf(r, f).Grow(h.len + 4)
	}
	h.len++
	return r.At(f, h.len-1)
}

// Each yields the structs at the end of a path of fields, such as "credits.cast", in order. It descends into objects,
// lists and pages, and yields nothing for a nil Record or an unknown field.
func (r Record) Each(path string) iter.Seq[Record] {
	return func(yield func(Record) bool) { r.each(path, yield) }
}

func (r Record) each(path string, yield func(Record) bool) bool {
	if r.IsNil() {
		return true
	}
	if path == "" {
		return yield(r)
	}
	name, rest, _ := strings.Cut(path, ".")
	f, ok := r.Schema.Field(name)
	if !ok || f.Elem == nil {
		return true
	}
	if f.Shape == ShapeObject {
		sub, _ := r.Sub(f)
		return sub.each(rest, yield)
	}
	n, _ := r.Len(f)
	for i := range n {
		if !r.At(f, i).each(rest, yield) {
			return false
		}
	}
	return true
}

// isSet reports whether the field holds a value.
func (r Record) isSet(f *Field) bool {
	switch f.Shape {
	case ShapeString, ShapeRaw:
		return r.String(f).Set
	case ShapeInt:
		return r.Int(f).Set
	case ShapeFloat:
		return r.Float(f).Set
	case ShapeBool:
		return r.Bool(f).Set
	default: // a nil pointer or the nil data pointer of a slice
		return *(*unsafe.Pointer)(unsafe.Add(r.ptr, f.offset)) != nil
	}
}

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
