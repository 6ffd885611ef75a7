package work

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/provenance"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/tables"
)

// Limits on the tasks of a build; above them, a task takes several row groups. Tests lower them.
var (
	maxTitleTasks  = 1000 // for movies, and again for series
	maxPersonTasks = 1000
	maxOtherTasks  = 100 // for each other kind, and for find

	maxRanges    int64 = 1000    // for each table
	rowsOfRange  int64 = 100_000 // approximate
	rowsOfTitles int64 = 25_000  // approximate: a title row has some hundred ranks

	partitionSize        int64 = 200_000 // contributions
	featuresPerPartition int64 = 10_000_000
)

// Estimated contributions of titles, which determine the partitions. They must not depend on the available memory,
// because the release's bytes depend on them.
const (
	creditsOfMovie  = 40
	creditsOfSeason = 60
	refsOfTitle     = 5
	featuresOfTitle = 32
)

// Params determine the release's bytes, besides the catalogue and the previous release.
type Params struct {
	Catalog  string `json:"catalog"`            // folder of the catalogue
	Releases string `json:"releases"`           // folder of the releases
	Previous string `json:"previous,omitempty"` // id of the previous release
	Full     bool   `json:"full,omitempty"`     // reuse nothing of it
	Level    int    `json:"level"`              // compression level
	Fallback string `json:"fallback,omitempty"` // languages whose texts replace missing ones of others
	Version  string `json:"version,omitempty"`  // program version for the manifest
}

// A Plan is the division of a build. Tasks of all stages read it and do not change it.
type Plan struct {
	Params
	Source
	Records map[string]int64 `json:"records"` // records of the catalogue by the name of their kind
	Removed int              `json:"removed"` // removed or merged resources
	// Dumps are the dumps of the catalogue; nil if unknown.
	Dumps *provenance.Dumps `json:"dumps,omitempty"`
	// Fetched has the days on which records were fetched, by the name of their kind, if known.
	Fetched map[string]day.Days `json:"fetched,omitempty"`
	Movies  []Span              `json:"movies"` // one titles task each, after the series
	Series  []Span              `json:"series"`
	// Resources divides the kinds that receive contributions, in the order of their partitions.
	Resources []Resources `json:"resources"`
	Finds     int         `json:"finds"` // partitions of external ids, and of claims of ids
	// Ranges are, for each of tables.Kinds, the row keys at which its ranges begin, except the first.
	Ranges [][][]byte `json:"ranges"`
	// Near is the number of parts of each table of neighbours.
	Near map[fragment.Kind]int `json:"near"`
	// Latest is the highest id of a kind's records.
	Latest map[fragment.Kind]int64 `json:"latest"`
}

// A Source is what tasks on several machines must have in common besides the parameters. It is empty on one machine.
type Source struct {
	Program string `json:"program,omitempty"` // program version, or a hash of its bytes
	// Files are the catalogue files that the plan was made for.
	Files []CatalogFile `json:"files,omitempty"`
}

// A CatalogFile is a version of a file of the catalogue.
type CatalogFile struct {
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	Modified int64  `json:"modified"` // nanoseconds since 1970
}

// Resources divides a kind into partitions, one resources task each: by the spans of its file, so that records and
// contributions meet in order, and by hash within a span if its contributions exceed one partition.
type Resources struct {
	Kind  fragment.Kind `json:"kind"`
	Spans []Span        `json:"spans"`
	Subs  int           `json:"subs"`  // partitions of each span
	First int           `json:"first"` // number of the first partition
}

