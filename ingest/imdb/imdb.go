// Package imdb joins the tables of IMDb's non-commercial datasets into records of the catalogue: titles with ratings,
// alternative titles and credits, episodes with their series, and people. Any of the seven tables may be missing.
//
//	j := imdb.New(imdb.Config{Dir: dir, Memory: 256 << 20 ...})
//	defer j.Close()
//	err := j.Add("title.basics", file, row, line, json) // every row of every table, in any order
//	err = j.Records(ctx, emit)
//
// The tables are far larger than memory and have no common order, so they are sorted on disk: credits by person, to add names;
// episodes by series, to find duplicate numbers; then everything by title. Memory holds Config.Memory bytes and the rows of one
// title, which are bounded.
//
// The meaning of the columns is documented in ingest/layout/docs/imdb.md.
package imdb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Config configures a join.
type Config struct {
	Dir    string // for temporary files
	Memory int64  // bytes of rows in memory
	// ID returns the catalogue's ID for an IMDb movie, series, episode or person, if there is one. Otherwise the ID is
	// a billion plus the number in the IMDb ID. It must be consistent during a join.
	ID func(kind fragment.Kind, imdb string) (id int64, ok bool)
	// Place describes a row for messages.
	Place func(file int, row, line int64) string
	// Bad receives rows that are rejected during the join: they have an earlier row's key, but other content. json has the
	// known columns in the published order. An error ends the join.
	Bad func(file int, row, line int64, json []byte, err error) error
	// Values receives cells that Add leaves out. If it is nil, their rows are rejected.
	Values *record.Values
}

const (
	// maxRowBytes is the longest row: fifty times the longest list of writers.
	maxRowBytes = 1 << 20

	// maxTitleBytes bounds the rows of one title, which a join holds in memory besides Config.Memory.
	maxTitleBytes = 64 << 20
)

// A Joiner collects rows and makes records of them. It is not safe for concurrent use.
type Joiner struct {
	config  Config
	dropped map[string]int64 // see Dropped

	// people has the rows of name.basics and all credits, by person. episodes has title.episode by series. titles has the rest,
	// and finally everything about titles, by title.
	people, episodes, titles *extsort.Sorter

	cells   [maxColumns]string // current row; "" for null, \N and an empty text
	key     []byte
	payload []byte
}

// New returns an empty Joiner. Temporary files are created when needed.
func New(c Config) *Joiner {
	return &Joiner{
		config: c, dropped: map[string]int64{},
		people:   extsort.New(extsort.Options{Dir: c.Dir, Memory: c.Memory / 2}),
		episodes: extsort.New(extsort.Options{Dir: c.Dir, Memory: c.Memory / 8}),
		titles:   extsort.New(extsort.Options{Dir: c.Dir, Memory: c.Memory * 3 / 8}),
	}
}

// Add adds one row of a table, a JSON object of texts and nulls, which it does not retain. file, row and line are its place,
// see place.seq. Of rows with equal keys, the first by file and row is used. A *record.FieldError means that the row is bad and
// was not added; Add may be called again. Any other error is final.
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
		if path := t.columns[i].droppedAs; path != "" && j.cells[i] != "" {
			j.drop(path, 1)
		}
	}
	return nil
}

// scan sets j.cells to the columns of a row, a valid JSON object of texts, numbers, booleans and nulls, in IMDb's form. Unknown
// columns are counted.
func (j *Joiner) scan(t *table, row string) error {
	j.cells = [maxColumns]string{}
	next := 0
	return tmdb.InField(record.EachField(row, func(name, raw string) error {
		text := ""
		switch {
		case raw[0] == '{', raw[0] == '[':
			err := j.config.Values.Reject(&record.FieldError{Field: name, What: "want a text, a number or null, found " + record.Shown(raw), Value: record.Shown(raw)})
			if err != nil {
				return err
			}
		case raw[0] == '"':
			text = record.Unquote(raw)
		case raw == "true":
			text = "1"
		case raw == "false":
			text = "0"
		case raw != "null":
			text = raw
		}
		if text == `\N` {
			text = ""
		}
		i := next // rows usually have the published order
		if i >= len(t.columns) || name != t.columns[i].name {
			i = slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
		}
		switch {
		case i >= 0:
			j.cells[i] = text
		case text != "":
			j.dropName(t.name+".", name)
		}
		next++
		return nil
	}), "")
}

// Records joins the rows and calls emit once for each record, with the place of its main row. The order depends only on the
// rows' contents. An error of emit ends the join and is returned.
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

