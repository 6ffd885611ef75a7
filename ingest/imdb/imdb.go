// Package imdb joins the tables of IMDb's non-commercial datasets into records of the
// catalogue: titles with their ratings, other titles and credits, episodes with the
// series they are of, and people. Any of the seven tables may be missing.
//
//	j := imdb.New(imdb.Config{Dir: dir, Memory: 256 << 20 ...})
//	defer j.Close()
//	err := j.Add("title.basics", file, row, line, json) // every row of every table, in any order
//	err = j.Records(ctx, emit)
//
// The tables are far larger than memory and share no order, so they are sorted on
// disk: credits by person, to learn names; episodes by series, to find numbers that are
// taken; then everything by title. What is held at once is the memory given, and the
// rows of one title, which have a limit.
//
// What the columns become is documented in ingest/layout/docs/imdb.md.
package imdb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Config is the settings of a join.
type Config struct {
	Dir    string // for temporary files
	Memory int64  // bytes of rows held at once
	// ID returns the catalogue's id of a movie, a series, an episode or a person of IMDb, if it has
	// one. Others get a billion plus the number in their IMDb id. It may be
	// nil, and must return the same id during one join.
	ID func(kind fragment.Kind, imdb string) (id int64, ok bool)
	// Place names a row for messages.
	Place func(file int, row, line int64) string
	// Bad is given the rows that turn out bad when the tables are joined: those that have
	// the key of an earlier row and other content. json has the columns that are known, in
	// the published order. Its error ends the join.
	Bad func(file int, row, line int64, json []byte, err error) error
	// Values takes the cells that Add leaves out; with nil it refuses their rows.
	Values *record.Values
}

const (
	// maxRowBytes is the longest row: fifty times the longest list of writers.
	maxRowBytes = 1 << 20

	// maxTitleBytes is how much the rows of one title may take together, which is what
	// a join holds at once beside Config.Memory.
	maxTitleBytes = 64 << 20
)

// A Joiner collects rows and makes records of them. It is for one goroutine.
type Joiner struct {
	config  Config
	dropped map[string]int64 // see Dropped

	// people has the rows of name.basics and everything that names a person, by person;
	// episodes has title.episode by series; titles has the rest, and in the end all
	// that becomes part of a title, by title.
	people, episodes, titles *extsort.Sorter

	cells   [maxColumns]string // of the row at hand: "" is null, and so are \N and an empty text
	key     []byte
	payload []byte
}

// New returns an empty Joiner. Its temporary files are made when they are needed.
func New(c Config) *Joiner {
	return &Joiner{
		config: c, dropped: map[string]int64{},
		people:   extsort.New(extsort.Options{Dir: c.Dir, Memory: c.Memory / 2}),
		episodes: extsort.New(extsort.Options{Dir: c.Dir, Memory: c.Memory / 8}),
		titles:   extsort.New(extsort.Options{Dir: c.Dir, Memory: c.Memory * 3 / 8}),
	}
}

// Add adds one row of a table: a JSON object of texts and nulls, which is not kept. file,
// row and line are its place, see place.seq; of rows with the same key the first, by file and
// row, counts. The error is a *record.FieldError when the row is bad: then nothing of it
// was added and the next row may follow. After any other error nothing may.
func (j *Joiner) Add(table string, file int, row, line int64, json string) error {
	t := tableNamed(table)
	if t == nil {
		return fmt.Errorf("imdb: no table %q", table)
	}
	if len(json) > maxRowBytes {
		return &record.FieldError{What: fmt.Sprintf("want a row of at most %d bytes, found %d", maxRowBytes, len(json))}
	}
	if err := j.scan(t, json); err != nil {
		return err
	}
	if err := t.check(&j.cells, j.config.Values); err != nil {
		return err
	}
	if err := t.add(j, t, place{file, row, line}); err != nil {
		return err
	}
	for i := range t.columns {
		if path := t.columns[i].lost; path != "" && j.cells[i] != "" {
			j.drop(path, 1)
		}
	}
	return nil
}

// Records joins the rows added and calls emit with every record once, each with the
// place of the row that it is of. Their order follows from the rows and not from that
// in which these came. An error of emit ends the join and is returned.
func (j *Joiner) Records(ctx context.Context, emit func(file int, row, line int64, rec layout.Record) error) error {
	if err := j.joinPeople(ctx, emit); err != nil {
		return err
	}
	if err := j.joinEpisodes(ctx); err != nil {
		return err
	}
	return j.joinTitles(ctx, emit)
}

// Close removes the temporary files. A second Close does nothing.
func (j *Joiner) Close() error {
	return errors.Join(j.people.Close(), j.episodes.Close(), j.titles.Close())
}

// Dropped counts values and rows that are left out: by table and column where the API has no place for
// them, by reason otherwise. It is complete when Records has returned.
func (j *Joiner) Dropped() map[string]int64 { return j.dropped }

// A rowKey orders the rows of a sorter.
type rowKey struct {
	id  uint32 // number of a person, a series or a title
	at  uint64 // place among the rows of id
	seq uint64 // order of rows with one place, mostly place.seq
}

const keyBytes = 4 + 8 + 8

// sort adds a row to a sorter.
func (j *Joiner) sort(to *extsort.Sorter, k rowKey, payload []byte) error {
	j.key = binary.BigEndian.AppendUint32(j.key[:0], k.id)
	j.key = binary.BigEndian.AppendUint64(j.key, k.at)
	j.key = binary.BigEndian.AppendUint64(j.key, k.seq)
	return to.Add(0, j.key, payload)
}

// each calls fn with the rows of a sorter in order, then frees it. The payload is valid until
// fn returns.
func each(ctx context.Context, s *extsort.Sorter, fn func(key rowKey, payload []byte) error) error {
	it, err := s.Sort(ctx, 0)
	if err != nil {
		return err
	}
	err = it.Each(func(key, payload []byte) error {
		if len(key) != keyBytes {
			return encoding.ErrCut
		}
		return fn(rowKey{binary.BigEndian.Uint32(key), binary.BigEndian.Uint64(key[4:]), binary.BigEndian.Uint64(key[12:])}, payload)
	})
	return errors.Join(err, s.Close())
}
