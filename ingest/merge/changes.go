package merge

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// maxDetailed is up to how many new resources of a kind changes have the details of.
var maxDetailed = 10_000 // tests lower it

// A changelog collects the changes of an ingest: see catalog.LoggedChange. A changed episode is also a change "episode" of
// its season, and a changed season is a change "season" of its series, so that clients can follow them. The first records of
// a kind make no changes.
type changelog struct {
	m       *Merger
	differ  differ
	seasons *storedFile // file of the new catalogue; nil before the first episode
	created map[fragment.Kind]int
	n       uint32 // changes so far
	key     []byte
	payload []byte
	err     error
}

// add adds the change of a resource. A nil record means that the resource does not exist. first is set if the catalogue had
// no record of the kind.
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

// compare returns the changes of one resource. They are valid until the next call.
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

// season adds the changes of a season and of the episodes in it.
func (c *changelog) season(key catalog.Key, old, now record.Record) {
	episodes := map[int64][2]record.Record{} // by number, before and after
	for i, r := range []record.Record{old, now} {
		for e := range r.Each("episodes") {
			n := e.IntNamed("episode_number").V
			both := episodes[n]
			both[i] = e
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

// episode adds the changes of an episode that has its own record. If its season's record has it too, it is not new and is
// compared with its fields there.
func (c *changelog) episode(key catalog.Key, old, now record.Record, first bool) {
	season, err := c.seasonOf(key)
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

// seasonOf returns the season of an episode in the new catalogue, with its ids, numbers and episodes, or nil. Calls must come
// in the order of the episodes' keys.
func (c *changelog) seasonOf(episode catalog.Key) (*catalog.Season, error) {
	if c.seasons == nil {
		t := catalog.TypeOf(fragment.KindSeason)
		path := filepath.Join(c.m.Out, t.File())
		if _, err := os.Stat(path); err != nil {
			path = filepath.Join(c.m.Catalog, t.File())
		}
		var err error
		if c.seasons, err = openStored(path, t, "id", "series_id", "season_number", "episodes"); err != nil {
			return nil, err
		}
	}
	key := catalog.SeasonKey(int64(episode.ID()), int64(episode.Season()))
	if err := c.seasons.seek(key); err != nil || c.seasons.next.IsNil() || c.seasons.key != key {
		return nil, err
	}
	return record.As[catalog.Season](c.seasons.next), nil
}

// part adds the changes of a season or an episode, with news among them, and returns the change of its series or season; nil
// if nothing changed. Only a third record may have its id.
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

// known returns an integer field of the first record that has it, or 0.
func known(name string, records ...record.Record) int64 {
	for _, r := range records {
		if !r.IsNil() && r.IntNamed(name).V != 0 {
			return r.IntNamed(name).V
		}
	}
	return 0
}

// numbered returns the change of a series or season by one of its parts: the part's id and number.
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

// put adds the changes of a resource. Without an id they are dropped: no path leads to them.
func (c *changelog) put(kind fragment.Kind, id int64, changes []change) {
	for i := range changes {
		if id <= 0 || c.err != nil {
			return
		}
		v := &changes[i]
		c.sort(&catalog.LoggedChange{
			Kind: record.Text(kind.String()), ID: record.Number(id), Field: record.Text(v.field), Time: record.Number(c.m.Time.Unix()),
			ISO639: record.String{V: v.language, Set: v.language != ""}, ISO3166: record.String{V: v.country, Set: v.country != ""},
			Old: record.Raw{V: v.old, Set: v.old != ""}, New: record.Raw{V: v.new, Set: v.new != ""},
		}, firstNew)
	}
}

// firstNew is added to the numbers of new changes: changes of a field stay in order and follow logged ones.
const firstNew = 1 << 31

// sort sorts a change.
func (c *changelog) sort(row *catalog.LoggedChange, first uint32) {
	c.n++
	c.key = row.AppendKey(c.key[:0])
	c.payload = record.AppendBinary(binary.BigEndian.AppendUint32(c.payload[:0], first+c.n), record.Of(row))
	c.err = errors.Join(c.err, c.m.Changes.Add(0, c.key, c.payload))
}

// write writes the catalogue's log and the changes of this ingest, if there are any.
func (c *changelog) write(ctx context.Context) (err error) {
	if c.m.Changes.Len() == 0 {
		return nil
	}
	oldest := c.m.Time.Add(-catalog.ChangesKept).Unix()
	err = eachLogged(ctx, c.m.Catalog, nil, func(row *catalog.LoggedChange) {
		if row.Time.V >= oldest {
			c.sort(row, 0)
		}
	})
	if err = errors.Join(err, c.err); err != nil {
		return err
	}
	it, err := c.m.Changes.Sort(ctx, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	w, err := catalog.CreateChanges(c.m.Out)
	if err != nil {
		return err
	}
	var last []byte
	have := map[string]bool{} // new changes of last: a season and its episode may have the same change
	err = it.Each(func(key, payload []byte) error {
		if !bytes.Equal(key, last) {
			last = append(last[:0], key...)
			clear(have)
		}
		text := string(payload[4:])
		if binary.BigEndian.Uint32(payload) >= firstNew {
			if have[text] {
				return nil
			}
			have[text] = true
		}
		row := record.Of(new(catalog.LoggedChange))
		if err := record.DecodeBinary(text, row); err != nil {
			return err
		}
		return w.Write(row)
	})
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Commit()
}

// eachLogged calls fn with the logged changes of a catalogue. Only the given fields are read; nil reads all. fn must not keep
// the changes.
func eachLogged(ctx context.Context, dir string, fields []string, fn func(*catalog.LoggedChange)) error {
	f, err := catalog.OpenChanges(dir)
	if f == nil || err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read side: nothing to lose
	rows := f.Groups(0, f.RowGroups())
	if fields != nil {
		rows = f.Select(fields, 0, f.RowGroups())
	}
	return rows.Each(ctx, func(r record.Record) error {
		fn(record.As[catalog.LoggedChange](r))
		return nil
	})
}

// TimeOfChanges returns the time of the changes of an ingest: wanted, or else start. A wanted time before the last logged
// change is an error. Without a wanted time, the last logged change is the earliest time, since clocks may go wrong.
func TimeOfChanges(ctx context.Context, dir string, wanted, start time.Time) (time.Time, error) {
	latest := int64(0)
	err := eachLogged(ctx, dir, []string{"time"}, func(row *catalog.LoggedChange) { latest = max(latest, row.Time.V) })
	switch at := time.Unix(latest, 0).UTC(); {
	case err != nil:
		return wanted, err
	case wanted.IsZero() && at.After(start):
		return at, nil
	case wanted.IsZero():
		return start.UTC().Truncate(time.Second), nil
	case wanted.Before(at):
		return wanted, fmt.Errorf("changes of %s: catalogue %s has changes of %s, which is later", wanted.UTC().Format(time.RFC3339), dir, at.Format(time.RFC3339))
	}
	return wanted.UTC().Truncate(time.Second), nil
}
