package layout

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A draftCase is a file of testdata/draft: a small table as people have them, and its draft. A line "kind person" before the
// files states the kind of its rows.
type draftCase struct {
	path       string
	archive    *txtar.Archive
	base, kind string
	rows       []string
}

func draftCases(tb testing.TB) (out []draftCase) {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "draft", "*.txtar"))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no drafts: %v", err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		table := archive.Files[0]
		kind, _ := strings.CutPrefix(strings.TrimSpace(string(archive.Comment)), "kind ")
		out = append(out, draftCase{path, archive, strings.TrimSuffix(table.Name, filepath.Ext(table.Name)), kind, rowsOf(tb, string(table.Data))})
	}
	return out
}

// rowsOf returns the rows of a table as readers return them.
func rowsOf(tb testing.TB, table string) (rows []string) {
	tb.Helper()
	table = strings.TrimSpace(table)
	if table[0] == '{' {
		return strings.Split(table, "\n")
	}
	r := csv.NewReader(strings.NewReader(table))
	if strings.Count(table, ";") > strings.Count(table, ",") && !strings.Contains(strings.SplitN(table, "\n", 2)[0], ",") {
		r.Comma = ';'
	}
	all, err := r.ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	for _, cells := range all[1:] {
		row := []byte{'{'}
		for i, name := range all[0] {
			if i > 0 {
				row = append(row, ',')
			}
			row = append(record.AppendString(row, name), ':')
			if row = append(row, "null"...); cells[i] != "" {
				row = record.AppendString(row[:len(row)-len("null")], cells[i])
			}
		}
		rows = append(rows, string(append(row, '}')))
	}
	return rows
}

// applied returns the records of rows read with a draft, and the values left out.
func applied(tb testing.TB, d Draft, base string, rows []string) (recs [][]Record, left []record.LeftOut) {
	tb.Helper()
	m, err := parseMapping("m.toml", []byte(d.Text), true)
	if err != nil {
		tb.Fatalf("parseMapping(%s) = %v", d.Text, err)
	}
	if len(m.tables) == 0 {
		return make([][]Record, len(rows)), nil
	}
	o := Options{Values: &record.Values{}}
	l := (&Meaning{Layout: tables, table: m.tables[0]}).Reader(o)
	for _, row := range rows {
		r, err := l.Records(Row{File: base, JSON: row, Table: true, Texts: true})
		if err != nil {
			tb.Errorf("Records(%s) = %v in\n%s", row, err, d.Text)
		}
		recs = append(recs, r)
	}
	return recs, o.Values.Take()
}

// TestDraft: tables of programs and people are drafted, and their rows are read with the draft.
func TestDraft(t *testing.T) {
	year := time.Now().Year()
	for _, c := range draftCases(t) {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			d := NewDraft("dir/"+c.archive.Files[0].Name, c.base, c.kind, c.rows)
			recs, left := applied(t, d, c.base, c.rows)
			if isSure := !strings.Contains(d.Text, "# Check: ") && !strings.Contains(d.Text, "[[skip]]"); d.Certain != isSure {
				t.Errorf("Certain = %v, want %v for\n%s", d.Certain, isSure, d.Text)
			}
			for _, l := range left {
				if d.Certain && float64(l.Count) > 0.05*float64(len(c.rows)) {
					t.Errorf("left out: %v by\n%s", l.First, d.Text)
				}
			}
			var columns strings.Builder
			for _, col := range d.Columns {
				fmt.Fprintf(&columns, "%s: %s\n", col.Name, strings.TrimSuffix(cmp.Or(col.Field, "-")+"; "+col.Note, "; "))
			}
			now := txtar.Archive{Comment: c.archive.Comment, Files: []txtar.File{
				c.archive.Files[0],
				{Name: "draft.toml", Data: []byte(strings.ReplaceAll(d.Text, fmt.Sprintf("%d)'  # two digits stand for %d to %d", year, year-99, year), "YEAR)'  # two digits stand for YEAR-99 to YEAR"))},
				{Name: "columns", Data: []byte(columns.String())},
				{Name: "first row", Data: []byte(strings.Join(append(described(recs[0]), ""), "\n"))},
			}}
			sharedtest.Golden(t, c.path, string(txtar.Format(&now)))
		})
	}
}

// TestDraftPattern: the pattern of a file name matches the name.
func TestDraftPattern(t *testing.T) {
	rows := []string{`{"film":"A","year":1999,"runtime":90}`}
	for base, want := range map[string]string{"films*": `files = ["films\\*"]`, "862": `files = ["[0-9]*"]`, "Films": `files = ["films"]`} {
		if d := NewDraft(base+".csv", base, "", rows); !strings.Contains(d.Text, want) {
			t.Errorf("NewDraft(%s) = %s, want %s", base, d.Text, want)
		}
	}
}

// fuzzRows returns the rows of a tab-separated table whose first line has the column names. Cells that are JSON stay JSON.
func fuzzRows(table string) (rows []string) {
	lines := strings.Split(table, "\n")
	names := strings.Split(lines[0], "\t")
	for _, line := range lines[1:] {
		var row []byte
		for i, cell := range strings.Split(line, "\t") {
			row = append(record.AppendString(append(row, ','), names[i%len(names)]), ':')
			if !json.Valid([]byte(cell)) {
				cell = string(record.AppendString(nil, cell))
			}
			row = append(row, strings.TrimSpace(cell)...)
		}
		rows = append(rows, "{"+string(row[1:])+"}")
	}
	return rows
}

// fuzzTable is the inverse of fuzzRows.
func fuzzTable(tb testing.TB, rows []string) string {
	tb.Helper()
	table := strings.Join(ColumnsOf(rows[0]), "\t")
	for _, row := range rows {
		fields, err := record.Fields(row)
		if err != nil {
			tb.Fatal(err)
		}
		var cells []string
		for _, name := range ColumnsOf(rows[0]) {
			raw := fields.Value(name)
			if text := scalarText(raw); text != "" {
				raw = text
			}
			cells = append(cells, raw)
		}
		table += "\n" + strings.Join(cells, "\t")
	}
	return table
}

// FuzzNewDraft: the draft of any rows is a valid mapping, and makes at least one record if it has a table.
func FuzzNewDraft(f *testing.F) {
	for _, c := range draftCases(f) {
		f.Add(c.base, fuzzTable(f, c.rows))
	}
	f.Add("\x7f*", "\x7f\ttitle\n\u007f\tA")
	f.Add("t", "type\ttitle\t\x7f#cast\tdirector\nMovie\tA\tB, C\tD")
	f.Add("t", "id\tname\tposter\tdate\ta\rb\n[1]\t{\"a\":1}\t/a\t1/2/99\t\u0000")
	f.Fuzz(func(t *testing.T, base, table string) {
		if len(table) > 1<<11 || strings.TrimSpace(base) == "" || !utf8.ValidString(base) || !utf8.ValidString(table) {
			return
		}
		rows := fuzzRows(table)
		d := NewDraft(base+".csv", base, "", rows)
		m, err := parseMapping("m.toml", []byte(d.Text), true)
		if err != nil {
			t.Fatalf("parseMapping(%s) = %v", d.Text, err)
		}
		if len(m.tables) == 0 {
			return
		}
		l := (&Meaning{Layout: tables, table: m.tables[0]}).Reader(Options{Values: &record.Values{}})
		var faults []error
		for _, row := range rows {
			recs, err := l.Records(Row{File: base, JSON: row, Table: true})
			if len(recs) > 0 {
				return
			}
			faults = append(faults, err)
		}
		t.Errorf("no row of %s makes a record: %v by\n%s", rows, faults, d.Text)
	})
}
