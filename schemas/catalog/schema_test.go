package catalog

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A documented is a section of SCHEMA.md: type, and what NULL is, by column.
type documented map[string][2]string

var (
	sectionLine = regexp.MustCompile(`^### (\S+)$`)
	columnLine  = regexp.MustCompile("^\\| `([^`]+)` \\| ([^|]+) \\| (`null`|left out|unknown) \\|")
	linkText    = regexp.MustCompile(`\[(\w+)\]\(#\w+\)`)
)

// readSchema returns the sections of SCHEMA.md by their headings.
func readSchema(t *testing.T) map[string]documented {
	t.Helper()
	b, err := os.ReadFile("SCHEMA.md")
	sharedtest.NoError(t, err)
	sections := map[string]documented{}
	var at documented
	for line := range strings.Lines(string(b)) {
		if m := sectionLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			if sections[m[1]] != nil {
				t.Errorf("SCHEMA.md has two sections %s", m[1])
			}
			at = documented{}
			sections[m[1]] = at
		} else if m := columnLine.FindStringSubmatch(line); m != nil {
			at[m[1]] = [2]string{linkText.ReplaceAllString(m[2], "$1"), m[3]}
		}
	}
	return sections
}

// parquetTypes says what the types of SCHEMA.md are in Parquet.
var parquetTypes = map[string]string{
	"string": "STRING", "json": "STRING", "int64": "INT(64,true)", "double": "DOUBLE", "boolean": "BOOLEAN",
}

// leavesOf returns the leaf columns that SCHEMA.md says a struct has, with their types, and checks what it says
// of NULL.
func leavesOf(t *testing.T, sections map[string]documented, section, path string, p *record.Schema, out map[string]string) {
	t.Helper()
	s, ok := sections[section]
	if !ok {
		t.Fatalf("SCHEMA.md has no section %s, for %s", section, path)
	}
	below := map[string]*record.Schema{}
	for i := range p.Fields {
		f := &p.Fields[i]
		below[f.Column] = f.Elem
		null := "left out"
		if f.Own || i == p.Key {
			null = "unknown" // it is no field of a response
		} else if f.Nullable {
			null = "`null`"
		}
		if row, ok := s[f.Column]; ok && row[1] != null {
			t.Errorf("SCHEMA.md: section %s: NULL of %s is %s, want %s", section, f.Column, row[1], null)
		}
	}
	for column, row := range s {
		at, typ := path+column, row[0]
		if elem, ok := strings.CutPrefix(typ, "list of "); ok {
			at, typ = at+".list.element", elem
		}
		if leaf, ok := parquetTypes[typ]; ok {
			out[at] = leaf
		} else if below[column] == nil {
			t.Errorf("SCHEMA.md: section %s: %s is %s, and no struct", section, column, typ)
		} else {
			leavesOf(t, sections, typ, at+".", below[column], out)
		}
	}
	out[path+record.UnusualColumn], out[path+record.ExtraColumn] = "STRING", "STRING"
}

// sampleRecords returns the embedded sample's rows of a kind, sorted by their keys.
func sampleRecords(t *testing.T, typ *Type) []record.Record {
	t.Helper()
	names := map[fragment.Kind]string{fragment.KindMovie: "movies", fragment.KindTV: "tv", fragment.KindPerson: "people", fragment.KindCompany: "companies"}
	name, ok := names[typ.Kind]
	if !ok {
		name = typ.Name() + "s"
	}
	b, err := fs.ReadFile(sample.FS(), name+".ndjson")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the sample has none
	}
	sharedtest.NoError(t, err)
	list := parsed(t, typ, strings.Split(strings.TrimSpace(string(b)), "\n")...)
	slices.SortStableFunc(list, func(a, b record.Record) int { return keyOf(t, typ, a).Compare(keyOf(t, typ, b)) })
	return list
}

func keyOf(t *testing.T, typ *Type, r record.Record) Key {
	t.Helper()
	k, err := typ.Key(r)
	sharedtest.NoError(t, err)
	return k
}

