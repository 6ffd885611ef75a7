// Package neighbours computes recommendations and similar titles that no dump contains, from common features. Movies
// and series have separate Tables, because their ids overlap.
//
//	w := neighbours.NewWriter(sorter, first, parts) // in each task that reads titles
//	err = w.Add(&title)                             // each title once
//	err = neighbours.WritePart(path, records)       // each part, from its sorted records
//	table, err := neighbours.Open(paths, titles)
//	defer table.Close()
//	f := table.Finder()                             // one for each goroutine
//	err = f.Find(&title, &result)
//
// # Formula
//
// The genres, keywords, people and the collection of a title are its features. For title a, title b has the score
//
//	(sum over shared features f of weight(kind of f) * ln(1 + N/df(f))) * sqrt(1 + ln(1 + votes of b))
//
// where N is the number of titles and df(f) the number of titles with f. A rare feature counts more than a common one;
// adding 1 to N/df makes a feature of all titles still count. The weights are 0.5 for a person, 1 for a genre and a
// keyword, 2 for the collection. Most people are rare, so the logarithm alone would outweigh several keywords; a
// collection is a deliberate grouping. The last factor prefers titles that people have seen: 1 without votes, 2.4 for a
// hundred, 3.2 for ten thousand. For similar titles, only genres and keywords count. Ties are broken by votes, most
// first, then by id.
//
// The candidates of a feature are its listSize titles with the most votes (then the highest popularity, then the
// lowest id). So the work for a title does not depend on N. A candidate's keywords and people count only within these
// lists; its genres always count. A title is never its own neighbour, and only adult titles have adult neighbours.
//
// The result depends on the titles alone, not on the order of adding, memory, partitions or concurrency.
package neighbours

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/record"
)

const (
	// maxNeighbours limits the recommendations of a title, and its similar titles.
	maxNeighbours = 40

	// listSize is the number of candidates of a feature: the first titles that are not adult, and as many that are.
	listSize = 64
)

// A Title has the fields that neighbours are computed from. A repeated id in a list counts once. Zero stands for a
// missing id and is ignored.
type Title struct {
	ID         int64
	Genres     []int64
	Keywords   []int64
	People     []int64 // first cast members, director, writer, creator
	Collection int64   // 0 for none
	Votes      int64
	Popularity float64
	Adult      bool
}

// A feature is a property that titles can share: its kind in the top byte, its id below.
type feature uint64

type kind uint8

const (
	genre kind = iota + 1
	keyword
	person
	collection
)

func (f feature) kind() kind { return kind(f >> 56) }
func (f feature) id() uint64 { return uint64(f) & (1<<56 - 1) }

// appendFeature appends a feature if its id is valid.
func appendFeature(dst []feature, k kind, id int64) []feature {
	if id <= 0 || id >= 1<<56 {
		return dst
	}
	return append(dst, feature(k)<<56|feature(id))
}

// part returns which of n parts has the list of f.
func (f feature) part(n int) int {
	h := uint64(f) * 0x9e3779b97f4a7c15
	return int((h ^ h>>32) % uint64(n))
}

// appendFeatures appends the features of t in ascending order, each once.
func (t *Title) appendFeatures(dst []feature) []feature {
	start := len(dst)
	for k, ids := range [...][]int64{t.Genres, t.Keywords, t.People} {
		for _, id := range ids {
			dst = appendFeature(dst, genre+kind(k), id)
		}
	}
	dst = appendFeature(dst, collection, t.Collection)
	added := dst[start:]
	slices.Sort(added)
	return dst[:start+len(slices.Compact(added))]
}

// A Writer adds the features of titles to a Sorter, with one section for each part of a Table. It is for one
// goroutine.
type Writer struct {
	sorter       *extsort.Sorter
	first, parts int
	features     []feature
	key          []byte
	genres       []byte
}

// NewWriter returns a Writer to s. The sections for the parts start at first.
func NewWriter(s *extsort.Sorter, first, parts int) *Writer {
	return &Writer{sorter: s, first: first, parts: parts}
}

