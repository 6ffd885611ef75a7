package render

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestCases renders the records in testdata/*.txt. A line "== KIND SUB..." selects a kind and the sub-requests to show,
// all of them without any. Each record starts a line with its brace; the tabbed lines after it are its fragments.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	r := New() // a shared one: fragments do not depend on its earlier work
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			sharedtest.NoError(t, err)
			sharedtest.Golden(t, path, withFragments(t, r, string(data)))
		})
	}
}

// withFragments returns a file of cases with the fragments of its records.
func withFragments(t *testing.T, r *Renderer, cases string) string {
	t.Helper()
	var out, row strings.Builder
	var kind fragment.Kind
	var subs []string
	end := func() {
		if row.Len() > 0 {
			list := fragmentsBy(r, parseKind(t, kind, row.String()), kind)
			allAreJSON(t, row.String(), list)
			out.WriteString(lines(t, list, subs...))
			row.Reset()
		}
	}
	for line := range strings.Lines(cases) {
		switch c := line[0]; c {
		case ' ':
			row.WriteString(line)
		case '\t':
			continue
		default:
			end()
			if c == '{' {
				row.WriteString(line)
			}
		}
		if header, ok := strings.CutPrefix(line, "== "); ok {
			subs = strings.Fields(header)
			of, ok := catalog.TypeNamed(subs[0])
			if !ok {
				t.Fatalf("no kind in %q", line)
			}
			kind, subs = of.Kind, subs[1:]
		}
		out.WriteString(line)
	}
	end()
	return out.String()
}

// lines returns the fragments of some sub-requests, one on a line, sorted by address.
func lines(tb testing.TB, list []release.FragmentSpec, subs ...string) string {
	tb.Helper()
	all := texts(tb, list)
	var out strings.Builder
	for _, address := range slices.Sorted(maps.Keys(all)) {
		of, _, _ := strings.Cut(address, " ")
		if len(subs) == 0 || slices.Contains(subs, of) {
			fmt.Fprintf(&out, "\t%s: %s\n", address, all[address])
		}
	}
	return out.String()
}

// fragmentsAre compares the fragments of some sub-requests with the file name of testdata/derived.txtar.
func fragmentsAre(tb testing.TB, name string, list []release.FragmentSpec, subs ...string) {
	tb.Helper()
	allAreJSON(tb, name, list)
	const path = "testdata/derived.txtar"
	file, err := txtar.ParseFile(path)
	sharedtest.NoError(tb, err)
	i := slices.IndexFunc(file.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		i, file.Files = len(file.Files), append(file.Files, txtar.File{Name: name})
	}
	text := lines(tb, list, subs...)
	if diff := cmp.Diff(string(file.Files[i].Data), text); diff != "" && !*sharedtest.Update {
		tb.Errorf("%s: %s (-want +got); %s:\n%s", path, name, sharedtest.UpdateHint(tb), diff)
	}
	if file.Files[i].Data = []byte(text); *sharedtest.Update {
		err = os.WriteFile(path, txtar.Format(file), 0o644)
	}
	sharedtest.NoError(tb, err)
}
