package ingest

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestEncoding: a table in a stated encoding can be ingested beside UTF-8 sources. Its bad rows are quarantined in UTF-8, and
// can be ingested again with any stated encoding.
func TestEncoding(t *testing.T) {
	dir, src := t.TempDir(), t.TempDir()
	table := put(t, src, "movies.csv", "id;title\n1;Am\xe9lie\nx;\xcatre et avoir\n")
	if _, err := Run(t.Context(), Config{Catalog: dir, Sources: []string{table}}); err == nil || err.Error() != "movies.csv: not UTF-8; looks like windows-1252: --encoding windows-1252" {
		t.Errorf("Run = %v, want the guess", err)
	}
	strange := put(t, src, "filme.csv", "Titel;Jahr\nM\xe4nner;1985\n")
	want := "run \"reelsplice ingest --explain --encoding windows-1252 " + strange + " >" + filepath.Join(src, "filme.toml") + "\", check what it wrote, and run this again"
	if _, err := Run(t.Context(), Config{Catalog: dir, Sources: []string{strange}, Encoding: "windows-1252"}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Run = %v, want %s", err, want)
	}
	if _, err := Run(t.Context(), Config{Catalog: dir, Sources: []string{table}, Encoding: "ansi"}); err == nil || !strings.Contains(err.Error(), `encoding "ansi": want auto`) {
		t.Errorf("Run = %v, want the encoding refused", err)
	}
	r := ingestInto(t, dir, Config{Sources: []string{table, put(t, src, "movies.ndjson", `{"id":3,"title":"Das Boot – für alle"}`)}, Encoding: "windows-1252"})
	if r.Quarantined != 1 {
		t.Fatalf("%d rows in quarantine, want 1", r.Quarantined)
	}
	file := mended(t, r, "movies.ndjson", `"x"`, `2`)
	ingestInto(t, dir, Config{Sources: []string{file}, Encoding: "windows-1252"})
	all := strings.Join(records(t, dir), "\n")
	for _, title := range []string{"Amélie", "Être et avoir", "Das Boot – für alle"} {
		if !strings.Contains(all, title) {
			t.Errorf("the catalogue has %s, want %s", all, title)
		}
	}
}
