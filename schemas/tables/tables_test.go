package tables

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

var typeNames = [...]string{
	Uint64s: "Uint64s", Float64s: "Float64s", Range: "Range", NumberOrder: "NumberOrder", TextOrder: "TextOrder",
	Trend: "Trend", Lists: "Lists", Dated: "Dated", Names: "Names",
}

// String returns the name of the type's constant.
func (t Type) String() string { return typeNames[t] }

// TestRegistry: what a row of the registry needs, and what tables rely on.
func TestRegistry(t *testing.T) {
	sections := map[string]ColumnID{}
	sortNames := map[string]ColumnID{}
	for id := range ColumnCount {
		c := id.Column()
		if c.Name == "" || c.Type == 0 || len(c.Kinds) == 0 || c.Doc == "" {
			t.Errorf("column %d, %q: add its name, type, kinds and doc to columns in tables.go", id, c.Name)
			continue
		}
		for _, s := range c.Sections() {
			if other, taken := sections[s]; taken {
				t.Errorf("columns %s and %s both have the section %s", other, id, s)
			}
			sections[s] = id
		}
		for _, s := range c.SortBy {
			for _, k := range s.Kinds {
				key := k.String() + " " + s.Name
				if other, taken := sortNames[key]; taken || !slices.Contains(c.Kinds, k) {
					t.Errorf("sort_by=%s of %s: %s and %s, which has the kinds %v", s.Name, k, id, other, c.Kinds)
				}
				sortNames[key] = id
				if got, ok := SortedBy(k, s.Name); got != id || !ok {
					t.Errorf("SortedBy(%s, %s) = %s, %t, want %s", k, s.Name, got, ok, id)
				}
			}
			if c.ID != Popularity && c.Type != Range && c.Type != NumberOrder && c.Type != TextOrder {
				t.Errorf("column %s sorts and is %s, which has no order that ascends", id, c.Type)
			}
		}
		if (c.Dates || c.Digits > 0) && c.Type != Range || c.Field != "" && c.Type != Range && c.Type != NumberOrder {
			t.Errorf("column %s is %s: Dates and Digits are for Range, Field is for Range and NumberOrder", id, c.Type)
		}
	}
	for _, name := range []string{"POPULARITY", "", "date"} {
		if got, ok := SortedBy(fragment.KindMovie, name); ok {
			t.Errorf("sort_by=%s is %s", name, got)
		}
	}
}

// TestVersion: releases lack a column that is new, so their version says which they have.
func TestVersion(t *testing.T) {
	if got, want := [2]int{int(ColumnCount), release.FeatureVersion}, [2]int{32, 9}; got != want {
		t.Errorf("%d columns in version %d, want %d in %d: raise release.FeatureVersion, then set both", got[0], got[1], want[0], want[1])
	}
}

// TestDocument compares the table of columns in TABLES.md with the registry.
func TestDocument(t *testing.T) {
	const file, begin, end = "TABLES.md", "| column |", "\n\n"
	text, err := os.ReadFile(file)
	sharedtest.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no table that begins with %q", file, begin)
	}
	want := before + documented() + after
	if *sharedtest.Update {
		sharedtest.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	if string(text) != want {
		t.Errorf("%s is not the registry: run go test ./schemas/tables -update", file)
	}
}

func documented() string {
	var b strings.Builder
	b.WriteString("| column | type | kinds | holds | field | sort_by |\n| --- | --- | --- | --- | --- | --- |\n")
	for id := range ColumnCount {
		c := id.Column()
		field, sorts := c.Field, map[string]bool{}
		if c.Digits > 0 {
			field += fmt.Sprintf(" x 10^%d", c.Digits)
		}
		var names []string
		for _, s := range c.SortBy {
			if !sorts[s.Name] {
				names = append(names, "`"+s.Name+"`")
			}
			sorts[s.Name] = true
		}
		kinds := fmt.Sprintf("%v", c.Kinds)
		if len(c.Kinds) == len(Kinds) {
			kinds = "[all]"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", c.Name, c.Type, strings.Trim(strings.ReplaceAll(kinds, " ", ", "), "[]"), c.Doc, field, strings.Join(names, ", "))
	}
	return b.String() + "\n"
}
