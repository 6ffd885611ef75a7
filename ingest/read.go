package ingest

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/zeebo/xxh3"

	"reelsplice/ingest/layout"
	"reelsplice/ingest/quarantine"
	"reelsplice/ingest/runs"
	"reelsplice/ingest/source"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/wire"
)

// read puts every good row of all sources into the sorter, and the bad ones into
// quarantine.
func (i *ingester) read(ctx context.Context, sorter *runs.Sorter) error {
	files, err := i.list()
	if err != nil {
		return err
	}
	r := reader{ingester: i, sorter: sorter, layouts: map[string]layout.Layout{}}
	for _, f := range files {
		r.total += f.Bytes
	}
	for n, f := range files {
		i.files = append(i.files, f.Name)
		if err := r.file(ctx, n, f); err != nil {
			// One of many files that cannot be read, or not to its end, keeps the
			// others from nothing; what was read of it is good.
			var damaged *source.FileError
			if len(files) == 1 || !errors.As(err, &damaged) {
				return err
			}
			if i.report.FailedFiles++; len(i.report.Failed) < maxSamples {
				i.report.Failed = append(i.report.Failed, err.Error())
			}
		}
		r.done += f.Bytes
		if r.Progress != nil {
			r.Progress(r.done, r.total)
		}
	}
	if i.report.FailedFiles == int64(len(files)) && i.report.Rows == 0 {
		return errors.New(i.report.Failed[0])
	}
	for _, l := range r.layouts {
		c := l.Counts()
		add(i.report.Unknown, c.Unknown)
		add(i.report.Coerced, c.Coerced)
		add(i.report.Dropped, l.Dropped())
	}
	return nil
}

func add(dst, src map[string]int64) {
	for k, n := range src {
		wire.Count(dst, k, n)
	}
}

// list returns the files to read. Files of kinds that are not ingested yet are
// named in the report, unless nothing else is left.
func (i *ingester) list() ([]source.File, error) {
	all, err := source.List(i.Sources, source.Options{Kind: i.Kind, Skipped: func(path, reason string) {
		i.report.Skipped = append(i.report.Skipped, path+": "+reason)
	}})
	if err != nil {
		return nil, err
	}
	var files []source.File
	later := ""
	for _, f := range all {
		switch f.Kind {
		case kindMovie:
			files = append(files, f)
		case "":
			return nil, fmt.Errorf("%s: the name does not tell what kind of records it holds: use --kind %s", f.Name, kindMovie)
		default:
			reason := f.Name + ": " + f.Kind + " records are not ingested yet"
			i.report.Skipped = append(i.report.Skipped, reason)
			later = cmp.Or(later, reason)
		}
	}
	if len(files) > 0 {
		return files, nil
	}
	// Files that were skipped beside those are no reason, unless there is no other.
	for _, reason := range append([]string{later}, i.report.Skipped...) {
		if reason != "" {
			return nil, errors.New(oneLine(reason))
		}
	}
	return nil, errors.New("the sources hold no records")
}

// oneLine keeps a file name with a line break from tearing a message.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// reader reads files one after another.
type reader struct {
	*ingester
	sorter  *runs.Sorter
	layouts map[string]layout.Layout
	done    int64 // bytes of the files read
	total   int64
	seq     uint64
	text    []byte
}

// seen remembers what a file said about an id: where, and a hash of what.
type seen struct {
	row, line int64
	hash      uint64
}

func (r *reader) file(ctx context.Context, number int, f source.File) error {
	src, err := source.Open(f, source.Options{Kind: r.Kind, TempDir: r.work})
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // read side
	name := r.Layout
	ids := map[int64]seen{}
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		row, err := src.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if name == layout.Auto && row.Err == nil {
			name = layout.Detect(row.JSON)
		}
		if err := r.row(number, src.File(), row, name, ids); err != nil {
			return err
		}
		if n%256 == 0 && r.Progress != nil {
			r.Progress(r.done+src.Consumed(), r.total)
		}
	}
}

func (r *reader) row(number int, f source.File, row source.Row, name string, ids map[int64]seen) error {
	r.report.Rows++
	if row.Err != nil {
		return r.bad(row, row.Err)
	}
	l, err := r.layout(name)
	if err != nil {
		return err
	}
	m, err := l.Movie(layout.Row{
		JSON: string(row.JSON), ID: f.ID, Sub: f.Sub, Table: f.Format == source.FormatParquet,
	})
	if err != nil {
		return r.bad(row, err)
	}
	r.text = wire.Append(r.text[:0], wire.RecordOf(m))
	now := seen{row.Place.Row, row.Place.Line, xxh3.Hash(r.text)}
	if before, ok := ids[m.ID.V]; ok {
		if before.hash == now.hash {
			r.report.Duplicates++
			return nil
		}
		first := source.Place{File: f.Name, Row: before.row, Line: before.line}
		return r.bad(row, &wire.FieldError{Field: "id", What: fmt.Sprintf("%d is already at %s, with other content", m.ID.V, first)})
	}
	ids[m.ID.V] = now
	return r.hold(number, m)
}

// hold adds the record, whose text is r.text, to the sorter. Its payload is the
// number of its file and its JSON.
func (r *reader) hold(number int, m *catalog.Movie) error {
	payload := binary.AppendUvarint(nil, uint64(number))
	payload = append(payload, r.text...)
	r.seq++
	return r.sorter.Add(uint64(m.ID.V), r.seq, payload)
}

func (r *reader) layout(name string) (layout.Layout, error) {
	if l, ok := r.layouts[name]; ok {
		return l, nil
	}
	l, err := layout.New(name, r.Language)
	if err == nil {
		r.layouts[name] = l
	}
	return l, err
}

// bad puts a row into quarantine.
func (r *reader) bad(row source.Row, err error) error {
	e := quarantine.Entry{
		File: row.Place.File, Row: row.Place.Row, Line: row.Place.Line, Kind: kindMovie,
		Reason: err.Error(), Raw: row.JSON, RawBytes: row.Size,
	}
	var fe *wire.FieldError
	var re *source.RowError
	switch {
	case errors.As(err, &fe):
		e.Field, e.Reason = fe.Field, fe.What
	case errors.As(err, &re):
		e.Reason = re.Reason
	}
	return r.quarantine.Add(e)
}

// incoming is the sorted stream of new records.
type incoming struct {
	it     *runs.Iterator
	files  []string
	key    uint64
	body   []byte
	file   string
	loaded bool
	end    bool
	parser *wire.Parser
}

// peek returns the id of the next record; false at the end.
func (n *incoming) peek() (id int64, ok bool, err error) {
	if n.loaded || n.end {
		return int64(n.key), !n.end, nil
	}
	key, _, payload, err := n.it.Next()
	if errors.Is(err, io.EOF) {
		n.end = true
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	number, w := binary.Uvarint(payload)
	n.key, n.body, n.loaded = key, payload[w:], true
	if int(number) < len(n.files) {
		n.file = n.files[number]
	}
	return int64(key), true, nil
}

// take parses the record that peek found.
func (n *incoming) take() (*catalog.Movie, error) {
	if n.parser == nil {
		n.parser = wire.NewParser()
	}
	n.loaded = false
	m := &catalog.Movie{}
	if err := n.parser.Parse(string(n.body), wire.RecordOf(m)); err != nil {
		return nil, fmt.Errorf("read sorted record %d: %w", n.key, err)
	}
	return m, nil
}
