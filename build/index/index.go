// Package index makes the tables of a release: what queries over many resources are
// answered from. While resources are built, what the tables need of them is collected on
// disk; behind them, each table is written in the order of popularity.
//
//	c, err := index.New(dir)
//	defer c.Close()
//	w := c.Writer()                   // one for each task
//	err = w.Movie(m)                  // each resource of the release once
//	err = w.Close()
//	err = c.WriteTables(ctx, releaseWriter, options)
//
// # Tables
//
// There is a table for movies, series, people, collections, companies and keywords. Its
// rows are the resources of the kind that the release has, by popularity, the lowest id
// first among equals; the number of a row is the rank of its resource. Of movies, series
// and people, popularity is what their records say; of a collection it is that of its most
// popular part, of companies and keywords the number of titles that name them. The
// sections are those of package posting, and those of names, which begin with "text.".
//
// What a record does not say is in no list; columns have 0 for it, or posting.NoDay.
//
// # Trends
//
// Without a release before, and without access counts, the hottest are the most popular.
// With a release before, the score of a day is the popularity less what it was then, that
// of a week is the popularity less its heat. Heat follows popularity slowly:
//
//	heat = heat then + (popularity - heat then) / 7
//
// A title that was not there has its popularity for heat and scores 0. With access counts,
// what was asked for comes first, by how often it was in the day or in the week; the rest
// follows by its score. The rank decides among equals.
//
// What is written depends on the rows and the options' sources alone: neither on the order
// in which rows were added, nor on memory or jobs.
package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"

	"reelsplice/build/shuffle"
	"reelsplice/schemas/encoding"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/posting"
)

// A table is what one kind has.
type table struct {
	kind    fragment.Kind
	columns []string // sections: a Range each
	lists   []string // sections: Lists each
	title   bool     // it has release dates, titles to sort by, and revenue
	trends  bool
}

// The columns and lists of tables; what fewer kinds have comes later.
const (
	day = iota
	firstDay
	lastDay
	voteAverage
	voteCount
	runtime
	seasons // of series, as what follows
	episodes
	columnCount
)

const (
	flag  = iota
	genre // of movies and series, as what follows
	keyword
	company
	cast
	crew
	country
	language
	anyYear
	offer
	certification
	network // of series, as what follows
	status
	seriesType
	listCount
)

var columnNames = [columnCount]string{
	day: posting.Day, firstDay: posting.FirstDay, lastDay: posting.LastDay, voteAverage: posting.VoteAverage,
	voteCount: posting.VoteCount, runtime: posting.Runtime, seasons: posting.Seasons, episodes: posting.Episodes,
}

var listNames = [listCount]string{
	flag: posting.Flag, genre: posting.Genre, keyword: posting.Keyword, company: posting.Company, cast: posting.Cast,
	crew: posting.Crew, country: posting.Country, language: posting.Language, anyYear: posting.AnyYear,
	offer: posting.Offer, certification: posting.Certification, network: posting.Network, status: posting.Status,
	seriesType: posting.Type,
}

// tables are all tables, those first that take longest.
var tables = [...]table{
	{kind: fragment.KindMovie, columns: columnNames[:seasons], lists: listNames[:network], title: true, trends: true},
	{kind: fragment.KindTV, columns: columnNames[:], lists: listNames[:], title: true, trends: true},
	{kind: fragment.KindPerson, lists: listNames[:genre], trends: true},
	{kind: fragment.KindCompany, lists: listNames[:genre]},
	{kind: fragment.KindKeyword, lists: listNames[:genre]},
	{kind: fragment.KindCollection, lists: listNames[:genre]},
}

// tableOf returns the number of a kind's table.
func tableOf(kind fragment.Kind) int {
	for i := range tables {
		if tables[i].kind == kind {
			return i
		}
	}
	panic("index: no table of kind " + kind.String()) // only this package asks
}

// A Collector takes in rows and makes tables of them.
type Collector struct {
	rows *shuffle.Shuffle // a partition a table
}

// collectMemory is what rows are buffered in before they are written to disk.
const collectMemory = 1 << 20

// New returns a Collector with its files below dir.
func New(dir string) (*Collector, error) {
	rows, err := shuffle.New(dir, len(tables), collectMemory)
	if err != nil {
		return nil, err
	}
	return &Collector{rows}, nil
}

// Close removes the files. A second Close does nothing.
func (c *Collector) Close() error { return c.rows.Close() }

// A Writer adds the rows of one task. It is for one goroutine.
type Writer struct {
	w   *shuffle.Writer
	row row
	key []byte
	buf []byte
}

// Writer returns a Writer, which must be closed before WriteTables.
func (c *Collector) Writer() *Writer { return &Writer{w: c.rows.Writer()} }

// Close ends the adding. A second Close does nothing.
func (w *Writer) Close() error { return w.w.Close() }

// start empties the row and returns it.
func (w *Writer) start(id uint64, popularity float64) *row {
	w.row.reset(id, popularity)
	return &w.row
}

// add adds the row to the table of a kind.
func (w *Writer) add(kind fragment.Kind) error {
	n := tableOf(kind)
	w.key = w.row.appendKey(w.key[:0])
	w.buf = w.row.append(w.buf[:0], &tables[n])
	return w.w.Add(uint64(n), w.key, w.buf)
}

// rowKeyLen is the length of what rows are sorted by: popularity, so that the highest
// comes first, and id.
const rowKeyLen = 16

func (r *row) appendKey(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, ^math.Float64bits(r.popularity)), r.id)
}

func parseRowKey(key []byte) (id uint64, popularity float64, err error) {
	if len(key) != rowKeyLen {
		return 0, 0, encoding.ErrCut
	}
	return binary.BigEndian.Uint64(key[8:]), math.Float64frombits(^binary.BigEndian.Uint64(key)), nil
}

// WriteTables writes all tables. Every Writer must be closed.
func (c *Collector) WriteTables(ctx context.Context, w *release.Writer, o Options) error {
	jobs := max(1, min(o.Jobs, len(tables)))
	o.Memory /= int64(jobs)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	for i := range tables {
		g.Go(func() error {
			t := &tables[i]
			if err := release.Guard(func() error { return c.writeTable(ctx, w, i, o) }); err != nil {
				return fmt.Errorf("table of kind %s: %w", t.kind, err)
			}
			return nil
		})
	}
	return g.Wait()
}

func (c *Collector) writeTable(ctx context.Context, w *release.Writer, n int, o Options) (err error) {
	b := &builder{ctx: ctx, t: &tables[n], o: o}
	if err := b.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	rows, err := c.rows.Partition(ctx, n, o.Memory/2)
	if err != nil {
		return err
	}
	defer rows.Close()
	if err := b.take(rows); err != nil {
		return err
	}
	tw, err := w.Table(b.t.kind.String(), len(b.ids))
	if err != nil {
		return err
	}
	return errors.Join(b.write(tw), tw.Close())
}
