// Package record is the codec of records: it turns typed structs into JSON as the API writes it, and back. It is
// the one home of the JSON library (bytedance/sonic), which judges JSON inside of cells.
//
// A record is a Go struct whose fields are the leaf types String, Int, Float, Bool
// and Raw, pointers to structs, and slices. Three facts that encoding/json would
// lose survive: whether a member was absent, null or a value; members that the
// struct does not know (Object.Extra); and the fraction of a float (8.0, not 8).
// A Schema, made once from the struct's tags, drives parsing, appending and, in
// package catalog, the mapping to Parquet columns.
package record

// A String is a text member that may be unset.
type String struct {
	V   string
	Set bool
}

// An Int is an integer member that may be unset.
type Int struct {
	V   int64
	Set bool
}

// A Float is a number member that may be unset. It is written with a fraction.
type Float struct {
	V   float64
	Set bool
}

// A Bool is a boolean member that may be unset.
type Bool struct {
	V   bool
	Set bool
}

// A Raw is a member of any type, kept as its compact JSON text.
type Raw struct {
	V   string
	Set bool
}

// Text returns a set String.
func Text(s string) String { return String{V: s, Set: true} }

// Number returns a set Int.
func Number(n int64) Int { return Int{V: n, Set: true} }

// Object is embedded by every record struct. It holds what typed columns cannot.
type Object struct {
	// Unusual lists, separated by commas, the unset members whose state is not
	// the usual one: absent, for a member that the API keeps as null (tag option
	// "null"); null, for a member that it leaves out.
	Unusual string
	// Extra holds the members that the struct does not know, as JSON text without
	// the outer braces: `"a":1,"b":[]`.
	Extra string
}
