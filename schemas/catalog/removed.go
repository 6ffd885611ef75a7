package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"
	"github.com/parquet-go/parquet-go"

	"reelsplice/schemas/fragment"
)

// RemovedFile is the name of the file, in a catalogue folder, that lists what was
// deleted or merged. A catalogue in which nothing was has no such file.
const RemovedFile = "removed.parquet"

// A Removed is a resource that is no more: nothing answers for it, whatever else in the
// catalogue speaks of it. A series takes its seasons and episodes along, and a season
// its episodes.
type Removed struct {
	Kind fragment.Kind
	Key  Key
	// Into is the resource of the same kind that it was merged into; only if Merged.
	Into   Key
	Merged bool
}

// String describes r for people: "movie 1, merged into movie 2".
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

// check returns the fault of r by itself.
func (r Removed) check() error {
	if TypeOf(r.Kind) == nil {
		return fmt.Errorf("%s is no kind of records", r.Kind)
	}
	if r.Merged && r.Into == r.Key {
		return fmt.Errorf("%s is merged into itself", r.Key.Describe(r.Kind))
	}
	return nil
}

// removedRow is a row of the file. Of the columns that keys are made of, those of the
// kind are set.
type removedRow struct {
	Kind    string  `parquet:"kind,dict"`
	ID      *int64  `parquet:"id,optional"`
	Series  *int64  `parquet:"series_id,optional"`
	Season  *int64  `parquet:"season_number,optional"`
	Episode *int64  `parquet:"episode_number,optional"`
	Text    *string `parquet:"text_id,optional"`

	// What it was merged into, all null when it was deleted.
	IntoID      *int64  `parquet:"merged_into_id,optional"`
	IntoSeries  *int64  `parquet:"merged_into_series_id,optional"`
	IntoSeason  *int64  `parquet:"merged_into_season_number,optional"`
	IntoEpisode *int64  `parquet:"merged_into_episode_number,optional"`
	IntoText    *string `parquet:"merged_into_text_id,optional"`
}

// removedKey is the key columns of a row.
type removedKey struct {
	ID, Series, Season, Episode *int64
	Text                        *string
}

func (r *removedRow) key() removedKey {
	return removedKey{r.ID, r.Series, r.Season, r.Episode, r.Text}
}

func (r *removedRow) into() removedKey {
	return removedKey{r.IntoID, r.IntoSeries, r.IntoSeason, r.IntoEpisode, r.IntoText}
}

// keyColumns sets the columns of a key of a kind.
func keyColumns(kind fragment.Kind, k Key) (c removedKey) {
	id, season, episode := int64(k.ID()), int64(k.Season()), int64(k.Episode())
	switch kind {
	case fragment.KindSeason:
		c.Series, c.Season = &id, &season
	case fragment.KindEpisode:
		c.Series, c.Season, c.Episode = &id, &season, &episode
	case fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		text := k.Text()
		c.Text = &text
	default:
		c.ID = &id
	}
	return c
}

// parse returns the key that the columns hold; prefix stands before their names in
// errors.
func (c removedKey) parse(kind fragment.Kind, prefix string) (Key, error) {
	var k Key
	switch kind {
	case fragment.KindSeason, fragment.KindEpisode:
		if c.Series != nil && c.Season != nil {
			k = SeasonKey(*c.Series, *c.Season)
			if c.Episode != nil {
				k = EpisodeKey(*c.Series, *c.Season, *c.Episode)
			}
		}
	case fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		if c.Text != nil {
			k, _ = TextKey(*c.Text)
		}
	default:
		if c.ID != nil {
			k = NumberKey(*c.ID)
		}
	}
	if want := keyColumns(kind, k); !want.equal(c) || k.Hi > math.MaxInt64 && c.Text == nil {
		return Key{}, fmt.Errorf("%s is no key of a %s: want %s", c.describe(prefix), kind, want.names(prefix))
	}
	return k, nil
}

