package record

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Shape is the relation between a field's Go type and JSON type.
type Shape uint8

// The shapes of fields.
const (
	ShapeString  Shape = iota + 1 // String, a JSON string
	ShapeInt                      // Int, a JSON number without a fraction
	ShapeFloat                    // Float, a JSON number
	ShapeBool                     // Bool
	ShapeRaw                      // Raw, any JSON value
	ShapeObject                   // *T, a JSON object
	ShapeObjects                  // []T, a JSON array of objects
	ShapeStrings                  // []string, a JSON array of strings
	ShapeInts                     // []int64, a JSON array of integers
	ShapeKeyed                    // []T, a JSON object whose field names fill T's key field
	ShapePages                    // []T, one JSON object, or an array of them
)

// A Field is one field of a record struct.
type Field struct {
	Name     string // JSON field name; "*" holds fields without a name of their own
	Column   string // name in Parquet
	Shape    Shape
	Nullable bool    // unset means null rather than absent
	Dict     bool    // few distinct values: dictionary-encode the column
	Own      bool    // our own: stored in the catalogue, absent from responses
	Details  bool    // in details responses of all years
	Day      bool    // a ShapeString with a day, 1999-10-15, or ""
	Image    bool    // a ShapeString with the path of an image
	IMDb     bool    // a ShapeString with an id of IMDb, tt0137523, or ""
	Language bool    // a ShapeString with the code of a language, en, or ""
	Score    bool    // a ShapeFloat from 0 to 10
	ID       bool    // a ShapePages whose standalone response has the id before the page
	Elem     *Schema // for ShapeObject, ShapeObjects, ShapeKeyed and ShapePages
	typ      reflect.Type
	offset   uintptr
	prefix   []byte // `"name":`
}

// A Schema is the layout of one record struct.
type Schema struct {
	Type   reflect.Type
	Fields []Field // in wire order
	// DropID is set for sub-requests: the id of a standalone response is dropped, because the resource has it.
	DropID bool
	// IDAt is, with DropID, the field after the id in the standalone response: len(Fields) if the id is last, -1 without an id.
	IDAt int
	// Subs is the index of the first field that is a sub-request (DropID) or our own; the details come before it. It
	// is len(Fields) without either.
	Subs int
	// Key is the field with the element's field name in a ShapeKeyed list, else -1. The element's own JSON lacks it.
	Key    int
	byName map[string]int
	// byColumn has every field, including fields without a JSON name.
	byColumn map[string]int
	rest     int    // the "*" field, else -1
	nullable uint64 // bits of the Nullable fields
	object   uintptr
}

var schemas sync.Map // reflect.Type -> *Schema

// SchemaOf returns the schema of struct type T. It panics if T's tags are wrong, which is a bug.
func SchemaOf[T any]() *Schema { return schemaOf(reflect.TypeFor[T]()) }

func schemaOf(t reflect.Type) *Schema {
	if s, ok := schemas.Load(t); ok {
		return s.(*Schema)
	}
	s := &Schema{Type: t, Key: -1, rest: -1, byName: map[string]int{}, byColumn: map[string]int{}}
	obj, ok := t.FieldByName("Object")
	if !ok || obj.Type != reflect.TypeFor[Object]() {
		panic(fmt.Sprintf("record: %v does not embed record.Object", t))
	}
	s.object = obj.Offset
	drop, idAt, _ := strings.Cut(obj.Tag.Get("record"), ",id=")
	s.DropID = drop == "drop-id"
	s.addFields(t, 0)
	s.IDAt = parseIDAt(t, idAt, len(s.Fields))
	s.Subs = slices.IndexFunc(s.Fields, func(f Field) bool { return f.Own || f.IsSub() })
	if s.Subs < 0 {
		s.Subs = len(s.Fields)
	}
	if len(s.Fields) > 64 {
		panic(fmt.Sprintf("record: %v has more than 64 fields", t))
	}
	for i := range s.Fields {
		if s.Fields[i].Nullable {
			s.nullable |= 1 << i
		}
	}
	actual, _ := schemas.LoadOrStore(t, s)
	return actual.(*Schema)
}

