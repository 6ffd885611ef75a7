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

// MaxDangling is how many dangling ids a Relation lists.
const MaxDangling = 10

// A Relation is all references by one field of one kind's records to resources of one kind. Dangling ids
// are no fault of the catalogue: a dump of movies alone names people without records. But a share that
// jumps from one dump to the next is a sign of an incomplete one.
type Relation struct {
	Kind   string `json:"kind"`   // of the records that refer: movie, tv, season ...
	Path   string `json:"path"`   // of the field: credits.cast.id
	Target string `json:"target"` // kind of the resources

	TargetRecords int64      `json:"target_records"` // of the target kind in the catalogue
	References    int64      `json:"references"`     // in all
	Distinct      int64      `json:"distinct"`       // ids referred to
	Missing       int64      `json:"missing"`        // of these: without a record
	Removed       int64      `json:"removed"`        // of the missing: removed on purpose
	Samples       []Dangling `json:"samples,omitempty"`
}

// A Dangling is an id without a record.
type Dangling struct {
	ID      string `json:"id"` // person 287
	Removed bool   `json:"removed,omitempty"`
}

// ids is a set of ids: 64 bits by the number of the word that they make.
type ids map[uint64]uint64

const wordBits = 64

func (s ids) add(id uint64) { s[id/wordBits] |= 1 << (id % wordBits) }

func (s ids) has(id uint64) bool { return s[id/wordBits]>>(id%wordBits)&1 != 0 }

func (s ids) addAll(o ids) {
	for at, word := range o {
		s[at] |= word
	}
}

// without returns the ids that are not in o.
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

// first returns the n lowest ids, or all.
func (s ids) first(n int) (list []uint64) {
	for _, at := range slices.Sorted(maps.Keys(s)) {
		for word := s[at]; word != 0 && len(list) < n; word &= word - 1 {
			list = append(list, at*wordBits+uint64(bits.TrailingZeros64(word)))
		}
	}
	return list
}

// A target is the ids of a kind that lead somewhere.
type target struct {
	known   ids
	removed ids // of resources that were deleted or merged into others
	records int64
}

// A checker is one check at work.
type checker struct {
	targets map[fragment.Kind]*target
	found   []Relation
}

// CheckReferences reads the ids of all records of a catalogue; gone are its removed resources. It returns the
// relations that occur, by kind, path and target. A kind without a file is no error: nothing refers
// from it, and everything that refers to it dangles. Only the columns of ids are read, and ids are kept
// as bits: memory grows with the number of different ids.
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
	// One file is open at a time: the footer of a large one takes many times what is kept of its ids.
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
			_ = f.Close() // read side: nothing to lose
			if err != nil {
				return nil, err
			}
		}
	}
	return c.found, nil
}

// seasonBits is how many bits of a season's id are its number; those of its series are above them.
const seasonBits = 20

func seasonID(series uint64, number int64) uint64 {
	return series<<seasonBits | uint64(number)&(1<<seasonBits-1)
}

// idOf returns the number by which records refer to a resource; false for kinds that none refers to.
func idOf(kind fragment.Kind, key catalog.Key) (uint64, bool) {
	switch kind {
	case fragment.KindSeason:
		return seasonID(key.ID(), int64(key.Season())), true
	case fragment.KindEpisode, fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		return 0, false
	}
	return key.ID(), true
}

// index counts the records of a kind, and reads the ids by which others refer to them.
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

// A relationKey is a field of the kind at hand, and the kind that it leads to.
type relationKey struct {
	path string
	to   fragment.Kind
}

// A tally is the references of one relation.
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

// scan adds up the references of the records of one kind, several row groups at once.
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
		s := Dangling{ID: fmt.Sprintf("%s %d", k.to, int64(id)), Removed: to.removed.has(id)} // an id may be below zero, other than that of a record
		if k.to == fragment.KindSeason {
			s.ID = catalog.SeasonKey(int64(id>>seasonBits), int64(id&(1<<seasonBits-1))).Describe(k.to)
		}
		r.Samples = append(r.Samples, s)
	}
	return r
}

// A walker finds the ids of a field in records.
type walker struct {
	path, list, field string // list and field make the path
	to                fragment.Kind
	media             bool // beside the id is the kind of the resource in place of to
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
				continue // other media are not checked
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

// relations are the fields of each kind's records that hold ids, by the kind of the resources: paths
// through objects, lists and pages. A media type beside an id of a title decides instead. A season is
// one of the series that the record is of. The marks of accounts are not checked: they are theirs.
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
