package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/bits"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/bug"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// MaxDangling is how many dangling IDs a Relation lists.
const MaxDangling = 10

// A Relation counts all references from one field of a kind to resources of one kind. Dangling IDs are not errors: a dump of
// movies alone names people without records. But a share that jumps between dumps suggests an incomplete one.
type Relation struct {
	Kind   string `json:"kind"`   // kind of the referring records: movie, tv, season ...
	Path   string `json:"path"`   // field, such as credits.cast.id
	Target string `json:"target"` // kind of the resources

	TargetRecords int64      `json:"target_records"` // records of the target kind in the catalogue
	References    int64      `json:"references"`     // all references
	Distinct      int64      `json:"distinct"`       // distinct IDs
	Missing       int64      `json:"missing"`        // IDs without a record
	Removed       int64      `json:"removed"`        // missing IDs that were removed on purpose
	Samples       []Dangling `json:"samples,omitempty"`
}

// A Dangling is an ID without a record.
type Dangling struct {
	ID      string `json:"id"` // person 287
	Removed bool   `json:"removed,omitempty"`
}

// ids is a bit set: words of 64 bits by index.
type ids map[uint64]uint64

const wordBits = 64

func (s ids) add(id uint64) { s[id/wordBits] |= 1 << (id % wordBits) }

func (s ids) has(id uint64) bool { return s[id/wordBits]>>(id%wordBits)&1 != 0 }

func (s ids) addAll(o ids) {
	for at, word := range o {
		s[at] |= word
	}
}

// without returns the IDs that are not in o.
func (s ids) without(o ids) ids {
	rest := ids{}
	for at, word := range s {
		if word &^= o[at]; word != 0 {
			rest[at] = word
		}
	}
	return rest
}

func (s ids) len() (n int64) {
	for _, word := range s {
		n += int64(bits.OnesCount64(word))
	}
	return n
}

// first returns the n lowest IDs, or all.
func (s ids) first(n int) (list []uint64) {
	for _, at := range slices.Sorted(maps.Keys(s)) {
		for word := s[at]; word != 0 && len(list) < n; word &= word - 1 {
			list = append(list, at*wordBits+uint64(bits.TrailingZeros64(word)))
		}
	}
	return list
}

// A target holds the IDs that exist for a kind.
type target struct {
	known   ids
	removed ids // deleted or merged resources
	records int64
}

// A checker is the state of a check.
type checker struct {
	targets map[fragment.Kind]*target
	found   []Relation
}

// CheckReferences reads the IDs of all records in a catalogue; gone are its removed resources. It returns the relations found,
// by kind, path and target. A kind without a file is not an error: all references to it dangle. Only ID columns are read, into
// bit sets, so memory grows with the number of distinct IDs.
func CheckReferences(ctx context.Context, catalogDir string, gone []catalog.Removed) ([]Relation, error) {
	c := &checker{targets: map[fragment.Kind]*target{}, found: []Relation{}}
	for _, t := range catalog.Types() {
		c.targets[t.Kind] = &target{known: ids{}, removed: ids{}}
	}
	for _, r := range gone {
		if id, ok := idOf(r.Kind, r.Key); ok {
			c.targets[r.Kind].removed.add(id)
		}
	}
	// One file is open at a time: a large file's footer takes far more memory than the IDs.
	for _, read := range []func(context.Context, *catalog.Type, *catalog.File) error{c.index, c.scan} {
		for _, t := range catalog.Types() {
			f, err := catalog.OpenIfAny(filepath.Join(catalogDir, t.File()), t)
			if err != nil {
				return nil, err
			}
			if f == nil {
				continue
			}
			err = read(ctx, t, f)
			_ = f.Close() // read side
			if err != nil {
				return nil, err
			}
		}
	}
	return c.found, nil
}

// seasonBits is the number of low bits in a season's ID that hold its number. The series' ID is above them.
const seasonBits = 20