// Add adds a title, which the caller may use again. No title may be added twice.
func (w *Writer) Add(t *Title) error {
	w.features = t.appendFeatures(w.features[:0])
	genres := 0 // they come first
	for genres < len(w.features) && w.features[genres].kind() == genre {
		genres++
	}
	w.genres = binary.AppendUvarint(w.genres[:0], uint64(genres))
	for _, f := range w.features[:genres] {
		w.genres = binary.AppendUvarint(w.genres, f.id())
	}
	adult := byte(0)
	if t.Adult {
		adult = 1
	}
	popularity := t.Popularity
	if !(popularity > 0) || math.IsInf(popularity, 1) { // NaN too: keys compare the bits of positive numbers
		popularity = 0
	}
	for _, f := range w.features {
		w.key = append(binary.BigEndian.AppendUint64(w.key[:0], uint64(f)), adult)
		w.key = binary.BigEndian.AppendUint32(w.key, ^uint32(max(0, min(t.Votes, math.MaxUint32))))
		w.key = binary.BigEndian.AppendUint64(w.key, ^math.Float64bits(popularity))
		w.key = binary.BigEndian.AppendUint64(w.key, uint64(t.ID)^1<<63)
		if err := w.sorter.Add(w.first+f.part(w.parts), w.key, w.genres); err != nil {
			return err
		}
	}
	return nil
}

// keyBytes is the length of a key: feature, 1 for an adult title, votes and popularity in descending order, id.
const keyBytes = 8 + 1 + 4 + 8 + 8

// maxCast is the number of top-billed cast members that count.
const maxCast = 10

// keyJobs are the jobs that shape a title most.
var keyJobs = map[string]bool{
	"Director": true, "Co-Director": true, "Creator": true,
	"Writer": true, "Screenplay": true, "Story": true, "Novel": true, "Characters": true, "Comic Book": true,
}

// SetMovie sets t from a movie and reuses its memory.
func (t *Title) SetMovie(b complete.Based[catalog.Movie]) {
	m := b.V()
	*t = Title{Genres: t.Genres[:0], Keywords: t.Keywords[:0], People: t.People[:0]}
	t.ID, t.Adult = m.ID.V, m.Adult.V
	t.Votes, t.Popularity = m.VoteCount.V, m.Popularity.V
	if m.BelongsToCollection != nil {
		t.Collection = m.BelongsToCollection.ID.V
	}
	t.Genres = appendIDs(t.Genres, m.Genres)
	if m.Keywords != nil {
		t.Keywords = appendIDs(t.Keywords, m.Keywords.Keywords)
	}
	if m.Credits != nil {
		t.People = appendIDs(t.People, topBilled(m.Credits.Cast))
		t.addCrew(m.Credits.Crew)
	}
}

// SetSeries sets t from a series and reuses its memory.
func (t *Title) SetSeries(b complete.Based[catalog.TV]) {
	s := b.V()
	*t = Title{Genres: t.Genres[:0], Keywords: t.Keywords[:0], People: t.People[:0]}
	t.ID, t.Adult = s.ID.V, s.Adult.V
	t.Votes, t.Popularity = s.VoteCount.V, s.Popularity.V
	t.Genres = appendIDs(t.Genres, s.Genres)
	if s.Keywords != nil {
		t.Keywords = appendIDs(t.Keywords, s.Keywords.Results)
	}
	t.People = appendIDs(t.People, s.CreatedBy)
	switch {
	case s.Credits != nil:
		t.People = appendIDs(t.People, topBilled(s.Credits.Cast))
		t.addCrew(s.Credits.Crew)
	case s.AggregateCredits != nil:
		t.People = appendIDs(t.People, topBilled(s.AggregateCredits.Cast))
		for i := range s.AggregateCredits.Crew {
			c := &s.AggregateCredits.Crew[i]
			for k := range c.Jobs {
				if keyJobs[c.Jobs[k].Job.V] {
					t.People = append(t.People, c.ID.V)
				}
			}
		}
	}
}

func (t *Title) addCrew(crew []catalog.CrewCredit) {
	for i := range crew {
		if keyJobs[crew[i].Job.V] {
			t.People = append(t.People, crew[i].ID.V)
		}
	}
}

// appendIDs appends the ids of rows, which all have a field "id".
func appendIDs[T any](dst []int64, rows []T) []int64 {
	id, _ := record.SchemaOf[T]().Field("id")
	for i := range rows {
		dst = append(dst, record.Of(&rows[i]).Int(id).V)
	}
	return dst
}

// topBilled returns the first members of a cast, which is in billing order.
func topBilled[C any](cast []C) []C { return cast[:min(len(cast), maxCast)] }
