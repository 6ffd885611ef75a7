package render

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// someValue returns a possible value of a field.
func someValue(f *record.Field) string {
	switch f.Shape {
	case record.ShapeString:
		if f.IMDb {
			return `"tt7"`
		}
		return `"x"`
	case record.ShapeInt, record.ShapeRaw:
		return "7"
	case record.ShapeFloat:
		return "7.5"
	case record.ShapeBool:
		return "true"
	case record.ShapeStrings:
		return `["x"]`
	case record.ShapeInts:
		return "[7]"
	case record.ShapeKeyed:
		return `{"US":{}}`
	case record.ShapeObject:
		return "{}"
	}
	return "[{}]"
}

// fieldsOf returns the field names of a response, without id and page, for which its fragment has marks.
func fieldsOf(tb testing.TB, pieces []release.PieceSpec) []string {
	tb.Helper()
	text := textOf(pieces)
	for _, mark := range []string{"<id>", "<id end>", "<page>"} {
		text = strings.ReplaceAll(text, mark, "")
	}
	text = "{" + strings.TrimPrefix(text, "{")
	if !strings.HasSuffix(text, "}") { // the end of the response comes with the id
		text += "}"
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	delete(fields, "page")
	return slices.Sorted(maps.Keys(fields))
}

// A subRequest is a sub-request in the table of operations that records have.
type subRequest struct {
	kind fragment.Kind
	sub  fragment.Sub
}

// subRequests returns the sub-requests that the table of operations serves alone or appended.
func subRequests() []subRequest {
	var out []subRequest
	add := func(k fragment.Kind, s fragment.Sub) {
		m := models()[k]
		if r := (subRequest{k, s}); m != nil && m.sub(s) != nil && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	for _, op := range api.Operations() {
		add(op.Kind, op.Sub)
	}
	for _, ns := range api.Namespaces() {
		for _, a := range api.AppendNames(ns) {
			add(a.Kind, a.Sub)
		}
	}
	return out
}

// TestPartialSubRequests: for every sub-request of every kind, a single known field gives a response with all fields.
func TestPartialSubRequests(t *testing.T) {
	cases, all := 0, subRequests()
	for k, m := range models() {
		for i := range m.subs {
			s := m.subs[i].Sub
			if !slices.ContainsFunc(all, func(r subRequest) bool { return r.kind == k && r.sub == s }) {
				t.Errorf("the table of operations lacks %s of kind %v", s, k)
			}
		}
	}
	for _, r := range all {
		s := models()[r.kind].sub(r.sub)
		all := Defaults(r.kind)
		at := slices.IndexFunc(all, func(f release.FragmentSpec) bool { return f.Address.Sub == r.sub })
		want := fieldsOf(t, all[at].Pieces)
		for i := range s.Field.Elem.Fields {
			f := &s.Field.Elem.Fields[i]
			if f.Name == "page" || f.Name == "language" || f.Name == "*" {
				continue // contains nothing about the list
			}
			cases++
			key := `"id":1`
			if catalog.TypeOf(r.kind).Kind == fragment.KindSeason || r.kind == fragment.KindEpisode {
				key = `"id":1,"series_id":2,"season_number":3,"episode_number":4`
			}
			row := fmt.Sprintf(`{%s,"%s":{"%s":%s}}`, key, s.Field.Name, f.Name, someValue(f))
			for _, got := range fragmentsOf(parseKind(t, r.kind, row), r.kind) {
				if got.Address.Sub != r.sub {
					continue
				}
				if fields := fieldsOf(t, got.Pieces); !slices.Equal(fields, want) {
					t.Errorf("%s: %s has fields %q, want %q", row, got.Address, fields, want)
				}
			}
		}
	}
	if cases < 100 {
		t.Errorf("%d fields were looked at, want those of all sub-requests", cases)
	}
}