// addFields adds the fields of a struct at an offset of the record, including fields of embedded structs.
func (s *Schema) addFields(t reflect.Type, offset uintptr) {
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("record")
		switch {
		case sf.Name == "Object" || tag == "-":
		case sf.Anonymous:
			s.addFields(sf.Type, offset+sf.Offset)
		default:
			sf.Offset += offset
			f, isKey := newField(t, sf, tag)
			index := len(s.Fields)
			s.Fields = append(s.Fields, f)
			s.byColumn[f.Column] = index
			switch {
			case isKey:
				s.Key = index
			case f.Name == "*":
				s.rest = index
			default:
				s.byName[f.Name] = index
			}
		}
	}
}

// parseIDAt reads the tag option id of a sub-request with n fields.
func parseIDAt(t reflect.Type, option string, n int) int {
	switch option {
	case "":
		return 0
	case "none":
		return -1
	case "end":
		return n
	}
	i, err := strconv.Atoi(option)
	if err != nil || i < 0 || i > n {
		panic(fmt.Sprintf("record: %v: id=%s: want none, end or a place among %d fields", t, option, n))
	}
	return i
}

// IsSub reports whether the field is a sub-request.
func (f *Field) IsSub() bool { return f.Elem != nil && f.Elem.DropID }

// Field returns the field with that JSON name.
func (s *Schema) Field(name string) (*Field, bool) {
	i, ok := s.byName[name]
	if !ok {
		return nil, false
	}
	return &s.Fields[i], true
}

func newField(t reflect.Type, sf reflect.StructField, tag string) (f Field, isKey bool) {
	name, options, _ := strings.Cut(tag, ",")
	if name == "" {
		panic(fmt.Sprintf("record: %v.%s has no record tag", t, sf.Name))
	}
	f = Field{Name: name, Column: sf.Tag.Get("column"), typ: sf.Type, offset: sf.Offset}
	if f.Column == "" {
		f.Column = name
	}
	f.prefix = append(AppendString(nil, name), ':')
	f.Shape = shapeOf(sf.Type)
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "":
		case "null":
			f.Nullable = true
		case "dict":
			f.Dict = true
		case "key":
			isKey = true
		case "own":
			f.Own = true
		case "details":
			f.Details = true
		case "day":
			f.Day = true
		case "id":
			f.ID = true
		case "keyed":
			f.Shape = ShapeKeyed
		case "pages":
			f.Shape = ShapePages
		default:
			panic(fmt.Sprintf("record: %v.%s: unknown option %q", t, sf.Name, option))
		}
	}
	f.Image = f.Shape == ShapeString && strings.HasSuffix(name, "_path")
	f.IMDb = f.Shape == ShapeString && name == "imdb_id"
	f.Language = f.Shape == ShapeString && name == "original_language"
	f.Score = f.Shape == ShapeFloat && name == "vote_average"
	switch f.Shape {
	case ShapeObject, ShapeObjects, ShapeKeyed, ShapePages:
		f.Elem = schemaOf(sf.Type.Elem())
	case 0:
		panic(fmt.Sprintf("record: %v.%s: type %v has no JSON form here", t, sf.Name, sf.Type))
	}
	return f, isKey
}

func shapeOf(t reflect.Type) Shape {
	switch t {
	case reflect.TypeFor[String]():
		return ShapeString
	case reflect.TypeFor[Int]():
		return ShapeInt
	case reflect.TypeFor[Float]():
		return ShapeFloat
	case reflect.TypeFor[Bool]():
		return ShapeBool
	case reflect.TypeFor[Raw]():
		return ShapeRaw
	case reflect.TypeFor[[]string]():
		return ShapeStrings
	case reflect.TypeFor[[]int64]():
		return ShapeInts
	}
	switch {
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		return ShapeObject
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return ShapeObjects
	}
	return 0
}
