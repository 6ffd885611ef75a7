package api

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/api/facts"
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

// TestShapes checks that every response has a schema among the facts.
func TestShapes(t *testing.T) {
	shapeless := []string{"legacyJobList", "legacyTimezonesList"} // undocumented, recorded once
	for _, op := range Operations() {
		if op.Shape == "" {
			if op.Group != "Extensions" && !slices.Contains(shapeless, op.Name) {
				t.Errorf("%s has no shape", op.Name)
			}
			continue
		}
		checkShape(t, op.Name, op.Shape)
	}
	for _, ns := range Namespaces() {
		for _, a := range AppendNames(ns) {
			if a.Inherits == "" && (a.Shape != "" || !a.Own) {
				checkShape(t, ns+" "+a.Name, a.Shape)
			}
		}
	}
}

func checkShape(t *testing.T, name, shape string) {
	t.Helper()
	b, err := facts.Files.ReadFile("shapes/" + shape + ".json")
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if !json.Valid(b) {
		t.Errorf("%s: shape %s is not JSON", name, shape)
	}
}

// TestUniquePaths compares paths as the router sees them: parameters are equal
// whatever they are called.
func TestUniquePaths(t *testing.T) {
	seen := map[string]string{}
	for _, op := range Operations() {
		segs := strings.Split(op.Path, "/")
		var inPath []string
		for i, s := range segs {
			if name, ok := strings.CutPrefix(s, "{"); ok {
				inPath = append(inPath, strings.TrimSuffix(name, "}"))
				segs[i] = "{}"
			}
		}
		key := op.Method + " " + strings.Join(segs, "/")
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s are both %s", other, op.Name, key)
		}
		seen[key] = op.Name
		for i, p := range op.PathParams {
			if i >= len(inPath) || inPath[i] != p.Name {
				t.Errorf("%s: path has parameters %q, the table %v", op.Name, inPath, op.PathParams)
				break
			}
		}
		if len(inPath) != len(op.PathParams) {
			t.Errorf("%s: path has parameters %q, the table %v", op.Name, inPath, op.PathParams)
		}
	}
}

func TestOps(t *testing.T) {
	for i, want := range Operations() {
		if op := Op(i); op.String() != want.Name {
			t.Errorf("Op(%d) = %s, want %s", i, op, want.Name)
		}
	}
	if OpMovieDetails.Operation().Path != "/3/movie/{movie_id}" {
		t.Errorf("OpMovieDetails is %+v", *OpMovieDetails.Operation())
	}
	if NoOp.Operation() != nil || NoOp.String() != "none" {
		t.Errorf("NoOp stands for %v", NoOp)
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
		if a.Property != a.Name {
			t.Errorf("%s %s has property %q", ns, a.Name, a.Property)
		}
		// Changes of seasons and episodes have a path of their own.
		if a.Sub == fragment.SubChanges && (ns == "season" || ns == "episode") {
			continue
		}
		if !slices.ContainsFunc(Operations(), func(op Operation) bool {
			return op.Kind == a.Kind && op.Sub == a.Sub && slices.Contains(op.Namespaces, ns) && op.Shape == a.Shape
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
		if len(op.Namespaces) > 0 && op.Sub == 0 {
			t.Errorf("%s can be appended and has no sub", op.Name)
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
