package imdb

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// FuzzJoin adds lines to the tables that their first byte selects, and joins them. Add and Records never panic. A row that is
// not a JSON object is rejected. Records have distinct keys, are valid JSON, and are no more than the rows.
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
		j := newJoiner(t, Config{Memory: 1})
		rows := 0
		for line := range strings.SplitSeq(lines, "\n") {
			if line == "" || !utf8.ValidString(line) {
				continue // package source rejects those
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
		err := j.Records(t.Context(), func(_ int, row, _ int64, rec layout.Record) error {
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
