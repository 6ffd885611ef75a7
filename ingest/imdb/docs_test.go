package imdb

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestDocs compares the document of the layout with the code.
func TestDocs(t *testing.T) {
	doc, err := os.ReadFile("../layout/docs/imdb.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(doc)
	tables := docTables(text)
	var columns []string // first cells of all tables
	for _, rows := range tables {
		for _, row := range rows {
			columns = append(columns, strings.Split(row[0], ", ")...)
		}
	}
	for _, table := range Tables() {
		if !strings.Contains(text, table) {
			t.Errorf("the document does not speak of %s", table)
		}
		for _, c := range tableNamed(table).columns {
			if !slices.Contains(columns, c.name) {
				t.Errorf("the document has no row of %s.%s", table, c.name)
			}
		}
	}

	documented := map[string]string{}
	for _, row := range tables["category"] {
		for name := range strings.SplitSeq(row[0], ", ") {
			documented[name] = row[1]
		}
	}
	want := map[string]string{}
	for name, c := range categories {
		switch {
		case c.cast && c.note == "":
			want[name] = "cast"
		case c.cast:
			want[name] = `cast, with "` + c.note + `" behind the character`
		default:
			want[name] = c.department + ", " + c.job
		}
	}
	if !maps.Equal(documented, want) {
		t.Errorf("categories of the document = %v\nwant %v", documented, want)
	}

	ofDepartments := map[string]string{}
	for _, row := range tables["department"] {
		for p := range strings.SplitSeq(row[1], ", ") {
			ofDepartments[p] = row[0]
		}
	}
	if !maps.Equal(ofDepartments, departments) {
		t.Errorf("departments of the document = %v\nwant %v", ofDepartments, departments)
	}

	for _, row := range tables["genre of IMDb"] {
		for i, m := range []*genres{movieGenres, seriesGenres} {
			if g, _ := m.find(row[0]); g.Name.V != row[1+i] {
				t.Errorf("the document has %q for %v genre %s, want %q", row[1+i], m.of, row[0], g.Name.V)
			}
		}
	}

	kinds := map[string]string{}
	for _, row := range tables["titleType"] {
		kind, _, _ := strings.Cut(row[1], ",")
		for typ := range strings.SplitSeq(row[0], ", ") {
			if _, ok := kindsOfTypes[typ]; ok || kind != "none; counted as `titleType` and the type" {
				kinds[typ] = kind
			}
		}
	}
	wantKinds := map[string]string{}
	for typ, kind := range kindsOfTypes {
		wantKinds[typ] = kind.String()
	}
	if !maps.Equal(kinds, wantKinds) {
		t.Errorf("types of the document = %v\nwant %v", kinds, wantKinds)
	}
	for from, to := range regions {
		if !strings.Contains(text, from+" "+to) && !strings.Contains(text, from+" is "+to) {
			t.Errorf("the document lacks region %s as %s", from, to)
		}
	}
}

// docTables returns the rows of a document's tables by the head of their first column.
func docTables(text string) map[string][][]string {
	out, head := map[string][][]string{}, ""
	for line := range strings.SplitSeq(text, "\n") {
		inner, ok := strings.CutPrefix(line, "| ")
		if !ok {
			head = ""
			continue
		}
		cells := strings.Split(strings.TrimSuffix(inner, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case head == "":
			head = cells[0]
		case !strings.HasPrefix(cells[0], "---"):
			out[head] = append(out[head], cells)
		}
	}
	return out
}
