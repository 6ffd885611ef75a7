package api

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// TestOwnIsDocumented demands that the page of extensions names each operation, append name and parameter that
// the API's documents do not list.
func TestOwnIsDocumented(t *testing.T) {
	const file = "docs/reference/extensions.md"
	page, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	demand := func(what, text string) {
		t.Helper()
		if !strings.Contains(string(page), text) {
			t.Errorf("%s is our own: add it to %s, as %s", what, file, text)
		}
	}
	for _, op := range Operations() {
		if !op.Listed() || strings.HasPrefix(op.Name, "legacy") {
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
	// Each namespace is that of one details operation, and each of its names that
	// is no pattern is one sub-request.
	for _, ns := range want[:len(want)-1] {
		details := 0
		for _, op := range Operations() {
			if op.Appends == ns && op.Listed() {
				details++
				if op.Sub != fragment.SubDetails || op.Kind.String() != ns {
					t.Errorf("%s appends %s and is %v %v", op.Name, ns, op.Kind, op.Sub)
				}
			}
		}
		if details != 1 {
			t.Errorf("%d operations take the append names of %s, want 1", details, ns)
		}
		checkNames(t, ns)
	}
}

// checkNames checks the fragments of the names of one namespace.
func checkNames(t *testing.T, ns string) {
	t.Helper()
	pattern := false
	for _, a := range AppendNames(ns) {
		if a.Own != (a.Sub >= fragment.SubOwn) && a.Op == NoOp {
			t.Errorf("%s %s is our own: %t, and has the number %d; own ones start at %d", ns, a.Name, a.Own, a.Sub, fragment.SubOwn)
		}
		if a.Pattern() {
			pattern = true
			if a.Inherits != "" && len(AppendNames(a.Inherits)) == 0 {
				t.Errorf("%s %s inherits from %q, which has no names", ns, a.Name, a.Inherits)
			}
			continue
		}
		if pattern {
			t.Errorf("%s %s stands behind a pattern", ns, a.Name)
		}
		if a.Sub.Name() != a.Name || a.Kind.String() != ns {
			t.Errorf("%s %s is %v %v", ns, a.Name, a.Kind, a.Sub)
		}
		// Changes of seasons and episodes have a path of their own.
		if a.Sub == fragment.SubChanges && (ns == "season" || ns == "episode") {
			continue
		}
		if !slices.ContainsFunc(Operations(), func(op Operation) bool {
			return op.Kind == a.Kind && op.Sub == a.Sub && op.Shape == a.Shape
		}) {
			t.Errorf("%s %s: no operation answers it with shape %s", ns, a.Name, a.Shape)
		}
	}
}

// TestSubs checks the other direction: what an operation says of its fragment.
func TestSubs(t *testing.T) {
	for _, op := range Operations() {
		if (op.Kind == 0) != (op.Sub == 0) {
			t.Errorf("%s: kind %v without sub %v or the reverse", op.Name, op.Kind, op.Sub)
		}
		if op.Sub > fragment.SubDetails && !strings.HasSuffix(op.Path, "}/"+op.Sub.Name()) {
			t.Errorf("%s: path %s for sub %v", op.Name, op.Path, op.Sub)
		}
		// What is known by a text, and the latest of a kind, append nothing.
		appends := op.Kind <= fragment.KindKeyword && !strings.HasSuffix(op.Path, "/latest")
		if op.Sub == fragment.SubDetails && (op.Appends != "") != appends {
			t.Errorf("%s: details append the names of %q, want some: %v", op.Name, op.Appends, appends)
		}
	}
}