func seasonID(series uint64, number int64) uint64 {
	return series<<seasonBits | uint64(number)&(1<<seasonBits-1)
}

// idOf returns the number by which records refer to a resource, or false for kinds that nothing refers to.
func idOf(kind fragment.Kind, key catalog.Key) (uint64, bool) {
	switch kind {
	case fragment.KindSeason:
		return seasonID(key.ID(), int64(key.Season())), true
	case fragment.KindEpisode, fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		return 0, false
	}
	return key.ID(), true
}

// index counts the records of a kind and collects their IDs.
func (c *checker) index(ctx context.Context, typ *catalog.Type, f *catalog.File) error {
	t := c.targets[typ.Kind]
	t.records = f.NumRows()
	if _, ok := idOf(typ.Kind, catalog.Key{}); !ok {
		return nil
	}
	err := f.Select(typ.KeyFields(), 0, f.RowGroups()).Each(ctx, func(r record.Record) error {
		key, err := typ.Key(r)
		id, _ := idOf(typ.Kind, key)
		t.known.add(id)
		return err
	})
	return err
}

// A relationKey is a field of the current kind and the kind it refers to.
type relationKey struct {
	path string
	to   fragment.Kind
}

// A tally counts the references of one relation.
type tally struct {
	references int64
	ids        ids
}

type tallies map[relationKey]*tally

func (t tallies) of(k relationKey) *tally {
	if t[k] == nil {
		t[k] = &tally{ids: ids{}}
	}
	return t[k]
}

