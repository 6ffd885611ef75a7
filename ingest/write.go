package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"reelsplice/ingest/join"
	"reelsplice/schemas/catalog"
)

// overlayFile holds the records of overlay sources by themselves, so that they win
// over what is ingested later too. newOverlay is the next one before it counts.
const (
	overlayFile = "movie.overlay.parquet"
	newOverlay  = ".movie.overlay.new.parquet"
)

// write merges the new records with those of the catalogue, in order of their ids,
// and returns how many there are now.
func (i *ingester) write(ctx context.Context, in *incoming) (int64, error) {
	movies, overlay := filepath.Join(i.Catalog, catalog.MovieFile), filepath.Join(i.Catalog, overlayFile)
	if !i.Overlay {
		return i.merge(ctx, merge{from: movies, to: movies, overlay: overlay, in: in, publish: i.quarantine.Close})
	}
	next := filepath.Join(i.Catalog, newOverlay)
	defer func() { _ = os.Remove(next) }() // gone already when all went well
	if _, err := i.merge(ctx, merge{from: overlay, to: next, in: in, publish: i.quarantine.Close}); err != nil {
		return 0, err
	}
	none := &incoming{end: true}
	return i.merge(ctx, merge{from: movies, to: movies, overlay: next, in: none, publish: func() error {
		// A process that ends right behind this leaves an overlay that the next
		// ingest applies.
		return os.Rename(next, overlay)
	}})
}

// A merge makes one file of the catalogue out of another and new records.
type merge struct {
	from, to string
	overlay  string // applied on top; "" for none
	in       *incoming
	publish  func() error // called right before the file gets its name
}

// merge returns how many records the new file has.
func (i *ingester) merge(ctx context.Context, c merge) (n int64, err error) {
	old, err := openStored(c.from)
	if err != nil {
		return 0, err
	}
	defer old.close()
	overlay := &stored{}
	if c.overlay != "" {
		if overlay, err = openStored(c.overlay); err != nil {
			return 0, err
		}
		defer overlay.close()
	}
	w, err := catalog.Create[catalog.Movie](c.to, kindMovie)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Abort())
		}
	}()
	if err := i.mergeAll(ctx, w, old, c.in, overlay); err != nil {
		return 0, err
	}
	// The quarantine is complete before the catalogue changes: nothing is lost if
	// this process ends between the two.
	if err := c.publish(); err != nil {
		return 0, err
	}
	return w.Rows(), w.Commit()
}

func (i *ingester) mergeAll(ctx context.Context, w *catalog.Writer[catalog.Movie], old *stored, in *incoming, overlay *stored) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		id, ok, err := lowest(old.peek, in.peek, overlay.peek)
		if err != nil || !ok {
			return err
		}
		m, err := i.one(id, old, in, overlay)
		if err != nil {
			return err
		}
		if err := w.Write(m); err != nil {
			return err
		}
	}
}

// lowest returns the lowest id that any of the streams has next.
func lowest(peeks ...func() (int64, bool, error)) (id int64, found bool, err error) {
	for _, peek := range peeks {
		next, ok, err := peek()
		if err != nil {
			return 0, false, err
		}
		if ok && (!found || next < id) {
			id, found = next, true
		}
	}
	return id, found, nil
}

// one joins everything that the streams say about an id: what the catalogue had,
// then the new rows in the order of the sources, then the overlay.
func (i *ingester) one(id int64, old *stored, in *incoming, overlay *stored) (*catalog.Movie, error) {
	m := old.takeIf(id)
	news, err := i.news(id, in)
	if err != nil {
		return nil, err
	}
	for _, later := range []*catalog.Movie{news, overlay.takeIf(id)} {
		switch {
		case m == nil:
			m = later
		case later != nil: // news about a record of the catalogue is no conflict
			join.Movie(m, later, nil)
		}
	}
	return m, nil
}

// news joins the new rows of an id; nil when there are none. They are joined among
// themselves first, so that only they can be in conflict.
func (i *ingester) news(id int64, in *incoming) (m *catalog.Movie, err error) {
	from := ""
	for {
		next, ok, err := in.peek()
		if err != nil || !ok || next != id {
			return m, err
		}
		file := in.file
		row, err := in.take()
		if err != nil {
			return nil, err
		}
		if m == nil {
			m = row
		} else {
			join.Movie(m, row, func(c join.Conflict) { i.conflict(id, c, from, file) })
		}
		from = file
	}
}

func (i *ingester) conflict(id int64, c join.Conflict, from, to string) {
	i.report.Conflicts++
	if len(i.report.Samples) < maxSamples {
		i.report.Samples = append(i.report.Samples,
			fmt.Sprintf("movie %d: %s: %s in %s, %s in %s: the later one wins", id, c.Member, cut(c.Old), from, cut(c.New), to))
	}
}

// cut shortens a value for a message.
func cut(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// stored is the stream of a catalogue file's records. The zero value has none.
type stored struct {
	file *catalog.File[catalog.Movie]
	rows *catalog.Rows[catalog.Movie]
	next *catalog.Movie
	err  error
}

func openStored(path string) (*stored, error) {
	f, err := catalog.OpenFile[catalog.Movie](path, kindMovie)
	if errors.Is(err, os.ErrNotExist) {
		return &stored{}, nil
	}
	if err != nil {
		return nil, err
	}
	return &stored{file: f, rows: f.All()}, nil
}

func (s *stored) peek() (int64, bool, error) {
	if s.next == nil && s.rows != nil && s.err == nil {
		m := &catalog.Movie{}
		if err := s.rows.Next(m); errors.Is(err, io.EOF) {
			s.rows.Close()
			s.rows = nil
		} else if err != nil {
			s.err = err
		} else {
			s.next = m
		}
	}
	if s.next == nil {
		return 0, false, s.err
	}
	return s.next.ID.V, true, nil
}

// takeIf takes the record that peek found if it is that of id; nil otherwise.
func (s *stored) takeIf(id int64) *catalog.Movie {
	m := s.next
	if m == nil || m.ID.V != id {
		return nil
	}
	s.next = nil
	return m
}

func (s *stored) close() {
	if s.rows != nil {
		s.rows.Close()
	}
	if s.file != nil {
		_ = s.file.Close() // read side: nothing to lose
	}
}
