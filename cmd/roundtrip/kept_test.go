package roundtrip

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reelsplice/build"
	"reelsplice/data/gen"
	"reelsplice/ingest"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// A nightly is a catalogue that changes from night to night: dumps by their names, a JSON
// object for each row, and what is removed.
type nightly struct {
	r       *rand.Rand
	names   []string
	first   map[string][]map[string]any // as they were on the first night
	rows    map[string][]map[string]any
	removed []catalog.Removed
}

func newNightly(t *testing.T, seed uint64) *nightly {
	t.Helper()
	c := gen.DefaultConfig()
	c.Out, c.Movies, c.TV, c.Seed, c.Compression = t.TempDir(), 60, 10, seed, gen.None
	report, err := gen.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	n := &nightly{r: rand.New(rand.NewPCG(seed, 6)), first: map[string][]map[string]any{}, rows: map[string][]map[string]any{}}
	for _, f := range report.Files {
		data, err := os.ReadFile(filepath.Join(c.Out, f.Name))
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		for d.More() {
			var row map[string]any
			if err := d.Decode(&row); err != nil {
				t.Fatal(err)
			}
			n.first[f.Name] = append(n.first[f.Name], row)
			n.rows[f.Name] = append(n.rows[f.Name], clone(row).(map[string]any))
		}
		if len(n.rows[f.Name]) > 0 {
			n.names = append(n.names, f.Name)
		}
	}
	return n
}

// clone returns a deep copy of a JSON value.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = clone(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = clone(x)
		}
		return out
	}
	return v
}

// night edits a few rows, each in some way: a dump can do anything to them.
func (n *nightly) night() {
	for range 1 + n.r.IntN(12) {
		name := n.names[n.r.IntN(len(n.names))]
		rows := n.rows[name]
		switch k := n.r.IntN(10); {
		case len(rows) == 0 || k == 0: // one comes back, as it was
			row := n.first[name][n.r.IntN(len(n.first[name]))]
			rows = slices.DeleteFunc(rows, func(o map[string]any) bool { return o["id"] == row["id"] })
			n.rows[name] = append(rows, clone(row).(map[string]any))
		case k == 1:
			i := n.r.IntN(len(rows))
			n.rows[name] = slices.Delete(rows, i, i+1)
		case k == 2:
			n.remove()
		case k == 3: // one says what another one says: an id, a cast, a collection
			from, to := rows[n.r.IntN(len(rows))], rows[n.r.IntN(len(rows))]
			if key := n.member(from); key != "id" {
				to[key] = clone(from[key])
			}
		default:
			n.edit(rows[n.r.IntN(len(rows))])
		}
	}
}

func (n *nightly) member(row map[string]any) string {
	keys := slices.Sorted(maps.Keys(row))
	return keys[n.r.IntN(len(keys))]
}

// edit changes one value somewhere below a row, whose id stays.
func (n *nightly) edit(row map[string]any) {
	key := n.member(row)
	switch v := row[key].(type) {
	case map[string]any:
		if len(v) > 0 {
			n.edit(v)
		}
	case []any:
		n.editList(row, key, v)
	case json.Number:
		if key != "id" {
			row[key] = json.Number(fmt.Sprint(n.r.IntN(1000)))
		}
	case string:
		if !strings.HasSuffix(key, "date") && !strings.HasPrefix(key, "iso_") {
			row[key] = v + "x"
		}
	case bool:
		row[key] = !v
	}
}

func (n *nightly) editList(row map[string]any, key string, list []any) {
	if len(list) == 0 {
		return
	}
	i := n.r.IntN(len(list))
	member, ok := list[i].(map[string]any)
	switch {
	case ok && len(member) > 0 && n.r.IntN(3) > 0:
		n.edit(member)
	case n.r.IntN(2) == 0:
		row[key] = slices.Delete(list, i, i+1)
	default:
		list[0], list[i] = list[i], list[0]
	}
}

// remove says that something is deleted or merged, or that it is not after all.
func (n *nightly) remove() {
	if len(n.removed) > 0 && n.r.IntN(3) == 0 {
		i := n.r.IntN(len(n.removed))
		n.removed = slices.Delete(n.removed, i, i+1)
		return
	}
	kinds := map[string]fragment.Kind{"movies": fragment.KindMovie, "tv": fragment.KindTV, "people": fragment.KindPerson}
	name := slices.Sorted(maps.Keys(kinds))[n.r.IntN(3)]
	id := func() catalog.Key {
		rows := n.first[name+".ndjson"]
		v, _ := rows[n.r.IntN(len(rows))]["id"].(json.Number).Int64()
		return catalog.NumberKey(v)
	}
	r := catalog.Removed{Kind: kinds[name], Key: id()}
	if into := id(); n.r.IntN(2) == 0 && into != r.Key {
		r.Merged, r.Into = true, into
	}
	n.removed = slices.DeleteFunc(n.removed, func(o catalog.Removed) bool { return o.Kind == r.Kind && o.Key == r.Key })
	n.removed = append(n.removed, r)
}

// write ingests the dumps into a new catalogue.
func (n *nightly) write(t *testing.T, dir string) {
	t.Helper()
	src := t.TempDir()
	var sources []string
	for _, name := range n.names {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		for _, row := range n.rows[name] {
			if err := e.Encode(row); err != nil {
				t.Fatal(err)
			}
		}
		sources = append(sources, filepath.Join(src, name))
		writeFiles(t, src, map[string][]byte{name: b.Bytes()})
	}
	_, err := ingest.Run(t.Context(), ingest.Config{Catalog: dir, Sources: sources})
	if err != nil {
		t.Fatal(err)
	}
	if err := catalog.WriteRemoved(dir, n.removed); err != nil {
		t.Fatal(err)
	}
}

