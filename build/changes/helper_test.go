package changes_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/flate"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
)

// A catalogue is rows of JSON by kind, in the order of their keys.
type catalogue struct {
	rows    map[fragment.Kind][]string
	removed []catalog.Removed
}

// A history builds one release upon another.
type history struct {
	build.Config
}

func newHistory(t *testing.T) *history {
	t.Helper()
	n := &history{build.DefaultConfig()}
	n.Releases, n.Level = t.TempDir(), 1
	return n
}

// at returns a moment of the first of November 2026, some days and hours later.
func at(days, hours int) time.Time { return time.Date(2026, 11, 1+days, hours, 0, 0, 0, time.UTC) }

// run builds a release upon the one before. It becomes the one before of the next.
func (n *history) run(t *testing.T, date time.Time, c catalogue) build.Report {
	t.Helper()
	n.Catalog, n.Date = t.TempDir(), date
	writeRows(t, n.Catalog, c)
	r, err := build.Run(t.Context(), n.Config)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	n.Previous = r.Release
	return r
}

// writeRows writes a catalogue into a folder.
func writeRows(t *testing.T, dir string, c catalogue) {
	t.Helper()
	for kind, rows := range c.rows {
		buildtest.WriteKind(t, dir, kind, rows...)
	}
	if err := catalog.WriteRemoved(dir, c.removed); err != nil {
		t.Fatal(err)
	}
}

// open opens the last release, which has to be sound.
func (n *history) open(t *testing.T) (*release.Reader, *changelog.Log) {
	t.Helper()
	r := buildtest.OpenRelease(t, filepath.Join(n.Releases, n.Previous))
	l := changelog.Open(r)
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	return r, l
}

// movies returns a catalogue of movies alone.
func movies(rows ...string) catalogue {
	return catalogue{rows: map[fragment.Kind][]string{fragment.KindMovie: rows}}
}

// always is a window of all times.
var always = changelog.Window{From: 0, To: 1 << 40}

// answer returns the changes of a resource as an edge would compose them. Each segment
// has to be what its row says.
func answer(t *testing.T, l *changelog.Log, k fragment.Kind, id uint64, w changelog.Window) string {
	t.Helper()
	out := []byte{'{'}
	for p, err := range l.Answer(k, id, w) {
		if err != nil {
			t.Fatal(err)
		}
		if p.Text != nil {
			out = append(out, p.Text...)
			continue
		}
		g := p.Segment
		raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(append(bytes.Clone(g.Stored), 3, 0))))
		if err != nil {
			t.Fatal(err)
		}
		if g.RawLen != uint32(len(raw)) || g.CRC != crc32.ChecksumIEEE(raw) || g.Op != release.CRCOp(uint64(len(raw))) || g.Hash != release.HashOf(raw) {
			t.Errorf("segment of %s %d: %d bytes, its row says otherwise", k, id, len(raw))
		}
		out = append(out, raw...)
	}
	if !json.Valid(out) {
		t.Errorf("changes of %s %d are no JSON: %s", k, id, out)
	}
	return string(out)
}

// A change is an item under its key.
type change struct {
	Key   string
	Items []struct {
		ID            string          `json:"id"`
		Action        string          `json:"action"`
		Time          string          `json:"time"`
		ISO639        string          `json:"iso_639_1"`
		ISO3166       string          `json:"iso_3166_1"`
		Value         json.RawMessage `json:"value"`
		OriginalValue json.RawMessage `json:"original_value"`
	}
}

// lines returns the items of an answer in short: "title en-US updated "B" for "A"".
func lines(t *testing.T, text string) (out []string) {
	t.Helper()
	var a struct{ Changes []change }
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	ids := map[string]bool{}
	for _, c := range a.Changes {
		for _, it := range c.Items {
			if ids[it.ID] || len(it.ID) != 24 {
				t.Errorf("id %q is there twice, or not one of 24 digits", it.ID)
			}
			ids[it.ID] = true
			s := c.Key
			if it.ISO639 != "" {
				s += " " + it.ISO639
			}
			if it.ISO3166 != "" {
				s += "-" + it.ISO3166
			}
			s += " " + it.Action
			if it.Value != nil {
				s += " " + string(it.Value)
			}
			if it.OriginalValue != nil {
				s += " for " + string(it.OriginalValue)
			}
			out = append(out, s)
		}
	}
	return out
}

// listed returns the ids of a list, with what is not false of them.
func listed(l *changelog.Log, k fragment.Kind, w changelog.Window) (out []string) {
	rows, _ := l.List(nil, k, w, 1, 1<<20)
	for _, r := range rows {
		s := fmt.Sprint(r.ID)
		if r.Adult != changelog.No {
			s += " adult " + r.Adult.String()
		}
		if r.Softcore != changelog.No {
			s += " softcore " + r.Softcore.String()
		}
		out = append(out, s)
	}
	return out
}
