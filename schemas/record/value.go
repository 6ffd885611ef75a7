// Package record is the codec of records: it turns typed structs into JSON as the API writes it, and back. It is
// the one home of the JSON library (bytedance/sonic), which judges JSON inside of cells.
//
// A record is a Go struct whose fields are the leaf types String, Int, Float, Bool
// and Raw, pointers to structs, and slices. Three facts that encoding/json would
// lose survive: whether a field was absent, null or a value; fields that the
// struct lacks (Object.Extra); and the fraction of a float (8.0, not 8).
// A Schema, made once from the struct's tags, drives parsing, appending and, in
// package catalog, the mapping to Parquet columns.
package record

// A Leaf is a field with a single value, which may be unset.
type Leaf[T any] struct {
	V   T
	Set bool
}

// String is a leaf with a text.
type String = Leaf[string]

// Int is a leaf with a whole number.
type Int = Leaf[int64]

// Float is a leaf with a number that is written with a fraction.
type Float = Leaf[float64]

// Bool is a leaf with a truth value.
type Bool = Leaf[bool]

// Raw is a leaf with the compact text of any JSON value.
type Raw Leaf[string]

// Text returns a set String.
func Text(s string) String { return String{V: s, Set: true} }

// Number returns a set Int.
func Number(n int64) Int { return Int{V: n, Set: true} }

// Object is embedded by every record struct. It holds what typed columns cannot.
type Object struct {
	// Unusual lists, separated by commas, the unset fields whose state is not
	// the usual one: absent, for a field that the API keeps as null (tag option
	// "null"); null, for a field that it leaves out.
	Unusual string
	// Extra holds the fields that the struct lacks, as JSON text without
	// the outer braces: `"a":1,"b":[]`.
	Extra string
}