// MakePlan divides the work of a build over a catalogue.
func MakePlan(in *Inputs, params Params) (*Plan, error) {
	p := &Plan{
		Params: params, Records: in.Counts(), Removed: len(in.Removed), Dumps: in.Dumps,
		Near: map[fragment.Kind]int{}, Latest: map[fragment.Kind]int64{},
	}
	var err error
	if p.Fetched, err = in.Fetched(); err != nil {
		return nil, err
	}
	if len(p.Fetched) == 0 {
		p.Fetched = nil // same value as after decoding
	}

	// Titles: the kind with the most row groups decides the spans of series. Usually it is seasons, which have the most
	// text by far.
	p.Movies = Spans(in.Of(fragment.KindMovie).FirstKeys(), maxTitleTasks)
	widest := in.Of(fragment.KindSeason).FirstKeys()
	for _, k := range []fragment.Kind{fragment.KindTV, fragment.KindEpisode} {
		if first := in.Of(k).FirstKeys(); len(first) > len(widest) {
			widest = first
		}
	}
	keys := slices.Clone(widest)
	for i := range keys {
		keys[i].Lo = 0 // a span ends between series
	}
	p.Series = Spans(keys, maxTitleTasks)

	// Resources, by an estimate of the contributions that they receive.
	movies, seasons, series := in.Of(fragment.KindMovie).Rows(), in.Of(fragment.KindSeason).Rows(), in.Of(fragment.KindTV).Rows()
	credits := movies*creditsOfMovie + seasons*creditsOfSeason
	refs := (movies + series) * refsOfTitle
	first := 0
	for _, k := range []struct {
		kind          fragment.Kind
		contributions int64
		tasks         int // limit
	}{
		{fragment.KindPerson, credits, maxPersonTasks},
		{fragment.KindCollection, movies, maxOtherTasks},
		{fragment.KindCompany, refs, maxOtherTasks},
		{fragment.KindNetwork, refs / refsOfTitle, maxOtherTasks},
		{fragment.KindKeyword, refs, maxOtherTasks},
		{fragment.KindReview, refs, maxOtherTasks},
		{fragment.KindCredit, 0, maxOtherTasks},
		{fragment.KindEpisodeGroup, 0, maxOtherTasks},
		{fragment.KindList, 0, maxOtherTasks},
	} {
		r := Resources{Kind: k.kind, Spans: Spans(in.Of(k.kind).FirstKeys(), k.tasks), First: first}
		r.Subs = int(min(k.contributions/partitionSize/int64(len(r.Spans))+1, int64(k.tasks/len(r.Spans))))
		first += r.Partitions()
		p.Resources = append(p.Resources, r)
	}
	p.Finds = int(min((movies+seasons+in.Of(fragment.KindPerson).Rows())/partitionSize+1, int64(maxOtherTasks)))

	// Rows of tables, by a sample of the records. Kinds whose popularity comes from titles have one range, because it is
	// computed later. No byte of the release depends on the ranges.
	for _, kind := range tables.Kinds {
		var bounds [][]byte
		rows := rowsOfRange
		if slices.Contains(Titles[:], kind) {
			rows = rowsOfTitles
		}
		if n := int(min(in.Of(kind).Rows()/rows+1, maxRanges)); n > 1 && hasPopularity(kind) {
			keys, err := sampleRows(in.Of(kind), int64(n*rowsOfSample))
			if err != nil {
				return nil, err
			}
			for i := 1; i < n && len(keys) > 0; i++ {
				bounds = append(bounds, keys[i*len(keys)/n])
			}
		}
		p.Ranges = append(p.Ranges, slices.CompactFunc(bounds, bytes.Equal))
	}

	for _, kind := range Titles {
		p.Near[kind] = int(in.Of(kind).Rows()*featuresOfTitle/featuresPerPartition) + 1
	}
	for _, kind := range []fragment.Kind{fragment.KindMovie, fragment.KindTV, fragment.KindPerson} {
		if p.Latest[kind], err = in.Latest(kind); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Titles are the kinds of titles.
var Titles = [...]fragment.Kind{fragment.KindMovie, fragment.KindTV}

// rowsOfSample is the number of records that decide the bounds of ranges.
var rowsOfSample = 200 // tests lower it

// popularity is the sort field of tables.
const popularity = "popularity"

// hasPopularity reports whether records of a kind have a popularity field.
func hasPopularity(kind fragment.Kind) bool {
	_, ok := catalog.TypeOf(kind).Schema.Field(popularity)
	return ok
}

// sampleRows returns the sorted row keys of about n records, in proportion from each row group.
func sampleRows(in *Input, n int64) (keys [][]byte, err error) {
	for group := range in.RowGroups() {
		err := in.Head(group, 1+n*in.GroupRows(group)/in.Rows(), []string{popularity}, func(k catalog.Key, r record.Record) {
			f, _ := r.Schema.Field(popularity)
			keys = append(keys, index.AppendRowKey(nil, k.ID(), r.Float(f).V))
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	return keys, nil
}

// Partitions returns the number of partitions of the kind.
func (r *Resources) Partitions() int { return len(r.Spans) * r.Subs }

// Sub returns the partition of a resource within its span.
func (r *Resources) Sub(k catalog.Key) int {
	if r.Subs == 1 {
		return 0
	}
	var b [KeyLen]byte
	return int(xxh3.Hash(AppendKey(b[:0], k)) % uint64(r.Subs))
}

// Partitions returns the number of partitions of all kinds that receive contributions.
func (p *Plan) Partitions() int {
	last := &p.Resources[len(p.Resources)-1]
	return last.First + last.Partitions()
}

// Partition returns the division of the kind of partition i.
func (p *Plan) Partition(i int) *Resources {
	for k := range p.Resources {
		if r := &p.Resources[k]; i < r.First+r.Partitions() {
			return r
		}
	}
	return nil
}

// The sections of a contribution file, in this order: one for each partition of resources, each partition of external
// ids and each range of a table's rows, then one for credits.

// ResourceSection returns the section of the contributions to a resource.
func (p *Plan) ResourceSection(kind fragment.Kind, k catalog.Key) int {
	r := &p.Resources[slices.IndexFunc(p.Resources, func(r Resources) bool { return r.Kind == kind })]
	i, found := slices.BinarySearchFunc(r.Spans, k, func(s Span, k catalog.Key) int { return s.From.Compare(k) })
	if !found {
		i--
	}
	return r.First + i*r.Subs + r.Sub(k)
}

// FindSection returns the section of an external id, by its hash.
func (p *Plan) FindSection(hash uint64) int { return p.Partitions() + int(hash%uint64(p.Finds)) }

// RangesOf returns the range numbers of a table, from included, to excluded. Tables are in the order of tables.Kinds;
// credits come last and have one range.
func (p *Plan) RangesOf(table int) (from, to int) {
	for _, r := range p.Ranges[:table] {
		from += len(r) + 1
	}
	if table == len(p.Ranges) {
		return from, from + 1
	}
	return from, from + len(p.Ranges[table]) + 1
}

// RangeTasks returns the number of ranges of all tables except credits.
func (p *Plan) RangeTasks() int {
	n, _ := p.RangesOf(len(p.Ranges))
	return n
}

// RangeSection returns the section of the rows of a range.
func (p *Plan) RangeSection(i int) int { return p.Partitions() + p.Finds + i }

// RowSection returns the section of a row of a table.
func (p *Plan) RowSection(table int, key []byte) int {
	from, _ := p.RangesOf(table)
	if table == len(p.Ranges) {
		return p.RangeSection(from)
	}
	i, found := slices.BinarySearchFunc(p.Ranges[table], key, bytes.Compare)
	if found {
		i++
	}
	return p.RangeSection(from + i)
}

// ContributionSections returns the number of sections of a contribution file.
func (p *Plan) ContributionSections() int { return p.RangeSection(p.RangeTasks() + 1) }

// The sections of a survey file, in this order: lists of genres, claims of ids by partition, features of movies by
// part, features of series by part.

// GenreSection is the section of the lists of genres.
const GenreSection = 0

// ClaimSection returns the section of the claims of an id, by its hash.
func (p *Plan) ClaimSection(hash uint64) int { return 1 + int(hash%uint64(p.Finds)) }

// NearSection returns the first section of the features of titles of a kind.
func (p *Plan) NearSection(kind fragment.Kind) int {
	n := 1 + p.Finds
	if kind == fragment.KindTV {
		n += p.Near[fragment.KindMovie]
	}
	return n
}

// SurveySections returns the number of sections of a survey file.
func (p *Plan) SurveySections() int {
	return p.NearSection(fragment.KindTV) + p.Near[fragment.KindTV]
}

// TitleTasks returns the number of titles tasks, and of survey tasks.
func (p *Plan) TitleTasks() int { return len(p.Series) + len(p.Movies) }

// TitleSpan returns the span of titles task i and the kind of its titles. Series come first, because they take
// longest: at the end, CPUs idle until the last tasks finish.
func (p *Plan) TitleSpan(i int) (fragment.Kind, Span) {
	if i < len(p.Series) {
		return fragment.KindTV, p.Series[i]
	}
	return fragment.KindMovie, p.Movies[i-len(p.Series)]
}

// ID returns a hash of the plan: 16 hex digits.
func (p *Plan) ID() string {
	data, _ := json.Marshal(p) // a Plan always marshals
	return fmt.Sprintf("%016x", xxh3.Hash(data))
}
