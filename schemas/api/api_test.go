package api

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestOwnIsDocumented demands that the page of extensions names each operation, append name and parameter that
// the API's documents do not list.
func TestOwnIsDocumented(t *testing.T) {
	const file = "docs/reference/extensions.md"
	page, err := os.ReadFile("../../" + file)
	sharedtest.NoError(t, err)
	demand := func(what, text string) {
		t.Helper()
		if !strings.Contains(string(page), text) {
			t.Errorf("%s is our own: add it to %s, as %s", what, file, text)
		}
	}
	for _, op := range Operations() {
		if op.Group == "Extensions" || strings.HasPrefix(op.Name, "legacy") {
			demand("operation "+op.Name, "`"+op.Path)
		}
		for _, p := range op.QueryParams {
			if p.Own {
				demand("parameter "+p.Name+" of "+op.Name, "`"+p.Name+"`")
			}
		}
	}
	for _, ns := range Namespaces() {
		for _, a := range AppendNames(ns) {
			if a.Own {
				demand("append name "+a.Name+" of "+ns, "`"+a.Name+"`")
			}
		}
	}
}

func TestAppendNames(t *testing.T) {
	want := []string{"movie", "tv", "season", "episode", "person", "collection", "company", "network", "keyword", "configuration"}
	if got := Namespaces(); !slices.Equal(got, want) {
		t.Fatalf("Namespaces() = %q, want %q", got, want)
	}
	if got := AppendNames("no such"); got != nil {
		t.Errorf(`AppendNames("no such") = %v, want nil`, got)
	}
	// Each namespace is that of one details operation.
	for _, ns := range want[:len(want)-1] {
		details := 0
		for _, op := range Operations() {
			if op.Appends == ns && op.Group != "Extensions" {
				details++
				if op.Sub != fragment.SubDetails || op.Kind.String() != ns {
					t.Errorf("%s appends %s and is %v %v", op.Name, ns, op.Kind, op.Sub)
				}
			}
		}
		if details != 1 {
			t.Errorf("%d operations take the append names of %s, want 1", details, ns)
		}
	}
}

// oldNames are the operations whose path has an old name of their sub-request.
var oldNames = []string{"legacyMovieCasts", "legacyMovieSimilarMovies"}

// TestSubs checks the fragments of operations.
func TestSubs(t *testing.T) {
	for _, op := range Operations() {
		if (op.Kind == 0) != (op.Sub == 0) {
			t.Errorf("%s: kind %v without sub %v or the reverse", op.Name, op.Kind, op.Sub)
		}
		if op.Sub > fragment.SubDetails && !strings.HasSuffix(op.Path, "}/"+op.Sub.Name()) && !slices.Contains(oldNames, op.Name) {
			t.Errorf("%s: path %s for sub %v", op.Name, op.Path, op.Sub)
		}
		// What is known by a text, and the latest of a kind, append nothing.
		appends := op.Kind <= fragment.KindKeyword && !strings.HasSuffix(op.Path, "/latest")
		if op.Sub == fragment.SubDetails && (op.Appends != "") != appends {
			t.Errorf("%s: details append the names of %q, want some: %v", op.Name, op.Appends, appends)
		}
	}
}
