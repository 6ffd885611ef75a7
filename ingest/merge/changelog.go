package merge

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// maxDetailed is up to how many new resources of a kind changes have the details of.
const maxDetailed = 10_000

// A changelog collects what an ingest changes: see catalog.LoggedChange. The changes of an episode are a change
// "episode" of its season, and those of a season a change "season" of its series, so that clients can follow them.
// The first records of a kind are no changes: then everything is new.
type changelog struct {
	m       *Merger
	differ  differ
	seasons seasons
	created map[fragment.Kind]int
	n       uint32 // changes so far: those of a field stay in their order
	row     catalog.LoggedChange
	key     []byte
	payload []byte
	err     error
}

// add adds what became of a resource. Nil records are of one that is not there. first tells that the catalogue
// had no record of the kind.
func (c *changelog) add(kind fragment.Kind, key catalog.Key, old, now record.Record, first bool) error {
	switch {
	case kind == fragment.KindEpisode && first && !c.hadSeasons(): // seasons hold episodes, too
	case kind == fragment.KindEpisode:
		c.episode(key, old, now, first)
	case first || old.IsNil() && now.IsNil():
	case kind == fragment.KindSeason:
		c.season(key, old, now)
	case kind == fragment.KindMovie || kind == fragment.KindTV || kind == fragment.KindPerson:
		c.put(kind, int64(key.ID()), c.compare(kind, old, now))
	}
	return c.err
}

// hadSeasons reports whether the catalogue had seasons before.
func (c *changelog) hadSeasons() bool {
	_, err := os.Stat(filepath.Join(c.m.Catalog, catalog.TypeOf(fragment.KindSeason).File()))
	return err == nil
}

// compare returns the changes of a resource by itself. They are valid until the next call.
func (c *changelog) compare(kind fragment.Kind, old, now record.Record) []change {
	if now.IsNil() {
		return []change{{field: catalog.FieldGeneral, old: "true"}}
	}
	c.differ.compare(kind, old, now)
	if old.IsNil() {
		if c.created[kind]++; c.created[kind] > maxDetailed {
			return c.differ.changes[:1]
		}
	}
	return c.differ.changes
}

// season adds what became of a season and the episodes in it.
func (c *changelog) season(key catalog.Key, old, now record.Record) {
	episodes := map[int64][2]record.Record{} // by number, before and after
	for i, r := range []record.Record{old, now} {
		for _, e := range at(r, "episodes", record.Record{}) {
			n := e.record.IntNamed("episode_number").V
			both := episodes[n]
			both[i] = e.record
			episodes[n] = both
		}
	}
	var news []change
	for _, n := range slices.Sorted(maps.Keys(episodes)) {
		if e := episodes[n]; e[0].IsNil() || e[1].IsNil() || !record.Equal(e[0], e[1]) {
			news = append(news, c.part(fragment.KindEpisode, e[0], e[1], record.Record{}, nil)...)
		}
	}
	c.put(fragment.KindTV, int64(key.ID()), c.part(fragment.KindSeason, old, now, record.Record{}, news))
}

// episode adds what became of an episode that has a record by itself. The season's record may have it too: then it
// is not new, and its fields are those that it has there.
func (c *changelog) episode(key catalog.Key, old, now record.Record, first bool) {
	season, err := c.seasons.find(c.m, catalog.SeasonKey(int64(key.ID()), int64(key.Season())))
	if err != nil {
		c.err = err
		return
	}
	if season == nil {
		season = &catalog.Season{SeasonNumber: record.Number(int64(key.Season()))}
	}
	var inSeason record.Record
	for i := range season.Episodes {
		if season.Episodes[i].EpisodeNumber.V == int64(key.Episode()) {
			inSeason = record.Of(&season.Episodes[i])
		}
	}
	if old.IsNil() {
		old = inSeason
	}
	if old.IsNil() && (first || now.IsNil()) {
		return
	}
	if news := c.part(fragment.KindEpisode, old, now, inSeason, nil); news != nil {
		c.put(fragment.KindSeason, season.ID.V, news)
		of := record.Of(season)
		c.put(fragment.KindTV, int64(key.ID()), []change{numbered(fragment.KindSeason, of, of, of)})
	}
}

