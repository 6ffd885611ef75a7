package api

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"reelsplice/schemas/api/facts"
	"reelsplice/schemas/fragment"
)

// TestOperationsEqualFacts writes the table back as a file and compares it with the one it
// was made from.
func TestOperationsEqualFacts(t *testing.T) {
	lines := []string{"group\toperation\tmethod\tpath\tpath_params\tquery_params\tappendable_to\tauth\twrites\tshape\tnotes"}
	for _, op := range Operations() {
		if !op.Listed() {
			continue
		}
		writes := "no"
		if op.Writes {
			writes = "yes"
		}
		lines = append(lines, strings.Join([]string{
			op.Group, op.Name, op.Method, op.Path,
			dash(params(op.PathParams, false)), dash(params(op.QueryParams, true)),
			dash(strings.Join(op.Namespaces, ",")), string(op.Auth), writes, dash(op.Shape), op.Notes,
		}, "\t"))
	}
	compareLines(t, lines, "operations.tsv")
}

func TestAppendNamesEqualFacts(t *testing.T) {
	lines := []string{"namespace\tsub_request\tproperty\tquery_params\tshape_without_id\tlast_seen_appended\tnotes"}
	for _, ns := range Namespaces() {
		for _, a := range AppendNames(ns) {
			if a.Own {
				continue
			}
			list, shape := dash(params(a.Params, true)), dash(a.Shape)
			if a.Inherits != "" {
				list, shape = "as in the "+a.Inherits+" namespace", "see "+a.Inherits+" namespace"
			}
			lines = append(lines, strings.Join([]string{
				a.Namespace, a.Name, a.Property, list, shape, dash(a.LastSeen), dash(a.Notes),
			}, "\t"))
		}
	}
	compareLines(t, lines, "append-names.tsv")
}

// TestOwnIsDocumented demands a row of the table Beyond the API for each operation, append name
// and parameter that the API's documents do not list.
func TestOwnIsDocumented(t *testing.T) {
	const file = "docs/reference/operations.md"
	text, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "## Beyond the API\n")
	beyond, _, ok := strings.Cut(rest, "\n## ")
	if !ok {
		t.Fatalf("%s has no part Beyond the API", file)
	}
	demand := func(what, text string) {
		t.Helper()
		if !strings.Contains(beyond, text) {
			t.Errorf("%s is our own: add it to the table Beyond the API of %s, as %s", what, file, text)
		}
	}
	for _, op := range Operations() {
		if op.Group == "Extensions" {
			demand("operation "+op.Name, "`"+op.Path+"?")
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

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// params writes parameters as the reference files do; withDefault adds the third
// field, which path parameters lack.
func params(list []Param, withDefault bool) string {
	var out []string
	for _, p := range list {
		if p.Own {
			continue
		}
		s := p.Name
		if p.Required {
			s += "*"
		}
		s += ":" + string(p.Type)
		if withDefault {
			s += ":" + p.Default
		}
		out = append(out, s)
	}
	return strings.Join(out, ",")
}

func compareLines(t *testing.T, got []string, file string) {
	t.Helper()
	b, err := facts.Files.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const again = "run go generate ./schemas/api"
	want := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Fatalf("%s line %d is not in the table: %s\n%s", file, i+1, want[i], again)
		case i >= len(want):
			t.Fatalf("the table has more than facts/%s: %s\nadd what the API's documents do not list to gen/own.go, and %s", file, got[i], again)
		case got[i] != want[i]:
			t.Fatalf("%s line %d:\n table %s\n  file %s\n%s", file, i+1, got[i], want[i], again)
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

func TestByName(t *testing.T) {
	for i, want := range Operations() {
		op, ok := ByName(want.Name)
		if !ok || op != Op(i) || op.String() != want.Name {
			t.Errorf("ByName(%q) = %v, %v, want %d, true", want.Name, op, ok, i)
		}
	}
	if OpMovieDetails.Operation().Path != "/3/movie/{movie_id}" {
		t.Errorf("OpMovieDetails is %+v", *OpMovieDetails.Operation())
	}
	if op, ok := ByName("moviedetails"); ok || op != NoOp {
		t.Errorf("ByName(moviedetails) = %v, %v, want none, false", op, ok)
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
