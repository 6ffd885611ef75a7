package ingest

import (
	"context"
	"fmt"
	"slices"

	"reelsplice/ingest/join"
	"reelsplice/ingest/layout"
	"reelsplice/ingest/layout/tmdb"
	"reelsplice/ingest/quarantine"
	"reelsplice/ingest/report"
	"reelsplice/ingest/source"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/record"
)

// streams are the records of one kind that are merged, each stream in order of keys.
type streams struct {
	*ingester
	typ          *catalog.Type
	old, overlay *stored
	gone         *removals // what the catalogue knew to be removed
	in           *incoming

	top     bool                  // the file is an overlay: what is removed is a record of it
	recent  *catalog.RecentWriter // nil where none is written
	before  []byte                // binary forms of the record at hand
	after   []byte
	choice  *choice
	givers  givers
	counts  report.Records
	removed []catalog.Removed // by key: of this kind, now

	mintKey  catalog.Key // of the last minted id
	mintHash uint64      // and what it was made of
}

// A version is what is known of a resource: its record, or that it was removed, and then
// the record says so. The zero value is of one that nobody spoke of.
type version struct {
	record  record.Record
	removed *catalog.Removed
}

// versionOf returns what a record says, which is not nil.
func versionOf(t *catalog.Type, r record.Record) version {
	if gone, ok := tmdb.RemovalOf(t, r); ok {
		return version{r, &gone}
	}
	return version{record: r}
}

func (v version) none() bool { return v.record.IsNil() && v.removed == nil }

// under returns what is known when later is said on top of v.
func (v version) under(later version) version {
	switch {
	case later.none():
		return v
	case later.removed != nil || v.removed != nil || v.record.IsNil():
		return later
	}
	join.Merge(v.record, later.record, nil) // news about a record of the catalogue is no conflict
	return v
}

func (s *streams) writeTo(ctx context.Context, w *catalog.Writer) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		key, ok, err := s.lowest()
		if err != nil || !ok {
			return err
		}
		if copied, err := s.copyGroup(w, key); copied || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		v, err := s.one(key)
		switch {
		case err != nil:
			return err
		case v.removed != nil && !s.top:
			s.removed = append(s.removed, *v.removed)
		case !v.record.IsNil():
			if err := w.Write(v.record); err != nil {
				return err
			}
		}
	}
}

// lowest returns the lowest key that any of the streams has next.
func (s *streams) lowest() (key catalog.Key, found bool, err error) {
	news := func() (catalog.Key, bool, error) { return s.in.peek(s.typ) }
	for _, peek := range []func() (catalog.Key, bool, error){s.old.peek, s.gone.peek, news, s.overlay.peek} {
		next, ok, err := peek()
		if err != nil {
			return key, false, err
		}
		if ok && (!found || next.Compare(key) < 0) {
			key, found = next, true
		}
	}
	return key, found, nil
}

// one joins everything that the streams say about a key: what the catalogue had, then
// the new rows in the order of the sources, then the overlay.
func (s *streams) one(key catalog.Key) (version, error) {
	v := version{removed: s.gone.takeIf(key)}
	if old := s.old.takeIf(key); !old.IsNil() {
		v = versionOf(s.typ, old)
	}
	moved, err := s.takeMoved(key)
	if err != nil {
		return v, err
	}
	news, reset, err := s.news(key)
	if err != nil {
		return v, err
	}
	top := s.overlay.takeIf(key)
	if moved.none() && news.none() && top.IsNil() {
		return v, nil
	}
	there := v.removed == nil && !v.record.IsNil()
	if there {
		s.before = record.AppendBinary(s.before[:0], v.record)
	}
	if reset {
		v = version{}
	} else {
		v = moved.under(v)
	}
	v = v.under(news)
	if !top.IsNil() {
		v = v.under(versionOf(s.typ, top))
	}
	s.note(key, there, v)
	return v, nil
}

// note notes what became of a record. If it was there, s.before is its binary form.
func (s *streams) note(key catalog.Key, there bool, now version) {
	switch {
	case now.removed != nil:
		if there {
			s.counts.Removed++
			s.recent.Remove(key)
		}
		return
	case !there && s.recent == nil:
		s.counts.Added++
		return
	}
	s.after = record.AppendBinary(s.after[:0], now.record)
	switch {
	case !there:
		s.counts.Added++
	case string(s.after) != string(s.before):
		s.counts.Changed++
	default:
		return
	}
	s.recent.Add(key, s.after)
}

// news joins the new rows of a key. They are joined among themselves first, so that only
// they can be in conflict. reset says that a row among them made an end of what the
// catalogue had.
func (s *streams) news(key catalog.Key) (v version, reset bool, err error) {
	for {
		next, ok, err := s.in.peek(s.typ)
		if err != nil || !ok || next != key {
			return v, reset, err
		}
		number := s.in.number
		row, err := s.source(key)
		switch {
		case err != nil:
			return v, reset, err
		case row.none(): // all rows were put aside
			continue
		case row.removed != nil:
			v, reset = row, true
		case v.record.IsNil() || v.removed != nil:
			v = row
			s.choice.begin(number)
			s.givers.begin(number)
		default:
			giver := func(member string) string { return s.in.name(s.givers.of(v.record, member)) }
			s.choice.choose(v.record, row.record, number, func(c join.Conflict) {
				s.conflict(key, c.Member, func() string {
					return fmt.Sprintf("%s in %s, %s in %s: the latter wins, as the precedence says", cut(c.Old), s.in.name(number), cut(c.New), giver(c.Member))
				})
			})
			join.Merge(v.record, row.record, func(c join.Conflict) {
				s.conflict(key, c.Member, func() string {
					return fmt.Sprintf("%s in %s, %s in %s: the later one wins", cut(c.Old), giver(c.Member), cut(c.New), s.in.name(number))
				})
			})
			s.givers.add(row.record, number)
		}
	}
}

