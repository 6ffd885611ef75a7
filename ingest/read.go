package ingest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/zeebo/xxh3"

	"reelsplice/ingest/layout"
	"reelsplice/ingest/quarantine"
	"reelsplice/ingest/runs"
	"reelsplice/ingest/source"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
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
	if r.skipped == len(files) {
		return errors.New(oneLine(i.report.Skipped[0]))
	}
	for _, l := range r.layouts {
		c := l.Counts()
		add(i.report.Unknown, c.Unknown)
		add(i.report.Coerced, c.Coerced)
		add(i.report.Dropped, l.Dropped())
		if s, ok := l.(layout.Splitter); ok {
			add(i.report.Whole, s.Whole())
		}
	}
	return nil
}

func add(dst, src map[string]int64) {
	for k, n := range src {
		wire.Count(dst, k, n)
	}
}

// list returns the files to read.
func (i *ingester) list() ([]source.File, error) {
	files, err := source.List(i.Sources, source.Options{Kind: i.Kind, Skipped: func(path, reason string) {
		i.report.Skipped = append(i.report.Skipped, path+": "+reason)
	}})
	if err != nil {
		return nil, err
	}
	found := files[:0:0]
	for _, f := range files {
		if f.Kind == "" && (i.Layout == layout.TMDB || i.Layout == layout.Movnix) {
			i.report.Skipped = append(i.report.Skipped, f.Name+": "+noKind())
			continue
		}
		found = append(found, f)
	}
	files = found
	if len(files) == 0 && len(i.report.Skipped) > 0 {
		return nil, errors.New(oneLine(i.report.Skipped[0]))
	}
	if len(files) == 0 {
		return nil, errors.New("the sources hold no records")
	}
	return files, nil
}

// noKind says that a file's name does not tell what a layout must know.
func noKind() string {
	return "the name does not tell what kind of records it holds: use --kind with one of " + strings.Join(Kinds(), ", ")
}

// oneLine keeps a file name with a line break from tearing a message.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// reader reads files one after another.
type reader struct {
	*ingester
	sorter  *runs.Sorter
	layouts map[string]layout.Layout
	skipped int   // files that hold no records
	done    int64 // bytes of the files read
	total   int64
	seq     uint64
	text    [][]byte // the JSON of a row's records
	payload []byte
}

// A resource is one that a file spoke of.
type resource struct {
	kind fragment.Kind
	key  catalog.Key
}

// seen remembers what a file said about a resource: where, and a hash of what.
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
	name, told := r.Layout, false
	ids := map[resource]seen{}
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		row, err := src.Next()
		if errors.Is(err, io.EOF) {
			if !layout.IsMapped(name) { // the names of tables are not those of kinds
				r.kinds[f.Kind] = true
			}
			return nil
		}
		if err != nil {
			return err
		}
		if !told && row.Err == nil {
			var reason string
			if name, reason = r.tell(src.File(), row.JSON); reason != "" {
				r.skipped++
				r.report.Skipped = append(r.report.Skipped, f.Name+": "+reason)
				return nil
			}
			told = true
		}
		if err := r.row(number, src.File(), row, name, ids); err != nil {
			return err
		}
		if n%256 == 0 && r.Progress != nil {
			r.Progress(r.done+src.Consumed(), r.total)
		}
	}
}

// tell returns the layout of a file by its first good row, and why it is left out if it
// holds no records.
func (r *reader) tell(f source.File, row []byte) (name, reason string) {
	name = r.Layout
	if name == layout.Auto {
		name = layout.Detect(f.Base(), row, r.options)
	}
	reason = layout.Skip(name, f.Base(), row, r.options)
	if reason == "" && f.Kind == "" && !layout.IsMapped(name) {
		reason = noKind()
	}
	return name, reason
}

func (r *reader) row(number int, f source.File, row source.Row, name string, ids map[resource]seen) error {
	r.report.Rows++
	if row.Err != nil {
		return r.bad(f, row, row.Err)
	}
	l, err := r.layout(name)
	if err != nil {
		return err
	}
	typ, _ := catalog.TypeNamed(f.Kind)
	recs, err := l.Records(layout.Row{
		JSON: string(row.JSON), File: f.Base(), Type: typ, ID: f.ID, Text: f.Text, Series: f.Series, Season: f.Season,
		Episode: f.Episode, Sub: f.Sub, Table: f.Format == source.FormatParquet,
	})
	if err != nil {
		return r.bad(f, row, err)
	}
	r.texts(recs)
	news, err := r.news(f, row.Place, recs, ids)
	if err != nil {
		return r.bad(f, row, err)
	}
	if len(news) == 0 && len(recs) > 0 {
		r.report.Duplicates++
	}
	for _, n := range news {
		if err := r.hold(number, recs[n], r.text[n]); err != nil {
			return err
		}
	}
	return nil
}

