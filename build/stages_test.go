package build

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build/task"
)

// TestStages: the package comment and ARCHITECTURE.md list the stages of the code, in order.
func TestStages(t *testing.T) {
	var want []string
	for _, s := range task.Stages() {
		want = append(want, s.Name)
	}
	for _, c := range []struct{ file, from, to, row string }{
		{"build.go", "// Package build", "package build", `(?m)^//\t(\w+) +\S`},
		{"../ARCHITECTURE.md", "## Stages of a build", "\n## ", "(?m)^\\| `?(\\w+)`? \\|"},
	} {
		data, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		_, text, ok := strings.Cut(string(data), c.from)
		text, _, ended := strings.Cut(text, c.to)
		if !ok || !ended {
			t.Fatalf("%s has no %q that ends with %q", c.file, c.from, c.to)
		}
		var got []string
		for _, m := range regexp.MustCompile(c.row).FindAllStringSubmatch(text, -1) {
			if m[1] != "stage" && m[1] != "plan" { // the head of the table; the plan comes before the stages
				got = append(got, m[1])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s lists the stages %q, the code has %q", c.file, got, want)
		}
	}
}