// Dropped counts values and rows that were left out: by table and column if the API has no field for them, else by reason. It
// is complete after Records.
func (j *Joiner) Dropped() map[string]int64 { return j.dropped }

// A place is the position of a row in the input.
type place struct {
	file      int
	row, line int64
}

// seq orders rows of the same key by file and row. It has 20 bits for the file and 43 for the row.
func (p place) seq() uint64 { return uint64(p.file)<<43 | uint64(p.row) }

// appendRow appends a row's place and cells, the format of rows in a sorter.
func (j *Joiner) appendRow(dst []byte, t *table, from place) []byte {
	dst = appendPlace(dst, from)
	for i := range t.columns {
		dst = encoding.AppendText(dst, j.cells[i])
	}
	return dst
}

func appendPlace(dst []byte, from place) []byte {
	dst = binary.AppendUvarint(dst, uint64(from.file))
	dst = binary.AppendUvarint(dst, uint64(from.row))
	return binary.AppendVarint(dst, from.line)
}

// A row is one row of a table, read from a sorter. table is nil in the zero row.
type row struct {
	place
	table *table
	text  string // all packed cells: equal rows have equal texts
	cells [maxColumns]string
}

// readRow reads a row of a table up to the payload's end. All cells share one copy of the payload.
func readRow(r *encoding.Reader, t *table) (out row, err error) {
	out.place = readPlace(r)
	out.table, out.text = t, string(r.Rest())
	for i := range t.columns {
		size := len(r.Bytes())
		end := len(out.text) - r.Len()
		out.cells[i] = out.text[end-size : end]
	}
	return out, r.Err()
}

func readPlace(r *encoding.Reader) place {
	return place{file: int(r.Uvarint()), row: int64(r.Uvarint()), line: r.Varint()}
}

// A rowKey orders the rows of a sorter.
type rowKey struct {
	id       uint32 // number of a person, a series or a title
	position uint64 // position among the rows of id
	seq      uint64 // order of rows in one position, usually place.seq
}

const keyBytes = 4 + 8 + 8

// sort adds a row to a sorter.
func (j *Joiner) sort(sorter *extsort.Sorter, k rowKey, payload []byte) error {
	j.key = binary.BigEndian.AppendUint32(j.key[:0], k.id)
	j.key = binary.BigEndian.AppendUint64(j.key, k.position)
	j.key = binary.BigEndian.AppendUint64(j.key, k.seq)
	return sorter.Add(0, j.key, payload)
}

// eachRow calls fn with the rows of a sorter in order, then closes it. The payload is valid until fn returns.
func eachRow(ctx context.Context, s *extsort.Sorter, fn func(key rowKey, payload []byte) error) error {
	iterator, err := s.Sort(ctx, 0)
	if err != nil {
		return err
	}
	err = iterator.Each(func(key, payload []byte) error {
		if len(key) != keyBytes {
			return encoding.ErrCut
		}
		return fn(rowKey{binary.BigEndian.Uint32(key), binary.BigEndian.Uint64(key[4:]), binary.BigEndian.Uint64(key[12:])}, payload)
	})
	return errors.Join(err, s.Close())
}

// drop counts values or rows that are left out.
func (j *Joiner) drop(path string, n int64) {
	if n > 0 {
		record.Count(j.dropped, path, n)
	}
}

// dropName counts a name from a row under a path. Long names are cut.
func (j *Joiner) dropName(path, name string) { j.drop(path+record.Shown(name), 1) }

// An output receives records, each with the place of its main row.
type output func(file int, row, line int64, rec layout.Record) error

// record completes a record and emits it. Fields that IMDb lacks are absent, not null: null would state that there is no value.
func (o output) record(from place, kind fragment.Kind, r record.Record) error {
	markUnknown(r)
	t := catalog.TypeOf(kind)
	key, err := t.Key(r)
	if err != nil {
		return err
	}
	return o(from.file, from.row, from.line, layout.Record{Record: r, Type: t, Key: key})
}

// markUnknown makes the unset fields of a new object absent.
func markUnknown(r record.Record) {
	list := make([]byte, 0, 256)
	for i := range r.Schema.Fields {
		if f := &r.Schema.Fields[i]; f.Nullable && record.IsNull(r, f.Name) {
			list = append(append(list, f.Name...), ',')
		}
	}
	r.Object().Unusual = strings.TrimSuffix(string(list), ",")
}