// writeRecords writes a catalogue file and opens it as any file.
func writeRecords(t *testing.T, typ *Type, records []record.Record) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), typ.File())
	sharedtest.NoError(t, create(t, path, typ, records...).Commit())
	f, err := os.Open(path)
	sharedtest.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestDocumentedSchema: the files have the columns and types that SCHEMA.md lists, and
// no others.
func TestDocumentedSchema(t *testing.T) {
	sections := readSchema(t)
	for _, typ := range Types() {
		f := writeRecords(t, typ, nil)
		info, err := f.Stat()
		sharedtest.NoError(t, err)
		pq, err := parquet.OpenFile(f, info.Size())
		sharedtest.NoError(t, err)
		got, want := map[string]string{}, map[string]string{}
		for _, path := range pq.Schema().Columns() {
			leaf, _ := pq.Schema().Lookup(path...)
			got[strings.Join(path, ".")] = leaf.Node.Type().String()
			if element := path[len(path)-1] == "element"; leaf.Node.Optional() == element {
				t.Errorf("%s: %v: optional %v: want all columns but the elements of lists to be", typ.File(), path, leaf.Node.Optional())
			}
		}
		leavesOf(t, sections, typ.File(), "", typ.Schema, want)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-documented in SCHEMA.md +in the file):\n%s", typ.File(), d)
		}
	}
}

// TestGenericReader reads the sample's files as a program would that knows nothing of
// this project.
func TestGenericReader(t *testing.T) {
	if testing.Short() {
		t.Skip("reads in one goroutine, and not with our code")
	}
	for _, typ := range Types() {
		t.Run(typ.Name(), func(t *testing.T) {
			records := sampleRecords(t, typ)
			r := parquet.NewGenericReader[any](writeRecords(t, typ, records))
			defer r.Close()
			if n := r.NumRows(); n != int64(len(records)) {
				t.Fatalf("%d rows, want %d", n, len(records))
			}
			for i, want := range records {
				row := make([]any, 1)
				if n, err := r.Read(row); n != 1 {
					t.Fatalf("row %d: %v", i, err)
				}
				if d := cmp.Diff(plain(want), row[0]); d != "" {
					t.Fatalf("row %d (-written +read):\n%s", i, d)
				}
			}
			if n, err := r.Read(make([]any, 1)); n != 0 || !errors.Is(err, io.EOF) {
				t.Errorf("behind the last row: %d, %v, want EOF", n, err)
			}
		})
	}
}

// plain returns a record as SCHEMA.md says that its row is: nil for what is unset.
func plain(r record.Record) map[string]any {
	obj := r.Object()
	m := map[string]any{record.UnusualColumn: textOrNil(obj.Unusual, obj.Unusual != ""), record.ExtraColumn: textOrNil(obj.Extra, obj.Extra != "")}
	for i := range r.Schema.Fields {
		f := &r.Schema.Fields[i]
		m[f.Column] = plainField(r, f)
	}
	return m
}

func textOrNil(s string, set bool) any {
	if !set {
		return nil
	}
	return s
}

func plainField(r record.Record, f *record.Field) any {
	switch f.Shape {
	case record.ShapeString, record.ShapeRaw:
		return textOrNil(r.String(f).V, r.String(f).Set)
	case record.ShapeInt:
		if v := r.Int(f); v.Set {
			return v.V
		}
	case record.ShapeFloat:
		if v := r.Float(f); v.Set {
			return v.V
		}
	case record.ShapeBool:
		if v := r.Bool(f); v.Set {
			return v.V
		}
	case record.ShapeObject:
		if sub, ok := r.Sub(f); ok {
			return plain(sub)
		}
	case record.ShapeStrings:
		return plainList(len(*r.Strings(f)), *r.Strings(f) != nil, func(i int) any { return (*r.Strings(f))[i] })
	case record.ShapeInts:
		return plainList(len(*r.Ints(f)), *r.Ints(f) != nil, func(i int) any { return (*r.Ints(f))[i] })
	default:
		n, set := r.Len(f)
		return plainList(n, set, func(i int) any { return plain(r.At(f, i)) })
	}
	return nil
}

func plainList(n int, set bool, at func(int) any) any {
	if !set {
		return nil
	}
	list := make([]any, n)
	for i := range list {
		list[i] = at(i)
	}
	return list
}
