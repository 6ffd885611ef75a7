package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestKeptTable checks that the table in the project is what gen writes today.
func TestKeptTable(t *testing.T) {
	got, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../table_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("table_gen.go is not what the facts and own.go make: run go generate ./schemas/api")
	}
}

func TestRefusals(t *testing.T) {
	ops := []string{"Movies", "movieDetails", "GET", "/3/movie/{movie_id}", "movie_id:integer", "", "", "bearer", "no", "X", ""}
	names := []string{"movie", "credits", "credits", "", "MovieCredits", "", ""}
	// f changes one column of one of the two rows.
	f := func(row []string, column int, value, wantErr string) {
		t.Helper()
		keep := row[column]
		row[column] = value
		defer func() { row[column] = keep }()
		_, err := render([][]string{ops}, [][]string{names}, nil)
		if err == nil || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("render with %q = %v, want an error with %q", value, err, wantErr)
		}
	}
	// a credential that package api does not know
	f(ops, 7, "cookie", `unknown auth "cookie"`)
	// a parameter without a type, and one of an unknown type
	f(ops, 5, "page", `parameter "page"`)
	f(ops, 5, "page:uint", `parameter "page:uint"`)
	// a path that no answerer serves
	f(ops, 3, "/3/unknown", "add it to gen/answerers.go")
	// a name that package fragment does not know
	f(names, 1, "watch_providers", "no such sub-request")
	// a pattern that does not say where its names come from
	f(names, 1, "season/{season_number}/{sub_request}", "do not name a namespace")
	if _, err := render([][]string{ops}, [][]string{names}, nil); err != nil {
		t.Errorf("render of the unchanged rows: %v", err)
	}
}