// columns returns the names and values of c.
func (c removedKey) columns() (names [5]string, values [5]any) {
	set := func(i int, name string, v *int64) {
		names[i] = name
		if v != nil {
			values[i] = *v
		}
	}
	set(0, "id", c.ID)
	set(1, "series_id", c.Series)
	set(2, "season_number", c.Season)
	set(3, "episode_number", c.Episode)
	names[4] = "text_id"
	if c.Text != nil {
		values[4] = *c.Text
	}
	return names, values
}

func (c removedKey) equal(o removedKey) bool {
	_, a := c.columns()
	_, b := o.columns()
	return a == b
}

// describe returns the columns that are set, with their values, for people.
func (c removedKey) describe(prefix string) string {
	names, values := c.columns()
	s := ""
	for i, v := range values {
		if v != nil {
			s += fmt.Sprintf(", %s%s %v", prefix, names[i], v)
		}
	}
	if s == "" {
		return "nothing"
	}
	return s[2:]
}

// names returns the names of the columns that are set.
func (c removedKey) names(prefix string) string {
	names, values := c.columns()
	s := ""
	for i, v := range values {
		if v != nil {
			s += " and " + prefix + names[i]
		}
	}
	return s[5:]
}

// row returns the row of r.
func (r Removed) row() removedRow {
	k := keyColumns(r.Kind, r.Key)
	row := removedRow{Kind: r.Kind.String(), ID: k.ID, Series: k.Series, Season: k.Season, Episode: k.Episode, Text: k.Text}
	if r.Merged {
		k = keyColumns(r.Kind, r.Into)
		row.IntoID, row.IntoSeries, row.IntoSeason, row.IntoEpisode, row.IntoText = k.ID, k.Series, k.Season, k.Episode, k.Text
	}
	return row
}

// removed is the inverse of Removed.row.
func (r *removedRow) removed() (v Removed, err error) {
	t, ok := TypeNamed(r.Kind)
	if !ok {
		return v, fmt.Errorf("kind is %q, want that of a record, such as movie", r.Kind)
	}
	v.Kind = t.Kind
	if v.Key, err = r.key().parse(t.Kind, ""); err != nil {
		return v, err
	}
	if into := r.into(); into != (removedKey{}) {
		v.Merged = true
		if v.Into, err = into.parse(t.Kind, "merged_into_"); err != nil {
			return v, err
		}
	}
	return v, v.check()
}

// WriteRemoved makes the list the one of the catalogue in dir, durably and at once; an
// empty list removes the file. The order of the list does not matter, and what it says
// twice counts once; that one resource is gone in two ways is an error.
func WriteRemoved(dir string, list []Removed) error {
	path := filepath.Join(dir, RemovedFile)
	list, err := normalRemoved(list)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if len(list) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return syncDir(dir)
	}
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	if err := writeRemoved(f, list); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), f.Cleanup())
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncDir(dir)
}

