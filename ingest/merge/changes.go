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

// maxDetailed limits the new resources of a kind whose details are logged.
var maxDetailed = 10_000 // tests lower it

// A changelog collects the changes of an ingest, see catalog.LoggedChange. A changed episode also adds a change "episode" to
// its season, and a changed season a change "season" to its series, so that clients can find them. The first records of a
// kind are not logged.
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

// add adds the changes of a resource. A nil record means that the resource does not exist. first means that the catalogue
// had no record of the kind.
func (c *changelog) add(kind fragment.Kind, key catalog.Key, old, now record.Record, first bool) error {
	switch {
	case kind == fragment.KindEpisode:
		c.addEpisode(key, old, now, first)
	case first || old.IsNil() && now.IsNil():
	case kind == fragment.KindSeason:
		c.addSeason(key, old, now)
	case kind == fragment.KindMovie || kind == fragment.KindTV || kind == fragment.KindPerson:
		c.put(kind, int64(key.ID()), c.compare(kind, old, now))
	}
	return c.err
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

// addSeason adds the changes of a season and of the episodes in it.
func (c *changelog) addSeason(key catalog.Key, old, now record.Record) {
	episodes := map[int64][2]record.Record{} // by number, before and after
	for i, r := range []record.Record{old, now} {
		for e := range r.Each("episodes") {
			n := e.IntNamed("episode_number").V
			pair := episodes[n]
			pair[i] = e
			episodes[n] = pair
		}
	}
	var inEpisodes []change
	for _, n := range slices.Sorted(maps.Keys(episodes)) {
		if e := episodes[n]; e[0].IsNil() || e[1].IsNil() || !record.Equal(e[0], e[1]) {
			inEpisodes = append(inEpisodes, c.addPart(fragment.KindEpisode, e[0], e[1], record.Record{}, nil)...)
		}
	}
	c.put(fragment.KindTV, int64(key.ID()), c.addPart(fragment.KindSeason, old, now, record.Record{}, inEpisodes))
}

// addEpisode adds the changes of an episode that has its own record. If the catalogue had it only in its season's record, it
// is compared with that. Calls must be in the order of the keys.
func (c *changelog) addEpisode(key catalog.Key, old, now record.Record, first bool) {
	seasons := catalog.TypeOf(fragment.KindSeason)
	stored := filepath.Join(c.m.Catalog, seasons.File())
	if first {
		if _, err := os.Stat(stored); err != nil {
			return // the catalogue had neither episodes nor seasons, which contain episodes
		}
	}
	if c.seasons == nil {
		path := filepath.Join(c.m.Out, seasons.File())
		if _, err := os.Stat(path); err != nil {
			path = stored
		}
		if c.seasons, c.err = openStored(path, seasons, "id", "series_id", "season_number", "episodes"); c.err != nil {
			return
		}
	}
	seasonKey := catalog.SeasonKey(int64(key.ID()), int64(key.Season()))
	if c.err = c.seasons.seek(seasonKey); c.err != nil {
		return
	}
	season := &catalog.Season{SeasonNumber: record.Number(int64(key.Season()))}
	if !c.seasons.next.IsNil() && c.seasons.key == seasonKey {
		season = record.As[catalog.Season](c.seasons.next)
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
	if changes := c.addPart(fragment.KindEpisode, old, now, inSeason, nil); changes != nil {
		c.put(fragment.KindSeason, season.ID.V, changes)
		r := record.Of(season)
		c.put(fragment.KindTV, int64(key.ID()), []change{partChange(fragment.KindSeason, r, r, r)})
	}
}

// addPart adds the changes of a season or an episode, including its episodes' changes, and returns the change to add to its
// series or season, or nil. now, old or fallback has the id.
func (c *changelog) addPart(kind fragment.Kind, old, now, fallback record.Record, inParts []change) []change {
	changes := c.compare(kind, old, now)
	if !now.IsNil() {
		changes = append(changes, inParts...)
	}
	if len(changes) == 0 {
		return nil
	}
	c.put(kind, firstInt("id", now, old, fallback), changes)
	return []change{partChange(kind, old, now, fallback)}
}

// firstInt returns an integer field of the first record that has it, or 0.
func firstInt(name string, records ...record.Record) int64 {
	for _, r := range records {
		if !r.IsNil() && r.IntNamed(name).V != 0 {
			return r.IntNamed(name).V
		}
	}
	return 0
}

// partChange returns the change of a series or season by one of its parts: the part's id and number.
func partChange(kind fragment.Kind, old, now, fallback record.Record) change {
	id, number := firstInt("id", now, old, fallback), firstInt(kind.String()+"_number", now, old, fallback)
	value := fmt.Sprintf(`{"%[1]s_id":%[2]d,"%[1]s_number":%[3]d}`, kind, id, number)
	c := change{field: kind.String()}
	if !old.IsNil() {
		c.old = value
	}
	if !now.IsNil() {
		c.new = value
	}
	return c
}

// put adds the changes of a resource. It drops them if the id is unknown, because no request could find them.
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

// firstNew is added to the numbers of new changes, so that they stay in order and follow the logged ones.
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
	sorted, err := c.m.Changes.Sort(ctx, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sorted.Close()) }()
	w, err := catalog.CreateChanges(c.m.Out)
	if err != nil {
		return err
	}
	var last []byte
	seen := map[string]bool{} // new changes with key last: a season and its episode may have the same change
	err = sorted.Each(func(key, payload []byte) error {
		if !bytes.Equal(key, last) {
			last = append(last[:0], key...)
			clear(seen)
		}
		text := string(payload[4:])
		if binary.BigEndian.Uint32(payload) >= firstNew {
			if seen[text] {
				return nil
			}
			seen[text] = true
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
	defer func() { _ = f.Close() }() // opened for reading: nothing is lost
	rows := f.Groups(0, f.RowGroups())
	if fields != nil {
		rows = f.Select(fields, 0, f.RowGroups())
	}
	return rows.Each(ctx, func(r record.Record) error {
		fn(record.As[catalog.LoggedChange](r))
		return nil
	})
}

// TimeOfChanges returns the time of an ingest's changes: wanted, or else start. A wanted time before the last logged change
// is an error. A start before it, from a wrong clock, is replaced by the time of the last logged change.
func TimeOfChanges(ctx context.Context, dir string, wanted, start time.Time) (time.Time, error) {
	latest := int64(0)
	err := eachLogged(ctx, dir, []string{"time"}, func(row *catalog.LoggedChange) { latest = max(latest, row.Time.V) })
	switch last := time.Unix(latest, 0).UTC(); {
	case err != nil:
		return wanted, err
	case wanted.IsZero() && last.After(start):
		return last, nil
	case wanted.IsZero():
		return start.UTC().Truncate(time.Second), nil
	case wanted.Before(last):
		return wanted, fmt.Errorf("date %s: catalogue %s already has changes of %s, which is later", wanted.UTC().Format(time.RFC3339), dir, last.Format(time.RFC3339))
	}
	return wanted.UTC().Truncate(time.Second), nil
}
