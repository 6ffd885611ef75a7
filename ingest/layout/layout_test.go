package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

func text(r record.Record) string { return string(record.Append(nil, r)) }

// kind returns the type of a kind of records.
func kind(name string) *catalog.Type {
	t, ok := catalog.TypeNamed(name)
	if !ok {
		panic("no kind " + name)
	}
	return t
}

// movieOf returns the one record of a row about a movie.
func movieOf(l Layout, r Row) (record.Record, error) {
	r.Type = kind("movie")
	recs, err := l.Records(r)
	if err != nil {
		return record.Record{}, err
	}
	if len(recs) != 1 || recs[0].Type != r.Type {
		return record.Record{}, fmt.Errorf("%d records, want one movie", len(recs))
	}
	return recs[0].Record, nil
}

func TestParseLanguage(t *testing.T) {
	f := func(tag, want string) {
		t.Helper()
		if got, err := tmdb.ParseLanguage(tag); err != nil || got != want {
			t.Errorf("ParseLanguage(%q) = %q, %v, want %q", tag, got, err, want)
		}
	}
	f("", "")
	f("en", "")
	f("en-US", "")
	f("EN-us", "")
	f("en-GB", "en-GB")
	f("de-DE", "de-DE")
	f("DE-de", "de-DE")
	f("it", "it-IT")
	f("FR", "fr-FR")
	f("pt-BR", "pt-BR")
	f("cn", "cn-CN")
	f("zz", "zz") // unknown region
	bad := func(tag string) {
		t.Helper()
		want := `language "` + tag + `": want xx or xx-YY, for instance de-DE`
		if got, err := tmdb.ParseLanguage(tag); err == nil || err.Error() != want {
			t.Errorf("ParseLanguage(%q) = %q, %v, want %s", tag, got, err, want)
		}
	}
	bad("german")
	bad("d")
	bad("de_DE")
	bad("de-D")
	bad("de-DEU")
	bad("12")
	bad("de-DE-x")
	bad("é")
	bad(" de")
}

// throughFile writes a record to a catalogue file and reads it back.
func throughFile(tb testing.TB, dir string, r Record) record.Record {
	tb.Helper()
	path := filepath.Join(dir, r.Type.File())
	w, err := catalog.Create(path, r.Type)
	if err != nil {
		tb.Fatal(err)
	}
	if err := errors.Join(w.Write(r.Record), w.Commit()); err != nil {
		tb.Fatal(err)
	}
	f, err := catalog.OpenFile(path, r.Type)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	rows := f.Groups(0, f.RowGroups())
	defer rows.Close()
	out := r.Type.New()
	if err := rows.Next(out); err != nil {
		tb.Fatal(err)
	}
	if err := rows.Next(r.Type.New()); !errors.Is(err, io.EOF) {
		tb.Fatalf("after the one record: %v, want EOF", err)
	}
	return out
}

// FuzzRecords: any row is either rejected or makes records that survive JSON and Parquet.
func FuzzRecords(f *testing.F) {
	rows, err := os.ReadFile(filepath.Join("tmdb", "testdata", "rows.txt"))
	if err != nil {
		f.Fatal(err)
	}
	seed := func(kind, row string) {
		for _, table := range []bool{false, true} {
			f.Add(kind, row, "", table)
			f.Add(kind, row, "de-DE", table)
		}
	}
	for line := range strings.Lines(string(rows)) {
		if words := strings.Fields(line); len(words) > 1 && line[0] != '#' && line[0] != ' ' {
			seed(words[0], strings.TrimSpace(line[strings.IndexByte(line, '{'):]))
		}
	}
	for _, g := range goldenRows(f) {
		seed(g.File, string(g.Row))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, kindName, row, language string, table bool) {
		language, err := tmdb.ParseLanguage(language)
		typ, ok := catalog.TypeNamed(kindName)
		table2 := tableOf(ready(tables), kindName, ColumnsOf(row)) != nil // independent of the row
		if !ok && !table2 || err != nil || len(row) > 1<<14 || !utf8.ValidString(row) || !json.Valid([]byte(row)) {
			return // package source returns only valid JSON
		}
		var l Layout = tmdb.New(language)
		if tableOf(ready(movnix), kindName, ColumnsOf(row)) != nil {
			l = newReader(movnix, Options{})
		} else if table2 {
			l = newReader(tables, Options{Language: language})
		}
		recs, err := l.Records(Row{JSON: row, File: kindName, Type: typ, Table: table})
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("Records(%q): %q, want one line", row, err)
			}
			return
		}
		for _, r := range recs {
			want, again := text(r.Record), r.Type.New()
			if err := record.NewParser().Parse(want, again); err != nil {
				t.Fatalf("Parse(Append(%q)) = %v", row, err)
			}
			if key, err := r.Type.Key(again); err != nil || key != r.Key {
				t.Errorf("%q has key %v, %v, want %v", want, key, err, r.Key)
			}
			if got := text(again); got != want {
				t.Errorf("Append(Parse(%q)) = %q, want %q", row, got, want)
			}
			if got := text(throughFile(t, dir, r)); got != want {
				t.Errorf("%q through Parquet = %q, want %q", row, got, want)
			}
		}
	})
}

func TestCheck(t *testing.T) {
	for _, name := range Names() {
		if err := Check(name, ""); err != nil {
			t.Errorf("Check(%q) = %v", name, err)
		}
	}
	if err := Check("csv", ""); err == nil || err.Error() != `layout "csv": want one of auto, tmdb, movnix, tables, kaggle, idexport` {
		t.Errorf("Check(csv) = %v", err)
	}
	want := "layout movnix: its rows have no language: ingest them without language de-DE"
	if err := Check(movnix, "de-DE"); err == nil || err.Error() != want {
		t.Errorf("Check(movnix, de-DE) = %v, want %s", err, want)
	}
}