// normalRemoved returns the list in order, each resource once.
func normalRemoved(list []Removed) ([]Removed, error) {
	list = slices.Clone(list)
	for i := range list {
		if !list[i].Merged {
			list[i].Into = Key{}
		}
		if err := list[i].check(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(a, b Removed) int { return cmp.Or(a.compare(b), a.Into.Compare(b.Into)) })
	list = slices.Compact(list)
	for i := 1; i < len(list); i++ {
		if list[i].compare(list[i-1]) == 0 {
			return nil, fmt.Errorf("%s, is also %s", list[i-1], list[i])
		}
	}
	return list, nil
}

// removedBatch is how many rows are written or read at once.
const removedBatch = 1024

func writeRemoved(w io.Writer, list []Removed) error {
	z, err := newCodec(1)
	if err != nil {
		return err
	}
	pq := parquet.NewGenericWriter[removedRow](w,
		parquet.Compression(z),
		parquet.CreatedBy("reelsplice", FormatVersion, ""),
		parquet.KeyValueMetadata(kindKey, removedKind),
		parquet.KeyValueMetadata(versionKey, FormatVersion),
	)
	rows := make([]removedRow, 0, removedBatch)
	for part := range slices.Chunk(list, removedBatch) {
		rows = rows[:0]
		for _, r := range part {
			rows = append(rows, r.row())
		}
		if _, err := pq.Write(rows); err != nil {
			return err
		}
	}
	return pq.Close()
}

// removedKind is the kind that the file states.
const removedKind = "removed"

// ReadRemoved returns what was removed from the catalogue in dir, in order of kind and
// key; nothing when there is no such file. Errors name the file and the row, counted
// from 1.
func ReadRemoved(dir string) (list []Removed, err error) {
	path := filepath.Join(dir, RemovedFile)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	// The library panics on some damaged files.
	defer func() {
		if p := recover(); p != nil {
			list, err = nil, fmt.Errorf("%s: damaged after row %d: %v", path, len(list), p)
		}
	}()
	pq, err := openRemoved(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if list, err = readRemoved(pq); err != nil {
		return nil, fmt.Errorf("%s: row %d: %w", path, len(list)+1, err)
	}
	return list, nil
}

func openRemoved(f *os.File) (*parquet.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	pq, err := parquet.OpenFile(f, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("not a readable Parquet file: %w", err)
	}
	if v, _ := pq.Lookup(versionKey); v != FormatVersion {
		return nil, fmt.Errorf("not a catalogue file of version %s (found %q): ingest it again", FormatVersion, v)
	}
	if k, _ := pq.Lookup(kindKey); k != removedKind {
		return nil, fmt.Errorf("holds %q, want %q", k, removedKind)
	}
	if pq.Schema().String() != parquet.SchemaOf(removedRow{}).String() {
		return nil, fmt.Errorf("its columns are not those of a catalogue file of version %s: ingest it again", FormatVersion)
	}
	return pq, nil
}

// readRemoved returns the rows before the first that is wrong, and what is wrong there.
func readRemoved(pq *parquet.File) (list []Removed, err error) {
	r := parquet.NewGenericReader[removedRow](pq)
	defer func() { err = errors.Join(err, r.Close()) }()
	rows := make([]removedRow, removedBatch)
	for {
		clear(rows)
		n, err := r.Read(rows)
		for i := range rows[:n] {
			v, err := rows[i].removed()
			if err == nil && len(list) > 0 && v.compare(list[len(list)-1]) <= 0 {
				err = fmt.Errorf("%s, does not come after %s", v, list[len(list)-1])
			}
			if err != nil {
				return list, err
			}
			list = append(list, v)
		}
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
	}
}

// A RemovedSet answers whether a resource was removed. The zero value and a nil set
// have none.
type RemovedSet struct {
	list []Removed // in order
}

// NewRemovedSet returns the set of a list, which has to be in order, as ReadRemoved
// returns it; the set keeps the list.
func NewRemovedSet(list []Removed) *RemovedSet { return &RemovedSet{list} }

// Len returns how many removals are listed, without those that follow from them.
func (s *RemovedSet) Len() int {
	if s == nil {
		return 0
	}
	return len(s.list)
}

// List returns the removals in order. It is shared: read only.
func (s *RemovedSet) List() []Removed {
	if s == nil {
		return nil
	}
	return s.list
}

// Find returns the removal of a resource itself.
func (s *RemovedSet) Find(kind fragment.Kind, k Key) (Removed, bool) {
	if s.Len() == 0 {
		return Removed{}, false
	}
	i, ok := slices.BinarySearchFunc(s.list, Removed{Kind: kind, Key: k}, Removed.compare)
	if !ok {
		return Removed{}, false
	}
	return s.list[i], true
}

// Has reports whether a resource is removed: itself, or a season or an episode with its
// series or its season.
func (s *RemovedSet) Has(kind fragment.Kind, k Key) bool {
	if s.Len() == 0 {
		return false
	}
	if _, ok := s.Find(kind, k); ok {
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
