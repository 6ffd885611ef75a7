package build

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/renameio/v2"
	"github.com/zeebo/xxh3"

	"reelsplice/build/ledger"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// divisionFile lies in a release's folder, beside the ledgers.
const divisionFile = "ledger.json"

// A division says how the work of a build was divided, and what made it. A build that
// keeps what another one made divides its work alike, so that ledgers and shards meet.
type division struct {
	Release string           `json:"release"` // whose folder the file is made for
	Mark    string           `json:"mark"`    // hex, of its ledgers
	Program string           `json:"program"` // sum of the program: another one may make something else
	Level   int              `json:"level"`
	Rows    map[string]int64 `json:"rows"`       // of the catalogue, by kind, when the work was divided
	Whole   int64            `json:"full_bytes"` // of the packs of the last build that kept nothing
	Movies  []spanJSON       `json:"movies"`
	Series  []spanJSON       `json:"series"`
	Reduce  []reduceJSON     `json:"reduce"` // in the order of their partitions
	Finds   int              `json:"finds"`
	// Names is what index.Collector.WriteTables returned.
	Names map[string]string `json:"names"`
}

type spanJSON struct {
	From catalog.Key  `json:"from"`
	To   *catalog.Key `json:"to"` // nil when the span is open
}

type reduceJSON struct {
	Kind  uint8      `json:"kind"`
	Spans []spanJSON `json:"spans"`
	Subs  int        `json:"subs"`
}

func spansJSON(spans []span) []spanJSON {
	out := make([]spanJSON, len(spans))
	for i, s := range spans {
		out[i].From = s.from
		if !s.open {
			out[i].To = &s.to
		}
	}
	return out
}

func spansFrom(list []spanJSON) []span {
	out := make([]span, len(list))
	for i, s := range list {
		out[i] = span{from: s.From, open: s.To == nil}
		if s.To != nil {
			out[i].to = *s.To
		}
	}
	return out
}

// division returns how the work is divided.
func (p *plan) division() division {
	d := division{Movies: spansJSON(p.movies), Series: spansJSON(p.series), Finds: p.finds}
	for _, kind := range p.reduceOrder {
		r := p.reduce[kind]
		d.Reduce = append(d.Reduce, reduceJSON{uint8(kind), spansJSON(r.spans), r.subs})
	}
	return d
}

// divideAs divides the work as d says.
func (p *plan) divideAs(d *division) {
	p.movies, p.series, p.finds = spansFrom(d.Movies), spansFrom(d.Series), d.Finds
	p.reduce, p.reduceOrder, p.partitions = map[fragment.Kind]*reducePlan{}, nil, 0
	for _, r := range d.Reduce {
		kind := fragment.Kind(r.Kind)
		p.addReduce(&reducePlan{kind: kind, spans: spansFrom(r.Spans), subs: r.Subs})
	}
}

// maxGrowth is how many times as large as when the work was divided a kind may be, or how
// many times as small.
const maxGrowth = 2

// maxGarbage is how many times as many bytes as a build that keeps nothing the packs of a
// release may have.
const maxGarbage = 1.5

// recallDivision finds out whether the previous release can be kept from, unless it is damaged,
// and divides the work as it was then.
func (b *builder) recallDivision() {
	if b.previous == nil || b.Full {
		return
	}
	d, err := readDivision(filepath.Join(b.previousDir(), divisionFile))
	if err == nil {
		err = b.fits(d)
	}
	if err != nil {
		b.Log.Info("all of the release is made anew", "because", err)
		return
	}
	b.plan.divideAs(d)
	b.recalled, _ = ledger.ParseMark(d.Mark)
	b.keeping, b.dividedAt, b.whole, b.named = true, d.Rows, d.Whole, d.Names
}

// checkKept returns errUnkept when the previous release, which is kept from, is damaged.
func (b *builder) checkKept(ctx context.Context) error {
	if !b.keeping {
		return nil
	}
	err := release.CheckKept(ctx, b.Releases, b.previous)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", errUnkept, err)
}

func (b *builder) previousDir() string { return release.Store{Dir: b.Releases}.Path(b.Previous) }