// scan counts the references in the records of one kind, several row groups concurrently.
func (c *checker) scan(ctx context.Context, typ *catalog.Type, f *catalog.File) error {
	walkers, paths := walkers(typ)
	if len(walkers) == 0 {
		return nil
	}
	var mu sync.Mutex
	sum := tallies{}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for group := range f.RowGroups() {
		g.Go(func() (err error) {
			defer bug.Catch(&err)
			part := tallies{}
			err = f.Select(paths, group, group+1).Each(ctx, func(r record.Record) error {
				key, err := typ.Key(r)
				for i := range walkers {
					walkers[i].walk(r, key, part)
				}
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			for k, p := range part {
				all := sum.of(k)
				all.references += p.references
				all.ids.addAll(p.ids)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	from := len(c.found)
	for k, all := range sum {
		c.found = append(c.found, c.relation(typ.Kind, k, all))
	}
	slices.SortFunc(c.found[from:], func(a, b Relation) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Target, b.Target)) })
	return nil
}

func (c *checker) relation(kind fragment.Kind, k relationKey, all *tally) Relation {
	to := c.targets[k.to]
	missing := all.ids.without(to.known)
	r := Relation{
		Kind: kind.String(), Path: k.path, Target: k.to.String(), TargetRecords: to.records, References: all.references,
		Distinct: all.ids.len(), Missing: missing.len(), Removed: missing.len() - missing.without(to.removed).len(),
	}
	for _, id := range missing.first(MaxDangling) {
		s := Dangling{ID: fmt.Sprintf("%s %d", k.to, int64(id)), Removed: to.removed.has(id)} // an invalid ID may be negative
		if k.to == fragment.KindSeason {
			s.ID = catalog.SeasonKey(int64(id>>seasonBits), int64(id&(1<<seasonBits-1))).Describe(k.to)
		}
		r.Samples = append(r.Samples, s)
	}
	return r
}

// A walker finds the IDs of a field in records.
type walker struct {
	path, list, field string // list + "." + field is path
	to                fragment.Kind
	media             bool // the field media_type beside the ID overrides to
}

// walkers returns the walkers of a kind, and the paths that they read.
func walkers(t *catalog.Type) (list []walker, paths []string) {
	paths = t.KeyFields()
	for to, all := range relations[t.Kind] {
		for path := range strings.FieldsSeq(all) {
			at := strings.LastIndexByte(path, '.') + 1
			w := walker{path: path, list: strings.TrimSuffix(path[:at], "."), field: path[at:], to: to}
			s := t.Plan
			for name := range strings.SplitSeq(path, ".") {
				_, w.media = s.Field("media_type")
				f, _ := s.Field(name)
				s = f.Elem
			}
			if w.media = w.media && (to == fragment.KindMovie || to == fragment.KindTV); w.media {
				paths = append(paths, path[:at]+"media_type")
			}
			list, paths = append(list, w), append(paths, path)
		}
	}
	return list, paths
}

// walk adds the references of a record to t.
func (w *walker) walk(r record.Record, by catalog.Key, t tallies) {
	for el := range r.Each(w.list) {
		id, to := *el.IntNamed(w.field), w.to
		if w.media {
			switch el.StringNamed("media_type").V {
			case "":
			case "movie":
				to = fragment.KindMovie
			case "tv":
				to = fragment.KindTV
			default:
				continue // other media types are not checked
			}
		}
		if !id.Set {
			continue
		}
		all, number := t.of(relationKey{w.path, to}), uint64(id.V)
		if w.to == fragment.KindSeason {
			number = seasonID(by.ID(), id.V)
		}
		all.references++
		all.ids.add(number)
	}
}

// relations lists the fields with IDs, by the referring kind and the target kind: paths through objects, lists and pages. A
// media type beside a title's ID overrides the target. A season number belongs to the record's own series. Account data is not
// checked, because it is private.
var relations = map[fragment.Kind]map[fragment.Kind]string{
	fragment.KindMovie: {
		fragment.KindCollection: "belongs_to_collection.id",
		fragment.KindCompany:    "production_companies.id",
		fragment.KindKeyword:    "keywords.keywords.id",
		fragment.KindMovie:      "similar.results.id recommendations.results.id",
		fragment.KindPerson:     "credits.cast.id credits.crew.id",
	},
	fragment.KindTV: {
		fragment.KindNetwork: "networks.id",
		fragment.KindSeason:  "seasons.season_number",
		fragment.KindCompany: "production_companies.id",
		fragment.KindKeyword: "keywords.results.id",
		fragment.KindTV:      "similar.results.id recommendations.results.id",
		fragment.KindPerson:  "created_by.id aggregate_credits.cast.id aggregate_credits.crew.id credits.cast.id credits.crew.id",
	},
	fragment.KindSeason: {
		fragment.KindTV:      "series_id",
		fragment.KindNetwork: "networks.id",
		fragment.KindPerson: "episodes.crew.id episodes.guest_stars.id aggregate_credits.cast.id aggregate_credits.crew.id " +
			"credits.cast.id credits.crew.id",
	},
	fragment.KindEpisode: {
		fragment.KindTV:     "series_id",
		fragment.KindSeason: "season_number",
		fragment.KindPerson: "crew.id guest_stars.id credits.cast.id credits.crew.id credits.guest_stars.id",
	},
	fragment.KindPerson: {
		fragment.KindMovie: "known_for.id combined_credits.cast.id combined_credits.crew.id movie_credits.cast.id movie_credits.crew.id",
		fragment.KindTV:    "tv_credits.cast.id tv_credits.crew.id",
	},
	fragment.KindCollection:   {fragment.KindMovie: "parts.id"},
	fragment.KindCompany:      {fragment.KindCompany: "parent_company.id", fragment.KindMovie: "movies.results.id"},
	fragment.KindKeyword:      {fragment.KindMovie: "movies.results.id"},
	fragment.KindReview:       {fragment.KindMovie: "media_id"},
	fragment.KindCredit:       {fragment.KindPerson: "person.id"},
	fragment.KindEpisodeGroup: {fragment.KindNetwork: "network.id", fragment.KindTV: "groups.episodes.show_id"},
	fragment.KindList:         {fragment.KindMovie: "items.results.id"},
}