// part adds the changes of a season or an episode, news among them, and returns the change of what it is a part of; none
// where nothing has changed. Its id may be known from a third record alone.
func (c *changelog) part(kind fragment.Kind, old, now, third record.Record, news []change) []change {
	changes := c.compare(kind, old, now)
	if !now.IsNil() {
		changes = append(changes, news...)
	}
	if len(changes) == 0 {
		return nil
	}
	c.put(kind, known("id", now, old, third), changes)
	return []change{numbered(kind, old, now, third)}
}

// known returns an integer that one of the records has, the first of them; 0 for none.
func known(name string, records ...record.Record) int64 {
	for _, r := range records {
		if !r.IsNil() && r.IntNamed(name).V != 0 {
			return r.IntNamed(name).V
		}
	}
	return 0
}

// numbered returns the change of a series or a season that one of its parts is: the id and the number of that.
func numbered(kind fragment.Kind, old, now, third record.Record) change {
	value := fmt.Sprintf(`{"%[1]s_id":%[2]d,"%[1]s_number":%[3]d}`, kind, known("id", now, old, third), known(kind.String()+"_number", now, old, third))
	c := change{field: kind.String()}
	if !old.IsNil() {
		c.old = value
	}
	if !now.IsNil() {
		c.new = value
	}
	return c
}

// put adds the changes of a resource. Without an id no path leads to them.
func (c *changelog) put(kind fragment.Kind, id int64, changes []change) {
	for i := range changes {
		if id <= 0 || c.err != nil {
			return
		}
		v := &changes[i]
		c.row = catalog.LoggedChange{
			Kind: record.Text(kind.String()), ID: record.Number(id), Field: record.Text(v.field), Time: record.Number(c.m.Time.Unix()),
			ISO639: record.String{V: v.language, Set: v.language != ""}, ISO3166: record.String{V: v.country, Set: v.country != ""},
			Old: record.Raw{V: v.old, Set: v.old != ""}, New: record.Raw{V: v.new, Set: v.new != ""},
		}
		c.n++
		c.key = c.row.AppendKey(c.key[:0])
		c.payload = record.AppendBinary(binary.BigEndian.AppendUint32(c.payload[:0], c.n), record.Of(&c.row))
		c.err = c.m.Changes.Add(0, c.key, c.payload)
	}
}