func readDivision(path string) (*division, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errors.New("the previous release has no ledgers")
	}
	if err != nil {
		return nil, err
	}
	d := &division{}
	if err := json.Unmarshal(data, d); err != nil {
		return nil, fmt.Errorf("%s of the previous release: %w", divisionFile, err)
	}
	return d, nil
}

// fits tells why nothing can be kept; nil when it can.
func (b *builder) fits(d *division) error {
	_, marked := ledger.ParseMark(d.Mark)
	switch {
	case d.Release != b.Previous:
		return fmt.Errorf("%s of the previous release is that of release %q", divisionFile, d.Release)
	case !marked:
		return fmt.Errorf("%s of the previous release has the mark %q, want 32 hex digits", divisionFile, d.Mark)
	case d.Program == "" || d.Program != programSum():
		return errors.New("another program made the previous release")
	case d.Level != b.Level:
		return fmt.Errorf("the previous release has level %d", d.Level)
	case !b.plan.isWhole(d):
		return fmt.Errorf("%s of the previous release does not divide all of the work", divisionFile)
	case float64(b.previous.Manifest().Counts.StoredBytes) > maxGarbage*float64(d.Whole):
		return errors.New("too much of the packs of the previous release is in use no longer")
	}
	var as plan
	as.divideAs(d)
	if !release.CanKeep(b.previous, as.shards()+1) {
		return errors.New("the previous release has too many packs")
	}
	return sameSize(d.Rows, b.records())
}

// isWhole tells whether d divides all of the work: the same kinds, and all keys of each.
func (p *plan) isWhole(d *division) bool {
	if !isEverything(d.Movies) || !isEverything(d.Series) || d.Finds < 1 || len(d.Reduce) != len(p.reduceOrder) {
		return false
	}
	for i, r := range d.Reduce {
		if fragment.Kind(r.Kind) != p.reduceOrder[i] || !isEverything(r.Spans) || r.Subs < 1 {
			return false
		}
	}
	return true
}

// isEverything tells whether spans have each key once, in order.
func isEverything(list []spanJSON) bool {
	var at catalog.Key
	for i, s := range list {
		last := i == len(list)-1
		if s.From != at || last != (s.To == nil) || !last && s.To.Compare(s.From) <= 0 {
			return false
		}
		if !last {
			at = *s.To
		}
	}
	return len(list) > 0
}

// sameSize tells which kind has grown or shrunk too much: shards grow with their kinds, and
// what packs have of records that are gone is garbage. Both count records, by kind.
func sameSize(was, is map[string]int64) error {
	for kind, n := range is {
		if n > maxGrowth*was[kind]+1000 {
			return fmt.Errorf("there are %d records of %s, %d when the work was divided", n, kind, was[kind])
		}
	}
	for kind, n := range was {
		if n > maxGrowth*is[kind]+1000 {
			return fmt.Errorf("there are %d records of %s, %d when the work was divided", is[kind], kind, n)
		}
	}
	return nil
}

// writeDivision writes how the work was divided into the folder of the release in the
// making, whose id is known.
func (b *builder) writeDivision(w *release.Writer, id string) error {
	d := b.plan.division()
	d.Release, d.Mark = id, b.mark.String()
	d.Program, d.Level, d.Rows, d.Whole = programSum(), b.Level, b.dividedAt, b.whole
	d.Names = b.names
	if !b.keeping {
		d.Whole = w.StoredBytes()
	}
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return renameio.WriteFile(w.Aside(divisionFile), data, 0o644)
}

// programSum returns the 128-bit xxh3 of the program that runs, "" when it cannot be read. It
// tells programs apart, and nothing that anybody could want to forge follows from it.
var programSum = sync.OnceValue(func() string {
	f, err := openProgram()
	if err != nil {
		return ""
	}
	defer f.Close()
	h := xxh3.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	sum := h.Sum128().Bytes()
	return hex.EncodeToString(sum[:])
})

// openProgram opens the program that runs: on Linux that one itself, since another one may
// have been given its name.
func openProgram() (*os.File, error) {
	if f, err := os.Open("/proc/self/exe"); err == nil {
		return f, nil
	}
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}