// texts sets r.text to the records' JSON.
func (r *reader) texts(recs []layout.Record) {
	for len(r.text) < len(recs) {
		r.text = append(r.text, nil)
	}
	for n := range recs {
		r.text[n] = wire.Append(r.text[n][:0], recs[n].Record)
	}
}

// news returns the places of the records that the file has not given before. A file
// that says two things about one resource is refused the later row, unless its rows are
// parts of records.
func (r *reader) news(f source.File, at source.Place, recs []layout.Record, ids map[resource]seen) ([]int, error) {
	var news []int
	own := map[resource]seen{}
	for n := range recs {
		rec := &recs[n]
		if rec.Part {
			news = append(news, n)
			continue
		}
		id, now := resource{rec.Type.Kind, rec.Key}, seen{at.Row, at.Line, xxh3.Hash(r.text[n])}
		before, ok := ids[id]
		if !ok {
			before, ok = own[id]
		}
		if ok && before.hash != now.hash {
			first := source.Place{File: f.Name, Row: before.row, Line: before.line}
			return nil, &wire.FieldError{Field: "id", What: fmt.Sprintf("%s is already at %s, with other content", rec.Key.Describe(rec.Type.Kind), first)}
		}
		if !ok {
			own[id] = now
			news = append(news, n)
		}
	}
	maps.Copy(ids, own)
	return news, nil
}

// hold adds a record and its JSON to the sorter. The payload is the number of its file,
// twice, plus one for a part, and the JSON.
func (r *reader) hold(number int, rec layout.Record, text []byte) error {
	r.payload = binary.AppendUvarint(r.payload[:0], uint64(number)<<1|partBit(rec.Part))
	r.payload = append(r.payload, text...)
	r.seq++
	return r.sorter.Add(runs.Key{Group: uint8(rec.Type.Kind), Hi: rec.Key.Hi, Lo: rec.Key.Lo}, r.seq, r.payload)
}

func partBit(part bool) uint64 {
	if part {
		return 1
	}
	return 0
}

func (r *reader) layout(name string) (layout.Layout, error) {
	if l, ok := r.layouts[name]; ok {
		return l, nil
	}
	l, err := layout.New(name, r.options)
	if err == nil {
		r.layouts[name] = l
	}
	return l, err
}

// bad puts a row into quarantine.
func (r *reader) bad(f source.File, row source.Row, err error) error {
	e := quarantine.Entry{
		File: row.Place.File, Row: row.Place.Row, Line: row.Place.Line, Kind: f.Kind,
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
	key    runs.Key
	body   []byte
	file   string
	part   bool
	loaded bool
	end    bool
	parser *wire.Parser
}

// peek returns the key of the next record of a kind; false when it is of another kind,
// and at the end.
func (n *incoming) peek(t *catalog.Type) (key catalog.Key, ok bool, err error) {
	if !n.loaded && !n.end {
		if err := n.load(); err != nil {
			return key, false, err
		}
	}
	return catalog.Key{Hi: n.key.Hi, Lo: n.key.Lo}, !n.end && n.key.Group == uint8(t.Kind), nil
}

// load reads the next record, if there is one.
func (n *incoming) load() error {
	key, _, payload, err := n.it.Next()
	if errors.Is(err, io.EOF) {
		n.end = true
		return nil
	}
	if err != nil {
		return err
	}
	head, w := binary.Uvarint(payload)
	n.key, n.body, n.part, n.loaded = key, payload[w:], head&1 != 0, true
	if number := int(head >> 1); number < len(n.files) {
		n.file = n.files[number]
	}
	return nil
}

// take parses the record that peek found.
func (n *incoming) take(t *catalog.Type) (wire.Record, error) {
	if n.parser == nil {
		n.parser = wire.NewParser()
	}
	n.loaded = false
	r := t.New()
	if err := n.parser.Parse(string(n.body), r); err != nil {
		return r, fmt.Errorf("read a sorted %s record: %w", t.Name(), err)
	}
	return r, nil
}
