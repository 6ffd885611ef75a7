package catalog

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// ChangesKept is how long the log keeps a change: a day more than the API's longest window.
const ChangesKept = 15 * 24 * time.Hour

// FieldGeneral is the field for changes of the resource itself: New is true for a new one, Old for a removed one.
const FieldGeneral = "general"

// A LoggedChange is a change by an ingest in one field of one resource. changes.parquet, next to the record files,
// has all changes within ChangesKept of the newest, sorted by AppendKey, then by time. It is absent after a single
// ingest.
type LoggedChange struct {
	record.Object
	Kind  record.String `record:"kind,dict"`  // movie, tv, season, episode or person
	ID    record.Int    `record:"id"`         // seasons and episodes have their own IDs
	Field record.String `record:"field,dict"` // named as in the API's changes
	Time  record.Int    `record:"time"`       // time of the ingest, seconds since 1970
	// ISO639 and ISO3166 are the language and the country of a text; unset if it has none.
	ISO639  record.String `record:"iso_639_1,dict"`
	ISO3166 record.String `record:"iso_3166_1,dict"`
	// Old and New are values, or unset. If both are equal, the resource that the value names has changed.
	Old record.Raw `record:"old"`
	New record.Raw `record:"new"`
}

var changesType = &Type{name: "changes", Schema: record.SchemaOf[LoggedChange](), new: func() record.Record { return record.Of(new(LoggedChange)) }}

// AppendKey appends a key that orders changes by kind, id and field.
func (c *LoggedChange) AppendKey(dst []byte) []byte {
	t, ok := TypeNamed(c.Kind.V)
	if ok {
		dst = append(dst, byte(t.Kind))
	}
	return append(binary.BigEndian.AppendUint64(dst, uint64(c.ID.V)), c.Field.V...)
}

// CreateChanges starts the log of changes in a folder. Its records are of type LoggedChange.
func CreateChanges(dir string) (*Writer, error) {
	return Create(filepath.Join(dir, changesType.File()), changesType)
}

// OpenChanges opens the log of changes of a catalogue, or returns nil if it is absent.
func OpenChanges(dir string) (*File, error) {
	return OpenIfAny(filepath.Join(dir, changesType.File()), changesType)
}

// RemovedFile is the name of the catalogue's file with deleted and merged resources. Without any, the file is absent.
const RemovedFile = "removed.parquet"

// A Removed is a resource that no longer exists. It is not served, even if other records refer to it. Removing a
// series removes its seasons and episodes; removing a season removes its episodes.
type Removed struct {
	Kind fragment.Kind
	Key  Key
	// Into is the resource of the same kind that it was merged into; set only if Merged.
	Into   Key
	Merged bool
}

// String returns a readable description: "movie 1, merged into movie 2".
func (r Removed) String() string {
	if !r.Merged {
		return r.Key.Describe(r.Kind) + ", deleted"
	}
	return r.Key.Describe(r.Kind) + ", merged into " + r.Into.Describe(r.Kind)
}

// compare orders removals by kind and key.
func (r Removed) compare(o Removed) int {
	return cmp.Or(cmp.Compare(r.Kind, o.Kind), r.Key.Compare(o.Key))
}

// removedRow is a row of the file. Keys are texts: 550 for a movie, 1399/1/2 for an episode, hex digits for a review.
type removedRow struct {
	record.Object
	Kind       record.String `record:"kind,dict"`
	Key        record.String `record:"key"`
	MergedInto record.String `record:"merged_into"`
}

var removedType = &Type{name: "removed", Schema: record.SchemaOf[removedRow](), new: func() record.Record { return record.Of(new(removedRow)) }}

// removedKey returns a key as text.
func removedKey(kind fragment.Kind, k Key) string {
	switch kind {
	case fragment.KindSeason:
		return fmt.Sprintf("%d/%d", k.ID(), k.Season())
	case fragment.KindEpisode:
		return fmt.Sprintf("%d/%d/%d", k.ID(), k.Season(), k.Episode())
	case fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		return k.text()
	}
	return strconv.FormatUint(k.ID(), 10)
}

