package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// maxDangling limits the dangling IDs that a Relation lists.
const maxDangling = 10

// A Relation counts all references from one field of a kind to resources of one kind. Dangling IDs are not errors: a dump of
// movies alone refers to people without records. But if their share jumps from one dump to the next, one may be incomplete.
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

// An idSet is a bit set: words of 64 bits by index.
type idSet map[uint64]uint64

const wordBits = 64

func (s idSet) add(id uint64) { s[id/wordBits] |= 1 << (id % wordBits) }

func (s idSet) has(id uint64) bool { return s[id/wordBits]>>(id%wordBits)&1 != 0 }

// without returns the IDs that are not in others.
func (s idSet) without(others idSet) idSet {
	rest := idSet{}
	for i, word := range s {
		if word &^= others[i]; word != 0 {
			rest[i] = word
		}
	}
	return rest
}

func (s idSet) len() (n int64) {
	for _, word := range s {
		n += int64(bits.OnesCount64(word))
	}
	return n
}

// first returns the n lowest IDs, or all.
func (s idSet) first(n int) (list []uint64) {
	for _, i := range slices.Sorted(maps.Keys(s)) {
		for word := s[i]; word != 0 && len(list) < n; word &= word - 1 {
			list = append(list, i*wordBits+uint64(bits.TrailingZeros64(word)))
		}
	}
	return list
}

// A target holds the IDs that exist for a kind.
type target struct {
	existing idSet
	removed  idSet // deleted or merged resources
	records  int64
}

// A checker is the state of a check.
type checker struct {
	targets   map[fragment.Kind]*target
	relations []Relation
}

// CheckReferences reads the IDs of all records in a catalogue whose removed resources are given. It returns the relations found,
// by kind, path and target. A kind without a file is not an error: all references to it dangle. Only ID columns are read, into
// bit sets, so memory grows with the number of distinct IDs.
func CheckReferences(ctx context.Context, catalogDir string, removed []catalog.Removed) ([]Relation, error) {
	c := &checker{targets: map[fragment.Kind]*target{}, relations: []Relation{}}
	for _, t := range catalog.Types() {
		c.targets[t.Kind] = &target{existing: idSet{}, removed: idSet{}}
	}
	for _, r := range removed {
		if id, ok := idOf(r.Kind, r.Key); ok {
			c.targets[r.Kind].removed.add(id)
		}
	}
	// Only one file is open at a time: a large file's footer takes far more memory than the IDs.
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
			_ = f.Close() // opened for reading
			if err != nil {
				return nil, err
			}
		}
	}
	return c.relations, nil
}

// seasonBits is the number of low bits in a season's ID that hold its number. The series' ID is above them.
const seasonBits = 20

func seasonID(series uint64, number int64) uint64 {
	return series<<seasonBits | uint64(number)&(1<<seasonBits-1)
}

// idOf returns the number by which records refer to a resource, or false for kinds without references.
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
	return f.Select(typ.KeyFields(), 0, f.RowGroups()).Each(ctx, func(r record.Record) error {
		key, err := typ.Key(r)
		id, _ := idOf(typ.Kind, key)
		t.existing.add(id)
		return err
	})
}

// scan counts the references in the records of one kind.
func (c *checker) scan(ctx context.Context, typ *catalog.Type, f *catalog.File) error {
	refs := referencesOf(typ)
	if len(refs) == 0 {
		return nil
	}
	paths := typ.KeyFields()
	for i := range refs {
		if paths = append(paths, refs[i].path); refs[i].media {
			paths = append(paths, strings.TrimPrefix(refs[i].objects+".media_type", "."))
		}
	}
	err := f.Select(paths, 0, f.RowGroups()).Each(ctx, func(r record.Record) error {
		from, err := typ.Key(r)
		for i := range refs {
			refs[i].count(from, r)
		}
		return err
	})
	var list []Relation
	for i := range refs {
		for kind, tally := range refs[i].tallies {
			target := c.targets[kind]
			missing := tally.ids.without(target.existing)
			r := Relation{
				Kind: typ.Kind.String(), Path: refs[i].path, Target: kind.String(), TargetRecords: target.records, References: tally.references,
				Distinct: tally.ids.len(), Missing: missing.len(), Removed: missing.len() - missing.without(target.removed).len(),
			}
			for _, id := range missing.first(maxDangling) {
				s := Dangling{ID: fmt.Sprintf("%s %d", kind, int64(id)), Removed: target.removed.has(id)} // an invalid ID may be negative
				if kind == fragment.KindSeason {
					s.ID = catalog.SeasonKey(int64(id>>seasonBits), int64(id&(1<<seasonBits-1))).Describe(kind)
				}
				r.Samples = append(r.Samples, s)
			}
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Relation) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Target, b.Target)) })
	c.relations = append(c.relations, list...)
	return err
}

// A reference is a field with IDs of another kind.
type reference struct {
	path           string
	objects, field string // the two parts of path; no objects for a field of the record
	target         fragment.Kind
	media          bool // the field media_type next to the ID overrides target
	tallies        map[fragment.Kind]*tally
}

// A tally counts the references to one kind.
type tally struct {
	references int64
	ids        idSet
}

// count counts the references in a record. It skips elements with a media_type other than movie or tv.
func (f *reference) count(from catalog.Key, r record.Record) {
	for el := range r.Each(f.objects) {
		id, target := *el.IntNamed(f.field), f.target
		if f.media {
			switch el.StringNamed("media_type").V {
			case "":
			case "movie":
				target = fragment.KindMovie
			case "tv":
				target = fragment.KindTV
			default:
				continue
			}
		}
		if !id.Set {
			continue
		}
		number := uint64(id.V)
		if target == fragment.KindSeason {
			number = seasonID(from.ID(), id.V)
		}
		if f.tallies[target] == nil {
			f.tallies[target] = &tally{ids: idSet{}}
		}
		f.tallies[target].references++
		f.tallies[target].ids.add(number)
	}
}

// referencesOf returns the references of a kind.
func referencesOf(t *catalog.Type) (list []reference) {
	for target, paths := range relations[t.Kind] {
		for path := range strings.FieldsSeq(paths) {
			dot := strings.LastIndexByte(path, '.')
			ref := reference{path: path, objects: path[:max(0, dot)], field: path[dot+1:], target: target, tallies: map[fragment.Kind]*tally{}}
			s := t.Schema
			for name := range strings.SplitSeq(path, ".") {
				_, ref.media = s.Field("media_type")
				f, _ := s.Field(name)
				s = f.Elem
			}
			ref.media = ref.media && (target == fragment.KindMovie || target == fragment.KindTV)
			list = append(list, ref)
		}
	}
	return list
}

// relations lists the fields with IDs, by the referring kind and the target kind: paths through objects, lists and pages. A
// media type next to a title's ID overrides the target. A season number belongs to the record's own series. Account data is
// private, and not checked.
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