// givers knows which source gave each field of the record at hand.
type givers struct {
	first int   // source of the fields that later has no number for
	later []int // by place in the plan: the source's number, counted from 1; 0 for none
}

// begin begins a record that one source gave.
func (g *givers) begin(number int) {
	g.first = number
	clear(g.later)
}

// add notes the fields that another source's row gave.
func (g *givers) add(row record.Record, number int) {
	if g.later == nil {
		g.later = make([]int, len(row.Schema.Fields))
	}
	for n := range row.Schema.Fields {
		if record.Present(row, &row.Schema.Fields[n]) {
			g.later[n] = number + 1
		}
	}
}

// of returns the source that gave a field of the record.
func (g *givers) of(r record.Record, name string) int {
	n := slices.IndexFunc(r.Schema.Fields, func(f record.Field) bool { return f.Name == name })
	if n < 0 || n >= len(g.later) || g.later[n] == 0 {
		return g.first
	}
	return g.later[n] - 1
}

// source returns what one source says about a key that is next: its row, or all those of
// its rows that are parts of the record. Of rows that are no parts, the first counts.
func (s *streams) source(key catalog.Key) (v version, err error) {
	number := s.in.number
	var parts join.Parts
	var first string // the row that counts
	var at source.Place
	for {
		other, err := s.collides(key)
		switch {
		case err != nil:
			return v, err
		case other:
			if err := s.collided(key); err != nil {
				return v, err
			}
		case s.in.part:
			row, err := s.in.take(s.typ)
			if err != nil {
				return v, err
			}
			parts.Add(row, func(c join.Conflict) {
				s.conflict(key, c.Member, func() string {
					return fmt.Sprintf("%s and %s in %s: the latter is kept", cut(c.Old), cut(c.New), s.in.name(number))
				})
			})
		case v.none():
			first, at = s.in.body, s.in.at()
			if v, err = s.takeVersion(); err != nil {
				return v, err
			}
		case s.in.body != first && (v.removed != nil || s.in.removes(s.typ)):
			// A log of what happened: the last row counts.
			first, at = s.in.body, s.in.at()
			if v, err = s.takeVersion(); err != nil {
				return v, err
			}
		default:
			if err := s.again(key, first, at); err != nil {
				return v, err
			}
		}
		next, ok, err := s.in.peek(s.typ)
		if err != nil {
			return v, err
		}
		if !ok || next != key || s.in.number != number {
			break
		}
	}
	if parts.Record.Schema != nil {
		v = v.under(version{record: parts.Settle()})
	}
	return v, nil
}

// takeVersion takes the row at hand.
func (s *streams) takeVersion() (version, error) {
	row, err := s.in.take(s.typ)
	if err != nil {
		return version{}, err
	}
	return versionOf(s.typ, row), nil
}

// again takes a row about a resource of which its source has spoken before: one that says
// the same is passed over, one that says something else is put into quarantine. What a
// row gives beside its first record does not count as a row.
func (s *streams) again(key catalog.Key, first string, at source.Place) error {
	if s.in.body == first {
		s.in.loaded = false
		more := s.in.more
		if !more {
			s.duplicates++
		}
		s.tallies.amend(s.in.number, func(t *report.Tally) {
			t.Unrecord(s.typ.Name())
			if !more {
				t.Unkeep()
				t.Duplicate()
			}
		})
		return nil
	}
	here, more := s.in.at(), s.in.more
	row, err := s.in.take(s.typ)
	if err != nil {
		return err
	}
	return s.putAside(row, here, more, fmt.Sprintf("%s is already at %s, with other content", key.Describe(s.typ.Kind), at))
}

// putAside puts a row of the source at hand into quarantine, which counted as kept.
func (s *streams) putAside(row record.Record, here source.Place, more bool, why string) error {
	in := s.inputOf(s.in.number)
	s.tallies.amend(s.in.number, func(t *report.Tally) {
		t.Unrecord(s.typ.Name())
		if more {
			return
		}
		t.Unkeep()
		t.Quarantined(here.Row, here.String(), "id", why)
	})
	return s.quarantine.Add(quarantine.Entry{
		File: here.File, Path: in.Path, Row: here.Row, Line: here.Line, Field: "id", Reason: why,
		Kind: s.typ.Name(), Layout: layout.TMDB, Record: true, Raw: record.Append(nil, row),
	})
}

// inputOf returns the input of a source.
func (i *ingester) inputOf(number int) input {
	for n := range i.inputs {
		if i.inputs[n].number == number {
			return i.inputs[n]
		}
	}
	return input{}
}

func (s *streams) conflict(key catalog.Key, member string, what func() string) {
	s.conflicts++
	sample := func() string { return key.Describe(s.typ.Kind) + ": " + member + ": " + what() }
	if len(s.samples) < maxSamples {
		s.samples = append(s.samples, sample())
	}
	s.collector.Conflict(s.typ.Name(), member, sample)
}

// cut shortens a value for a message.
func cut(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
