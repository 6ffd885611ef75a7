package imdb

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// FuzzJoin adds lines to the tables that their first byte names and joins them. Whatever
// they are, Add and Records end without a panic; a row that is no JSON object is refused;
// records have keys of their own, are JSON, and are no more than there are rows.
func FuzzJoin(f *testing.F) {
	for _, t := range world(f) {
		for i, u := range tables {
			if u.name == t.table {
				var lines []string
				for _, row := range t.rows {
					lines = append(lines, string(rune('0'+i))+string(row))
				}
				f.Add(strings.Join(lines, "\n"))
			}
		}
	}
	f.Add("0{\"tconst\":\"tt0000001\",\"titleType\":\"movie\"}\n2{\"tconst\":\"tt0000001\",\"ordering\":1,\"nconst\":\"nm0000001\",\"category\":\"self\",\"characters\":\"[\\\"\\u00e9\\\"]\"}")
	f.Add("4{\"tconst\":\"tt0000001\",\"parentTconst\":\"tt0000001\",\"seasonNumber\":\"0\",\"episodeNumber\":\"0\"}")
	f.Fuzz(func(t *testing.T, lines string) {
		j, err := New(Config{Dir: t.TempDir(), Memory: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		rows := 0
		for line := range strings.SplitSeq(lines, "\n") {
			if line == "" || !utf8.ValidString(line) {
				continue // package source refuses those
			}
			row := []byte(line[1:])
			err := j.Add(tables[int(line[0])%len(tables)].name, 0, int64(rows+1), 0, string(row))
			var bad *record.FieldError
			switch {
			case err == nil:
				rows++
			case !errors.As(err, &bad):
				t.Fatalf("Add(%s) = %v, which is no FieldError", row, err)
			}
		}
		seen := map[string]bool{}
		err = j.Records(t.Context(), func(_ int, row, _ int64, rec layout.Record) error {
			key := rec.Key.Describe(rec.Type.Kind)
			if seen[key] || row < 1 || row > int64(rows) {
				t.Errorf("%s of row %d: came before, or its row does not exist", key, row)
			}
			seen[key] = true
			if text := record.Append(nil, rec.Record); !json.Valid(text) {
				t.Errorf("%s is no JSON: %s", key, text)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(seen) > rows {
			t.Errorf("%d rows gave %d records", rows, len(seen))
		}
	})
}

// FuzzScan compares scan with a parser that takes its time: what both accept, they read alike.
func FuzzScan(f *testing.F) {
	f.Add([]byte(`{"nconst":"nm0000001","primaryName":"A \"B\" \\ \u00e9 \ud83d\ude00","birthYear":1950,"deathYear":null}`))
	f.Add([]byte(` { "nconst" : "\\\"" , "primaryName":true,"nconst":"x"} `))
	f.Add([]byte(`{"primaryName":"\\N","birthYear":-1e5,"deathYear":""}`))
	f.Fuzz(func(t *testing.T, row []byte) {
		j := &Joiner{dropped: map[string]int64{}}
		table := tableNamed(nameBasics)
		err := j.scan(table, string(row))
		var want map[string]any
		d := json.NewDecoder(strings.NewReader(string(row)))
		d.UseNumber()
		valid := d.Decode(&want) == nil && want != nil && json.Valid(row)
		if !valid || !utf8.Valid(row) {
			if err == nil && json.Valid(row) && utf8.Valid(row) {
				t.Errorf("scan(%s) read what is no object", row)
			}
			return
		}
		flat := true
		for _, v := range want {
			switch v.(type) {
			case map[string]any, []any:
				flat = false
			}
		}
		if !flat {
			return // it may stand under a name that comes again
		}
		if err != nil {
			// Of a name that comes twice only the last value is in want: the other may be
			// an object or a list.
			if bytes.Count(row, []byte("{")) == 1 && !bytes.ContainsRune(row, '[') {
				t.Errorf("scan(%s) = %v", row, err)
			}
			return
		}
		for i, c := range table.columns {
			text := ""
			switch v := want[c.name].(type) {
			case string:
				text = v
			case json.Number:
				text = v.String()
			case bool:
				text = map[bool]string{true: "1", false: "0"}[v]
			}
			if text == `\N` {
				text = ""
			}
			if j.cells[i] != text {
				t.Errorf("scan(%s): %s = %q, want %q", row, c.name, j.cells[i], text)
			}
		}
	})
}