// TestKeptReleases: over random nights, a release that keeps what did not change answers
// as one that is made anew, byte for byte, and is sound; so it is with the ledgers cut or
// gone, and with a share that is compressed better, which titles enter and leave.
func TestKeptReleases(t *testing.T) {
	nights := 12
	if testing.Short() || raceDetector {
		nights = 3
	}
	for seed, best := range []float64{0, 30} {
		t.Run(fmt.Sprintf("best %v %%", best), func(t *testing.T) {
			n := newNightly(t, uint64(seed)+1)
			date := time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)
			c := build.DefaultConfig()
			c.Releases, c.Best = t.TempDir(), best
			var total int64
			for i := range nights {
				c.Catalog, c.Date = t.TempDir(), date.AddDate(0, 0, i)
				n.write(t, c.Catalog)
				if i%4 == 3 {
					damageLedgers(t, n.r, filepath.Join(c.Releases, c.Previous))
				}
				kept := n.build(t, c)
				c.Full = true
				full := n.build(t, c)
				c.Full = false
				if full.Kept > 0 {
					t.Errorf("night %d: a full build kept %d units", i, full.Kept)
				}
				total += kept.Kept
				t.Logf("night %d: %d units kept, %d resources, changed %v", i, kept.Kept, kept.Resources, kept.Changed)
				// Without news there is no new release, if bytes lie as they did. A full build
				// lays them anew.
				news := !kept.Unchanged && !full.Unchanged
				if news && !maps.Equal(kept.Changed, full.Changed) {
					t.Errorf("night %d: %v changed, of the full build %v", i, kept.Changed, full.Changed)
				}
				sameAnswers(t, filepath.Join(c.Releases, kept.Release), filepath.Join(c.Releases, full.Release), news)
				c.Previous = kept.Release
				n.night()
			}
			if total == 0 {
				t.Error("nothing was ever kept")
			}
		})
	}
}

func (n *nightly) build(t *testing.T, c build.Config) build.Report {
	t.Helper()
	r, err := build.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// damageLedgers cuts or overwrites some of what the next build recalls.
func damageLedgers(t *testing.T, r *rand.Rand, dir string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "ledger-*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no ledgers in %s: %v", dir, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch at := r.IntN(len(data) + 1); r.IntN(4) {
		case 0:
			err = os.Remove(path)
		case 1:
			err = os.Truncate(path, int64(at))
		case 2:
			if at < len(data) {
				data[at] ^= 1 << r.IntN(8)
			}
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// sameAnswers compares all of two releases but where it lies: resources, what they are found
// by, and tables if asked to. The first has to be sound.
func sameAnswers(t *testing.T, dir, want string, tables bool) {
	t.Helper()
	problems, err := release.Verify(t.Context(), dir, release.VerifyOptions{}, nil)
	if err != nil || len(problems) > 0 {
		t.Fatalf("verify: %v, %v", problems, err)
	}
	a, b := openRelease(t, dir), openRelease(t, want)
	found, err := release.Compare(t.Context(), a, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range release.Changes() {
		if err := found.Keys(t.Context(), change, func(key []byte) error {
			t.Errorf("%s: %s in the full build", fragment.DescribeKey(key), change)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if x, y := resources(t, a), resources(t, b); !maps.Equal(x, y) {
		for key := range y {
			if x[key] != y[key] {
				t.Fatalf("%s: has\n%s\nwant\n%s", fragment.DescribeKey([]byte(key)), x[key], y[key])
			}
		}
		t.Errorf("%d resources, want %d", len(x), len(y))
	}
	if !tables {
		return
	}
	if x, y := a.Tables(), b.Tables(); !slices.Equal(x, y) {
		t.Fatalf("tables %q, want %q", x, y)
	}
	for _, name := range a.Tables() {
		x, y := tableBytes(t, dir, name), tableBytes(t, want, name)
		if !bytes.Equal(x, y) {
			t.Errorf("table %s differs: %d and %d bytes", name, len(x), len(y))
		}
	}
}

func openRelease(t *testing.T, dir string) *release.Reader {
	t.Helper()
	r, err := release.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// resources returns all that a release says of each resource but the shared lists of
// genres, which stand where they are referred to.
func resources(t *testing.T, r *release.Reader) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := r.Resources(t.Context(), func(key []byte, e release.Entry, _ release.Ref) error {
		if fragment.Kind(key[0]) == fragment.KindGenres {
			return nil
		}
		var b strings.Builder
		fmt.Fprintln(&b, "id", e.ID())
		for i := range e.Len() {
			fmt.Fprintln(&b, e.Address(i))
			writePieces(t, &b, r, e.Fragment(i))
		}
		out[string(key)] = b.String()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func writePieces(t *testing.T, b *strings.Builder, r *release.Reader, f release.Fragment) {
	t.Helper()
	var p release.Piece
	c := f.Pieces()
	for c.Next(&p) {
		fmt.Fprintf(b, "  %s %x %d %v %d %x %q %d\n", p.Op, p.Segment.Stored, p.Segment.RawLen, p.Include, p.Word, p.Segment.Hash, p.Literal, p.Number)
		if p.Op != release.OpReference {
			continue
		}
		e, ok := r.EntryAt(p.Ref)
		if !ok {
			t.Fatalf("a reference to %d leads nowhere", p.Ref)
		}
		fmt.Fprintf(b, "  -> %s\n", fragment.DescribeKey(e.Key()))
	}
	if c.Broken() {
		t.Fatal("a program is broken")
	}
}

func tableBytes(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "table-"+name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