// write writes the log of the catalogue with the changes of this ingest, if there are any.
func (c *changelog) write(ctx context.Context) (err error) {
	if c.m.Changes.Len() == 0 {
		return nil
	}
	old, err := openLogged(c.m.Catalog)
	if err != nil {
		return err
	}
	defer old.close()
	it, err := c.m.Changes.Sort(ctx, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	w, err := catalog.CreateChanges(c.m.Out)
	if err != nil {
		return err
	}
	if err := c.writeTo(w, old, it); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Commit()
}

func (c *changelog) writeTo(w *catalog.Writer, old *logged, it *extsort.Iterator) error {
	oldest := c.m.Time.Add(-catalog.ChangesKept).Unix()
	// before writes the old changes up to those of a key, nil for all.
	before := func(key []byte) error {
		for ; old.next != nil; old.read() {
			if key != nil && bytes.Compare(old.next.AppendKey(nil), key) > 0 {
				break
			}
			if old.next.Time.V >= oldest {
				if err := w.Write(record.Of(old.next)); err != nil {
					return err
				}
			}
		}
		return old.err
	}
	var last []byte
	have := map[string]bool{} // of last: a season and an episode of it may tell of the same
	for {
		key, payload, err := it.Next()
		if errors.Is(err, io.EOF) {
			return before(nil)
		}
		if err == nil && !bytes.Equal(key, last) {
			last = append(last[:0], key...)
			clear(have)
			err = before(key)
		}
		if err != nil {
			return err
		}
		text := string(payload[4:])
		if have[text] {
			continue
		}
		have[text] = true
		row := new(catalog.LoggedChange)
		if err := record.DecodeBinary(text, record.Of(row)); err != nil {
			return err
		}
		if err := w.Write(record.Of(row)); err != nil {
			return err
		}
	}
}

// logged is the stream of the changes that a catalogue has logged.
type logged struct {
	file *catalog.File
	rows *catalog.Rows
	next *catalog.LoggedChange // nil at the end
	err  error
}

// openLogged opens the stream, of some fields alone or, with none, whole.
func openLogged(dir string, fields ...string) (*logged, error) {
	f, err := catalog.OpenChanges(dir)
	if f == nil || err != nil {
		return &logged{}, err
	}
	l := &logged{file: f, rows: f.Groups(0, f.RowGroups())}
	if len(fields) > 0 {
		l.rows = f.Select(fields, 0, f.RowGroups())
	}
	l.read()
	return l, l.err
}

func (l *logged) read() {
	l.next = new(catalog.LoggedChange)
	if err := l.rows.Next(record.Of(l.next)); err != nil {
		l.next = nil
		if !errors.Is(err, io.EOF) {
			l.err = err
		}
	}
}

func (l *logged) close() {
	if l.file != nil {
		l.rows.Close()
		_ = l.file.Close() // read side: nothing to lose
	}
}

// TimeOfChanges returns the time of the changes of an ingest into a catalogue: the one that is wanted, which is an
// error before those that are logged, or else that of the start. Clocks may go wrong: changes that are logged are over.
func TimeOfChanges(dir string, wanted, start time.Time) (time.Time, error) {
	l, err := openLogged(dir, "time")
	if err != nil {
		return wanted, err
	}
	defer l.close()
	latest := int64(0)
	for ; l.next != nil; l.read() {
		latest = max(latest, l.next.Time.V)
	}
	switch at := time.Unix(latest, 0).UTC(); {
	case l.err != nil:
		return wanted, l.err
	case wanted.IsZero() && at.After(start):
		return at, nil
	case wanted.IsZero():
		return start.UTC().Truncate(time.Second), nil
	case wanted.Before(at):
		return wanted, fmt.Errorf("changes of %s: catalogue %s has changes of %s, which is later", wanted.UTC().Format(time.RFC3339), dir, at.Format(time.RFC3339))
	}
	return wanted.UTC().Truncate(time.Second), nil
}

// seasons looks up the seasons of the new catalogue, in order of their keys.
type seasons struct {
	file   *catalog.File // nil for none
	firsts []catalog.Key // of each row group
	rows   *catalog.Rows // of the row group before group
	group  int
	next   *catalog.Season
	key    catalog.Key // of next
}

// find returns the season of a key, nil for none: its ids and numbers, and its episodes.
func (s *seasons) find(m *Merger, key catalog.Key) (*catalog.Season, error) {
	if s.firsts == nil {
		if err := s.open(m); err != nil {
			return nil, err
		}
	}
	for s.next == nil || s.key.Compare(key) < 0 {
		if s.rows == nil || s.group < len(s.firsts) && s.firsts[s.group].Compare(key) <= 0 {
			for s.group+1 < len(s.firsts) && s.firsts[s.group+1].Compare(key) <= 0 {
				s.group++
			}
			if s.group >= len(s.firsts) {
				return nil, nil
			}
			if s.rows != nil {
				s.rows.Close()
			}
			s.rows = s.file.Select([]string{"id", "series_id", "season_number", "episodes"}, s.group, s.group+1)
			s.group++
		}
		next := new(catalog.Season)
		err := s.rows.Next(record.Of(next))
		if errors.Is(err, io.EOF) {
			return nil, nil // the key lies behind the last season of the row group
		}
		if err == nil {
			s.key, err = catalog.TypeOf(fragment.KindSeason).Key(record.Of(next))
		}
		if err != nil {
			return nil, err
		}
		s.next = next
	}
	if s.key != key {
		return nil, nil
	}
	return s.next, nil
}

func (s *seasons) open(m *Merger) (err error) {
	t := catalog.TypeOf(fragment.KindSeason)
	path := filepath.Join(m.Out, t.File())
	if _, err := os.Stat(path); err != nil {
		path = filepath.Join(m.Catalog, t.File())
	}
	s.firsts = []catalog.Key{}
	if s.file, err = catalog.OpenIfAny(path, t); s.file == nil || err != nil {
		return err
	}
	s.firsts, err = s.file.FirstKeys()
	return err
}

func (s *seasons) close() {
	if s.rows != nil {
		s.rows.Close()
	}
	_ = s.file.Close() // read side: nothing to lose
}