// parseRemovedKey is the inverse of removedKey.
func parseRemovedKey(kind fragment.Kind, text string) (k Key, err error) {
	switch kind {
	case fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		k, _ = TextKey(text)
	default:
		var id, season, episode int64
		_, _ = fmt.Sscanf(text, "%d/%d/%d", &id, &season, &episode) // the comparison finds errors
		k = EpisodeKey(id, season, episode)
	}
	if removedKey(kind, k) != text {
		return Key{}, fmt.Errorf("%q is not the key of a %s", text, kind)
	}
	return k, nil
}

// removed returns the removal of a row.
func (r *removedRow) removed() (v Removed, err error) {
	t, ok := TypeNamed(r.Kind.V)
	if !ok {
		return v, fmt.Errorf("kind is %q, want the kind of a record, such as movie", r.Kind.V)
	}
	v.Kind, v.Merged = t.Kind, r.MergedInto.Set
	if v.Key, err = parseRemovedKey(t.Kind, r.Key.V); err != nil {
		return v, err
	}
	if v.Merged {
		v.Into, err = parseRemovedKey(t.Kind, r.MergedInto.V)
		if err == nil && v.Into == v.Key {
			err = fmt.Errorf("%s is merged into itself", v.Key.Describe(v.Kind))
		}
	}
	return v, err
}

// WriteRemoved atomically and durably replaces the catalogue's list of removals. list has the order of ReadRemoved.
func WriteRemoved(dir string, list []Removed) error {
	w, err := Create(filepath.Join(dir, RemovedFile), removedType)
	if err != nil {
		return err
	}
	for _, r := range list {
		row := removedRow{Kind: record.Text(r.Kind.String()), Key: record.Text(removedKey(r.Kind, r.Key))}
		if r.Merged {
			row.MergedInto = record.Text(removedKey(r.Kind, r.Into))
		}
		if err := w.Write(record.Of(&row)); err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	return w.Commit()
}

// ReadRemoved returns the removals of the catalogue in dir, sorted by kind and key; none if the file is absent.
// Errors name the file and the row, counted from 1.
func ReadRemoved(dir string) (list RemovedSet, err error) {
	f, err := OpenIfAny(filepath.Join(dir, removedType.File()), removedType)
	if f == nil || err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	err = f.Groups(0, f.RowGroups()).Each(context.Background(), func(r record.Record) error {
		v, err := record.As[removedRow](r).removed()
		if err == nil && len(list) > 0 && v.compare(list[len(list)-1]) <= 0 {
			err = fmt.Errorf("%s: not in order after %s", v, list[len(list)-1])
		}
		if err != nil {
			return fmt.Errorf("%s: row %d: %w", f.file.Name(), len(list)+1, err)
		}
		list = append(list, v)
		return nil
	})
	return list, err
}

// A RemovedSet is a sorted list of removals, each resource once.
type RemovedSet []Removed

// find returns the removal of exactly this resource.
func (s RemovedSet) find(kind fragment.Kind, k Key) (Removed, bool) {
	i, ok := slices.BinarySearchFunc(s, Removed{Kind: kind, Key: k}, Removed.compare)
	if !ok {
		return Removed{}, false
	}
	return s[i], true
}

// Has reports whether a resource is removed: itself, or as part of a removed season or series.
func (s RemovedSet) Has(kind fragment.Kind, k Key) bool {
	if _, ok := s.find(kind, k); ok {
		return true
	}
	switch kind {
	case fragment.KindSeason:
		return s.Has(fragment.KindTV, Key{Hi: k.Hi})
	case fragment.KindEpisode:
		return s.Has(fragment.KindSeason, Key{Hi: k.Hi, Lo: uint64(k.Season()) << 32})
	}
	return false
}
