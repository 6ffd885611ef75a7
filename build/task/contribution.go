package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Contributions cross stages in files with sections: see plan.Plan. The key identifies the target resource or
// external id. The payload starts with the bytes that order the contributions to one resource.

// A contributor collects the contributions of one task to other resources, to external ids and
// to tables.
type contributor struct {
	b      *Build
	s      *extsort.Sorter
	rows   *index.Writer
	latest int64 // highest person ID in the credits
	key    []byte
	buf    []byte
	err    error // the first one
}

// contribute runs fn with a part of the release and a contributor. It writes the part, and the contributions to a file in
// the work folder.
func (b *Build) contribute(ctx context.Context, d *taskRecord, part int, fn func(o *output, c *contributor) error) error {
	return b.writeSorted(ctx, d, fmt.Sprintf("%s-%05d", d.Stage, d.Index), b.Plan.ContributionSections(), func(s *extsort.Sorter) error {
		c := &contributor{b: b, s: s, rows: index.NewWriter(s, b.Plan.RowSection)}
		err := b.writePart(d, part, func(o *output) error { return fn(o, c) })
		d.LatestPerson = c.latest
		return errors.Join(err, c.err)
	})
}

// writeSorted writes the records that fn adds to a file of the work folder, replacing an existing one.
func (b *Build) writeSorted(ctx context.Context, d *taskRecord, name string, sections int, fn func(s *extsort.Sorter) error) (err error) {
	s := extsort.New(extsort.Options{Dir: b.temp(), Memory: b.Memory / 4, Sections: sections})
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := fn(s); err != nil {
		return err
	}
	return b.writeFile(d, name, func(path string) error {
		f, err := s.WriteFile(ctx, path)
		if err != nil {
			return err
		}
		return f.Close()
	})
}

// writeFile runs fn to write a file for other tasks, moves it into the work folder, replacing an existing one, and adds
// it to the record of the task.
func (b *Build) writeFile(d *taskRecord, name string, fn func(path string) error) error {
	temporary, err := os.MkdirTemp(b.temp(), "sorted-*")
	if err != nil {
		return err
	}
	path := filepath.Join(temporary, name)
	if err = fn(path); err == nil {
		err = file.Rename(path, filepath.Join(b.temp(), name))
	}
	if err = errors.Join(err, os.RemoveAll(temporary)); err != nil {
		return err
	}
	f, err := b.Folder.Describe(name)
	d.Files = append(d.Files, f)
	return err
}

// A sorted is the files of sorted records from several tasks.
type sorted struct {
	b     *Build
	files []*extsort.File
}

// openSorted opens the files from the tasks of some stages whose names start with a prefix.
func (b *Build) openSorted(prefix string, stages ...string) (*sorted, error) {
	files, err := b.outputs(prefix, stages...)
	if err != nil {
		return nil, err
	}
	s := &sorted{b, make([]*extsort.File, len(files))}
	var g errgroup.Group
	g.SetLimit(reads)
	for i, file := range files {
		g.Go(func() error {
			path, err := b.Folder.Path(file)
			if err == nil {
				s.files[i], err = extsort.Open(path)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *sorted) close() (err error) {
	for _, f := range s.files {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// merge returns the records of a section of all files, in order.
func (s *sorted) merge(ctx context.Context, section int) (*extsort.Iterator, error) {
	return extsort.Merge(ctx, s.files, section, extsort.Options{Dir: s.b.temp(), Memory: s.b.Memory / 4})
}

// groups calls fn with each key of a section in order, and its distinct payloads from all files. They are valid until
// fn returns.
func (s *sorted) groups(ctx context.Context, section int, fn func(key []byte, payloads [][]byte) error) error {
	rows, err := s.merge(ctx, section)
	if err != nil {
		return err
	}
	var key, buf []byte
	var payloads [][]byte
	err = rows.Each(func(next, payload []byte) error {
		switch n := len(payloads); {
		case n > 0 && !bytes.Equal(next, key):
			if err := fn(key, payloads); err != nil {
				return err
			}
			buf, payloads = buf[:0], payloads[:0]
		case n > 0 && bytes.Equal(payload, payloads[n-1]):
			return nil
		}
		key, buf = append(key[:0], next...), append(buf, payload...)
		payloads = append(payloads, buf[len(buf)-len(payload):len(buf):len(buf)])
		return nil
	})
	if err == nil && len(payloads) > 0 {
		err = fn(key, payloads)
	}
	return errors.Join(err, rows.Close())
}

// fail records the first error.
func (c *contributor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// send contributes c.buf to a resource.
func (c *contributor) send(kind fragment.Kind, k catalog.Key) {
	c.key = work.AppendKey(c.key[:0], k)
	c.fail(c.s.Add(c.b.Plan.ResourceSection(kind, k), c.key, c.buf))
}

// credits contributes credits to their people and to the table of credits. Credits of removed people are left out of
// both, because credit/{id} includes the person.
func (c *contributor) credits(list []derive.Credit) {
	removed := c.b.inputs.Removed
	for i := range list {
		credit := &list[i]
		person := catalog.NumberKey(credit.Person.ID)
		if removed.Has(fragment.KindPerson, person) {
			continue
		}
		c.latest = max(c.latest, credit.Person.ID)
		c.buf = credit.Append(c.buf[:0])
		c.send(fragment.KindPerson, person)
		if k, ok := catalog.TextKey(credit.ID); ok && !removed.Has(fragment.KindCredit, k) {
			c.fail(c.rows.Credit(k, credit))
		}
	}
}

// refs contributes a title and the row itself to each resource of rows that has an id.
func refs[R any](c *contributor, kind fragment.Kind, t *derive.Title, rows []R) {
	id, _ := record.SchemaOf[R]().Field("id")
	for i := range rows {
		r := record.Of(&rows[i])
		if n := r.Int(id).V; n >= 1 {
			c.buf = record.AppendBinary(t.Append(c.buf[:0]), r)
			c.send(kind, catalog.NumberKey(n))
		}
	}
}

// reviews contributes the reviews of a title to the resources with their ids.
func (c *contributor) reviews(t *derive.Title, name record.String, pages []catalog.ReviewPage) {
	for i := range pages {
		lang := "en"
		if l := pages[i].Language.V; len(l) >= 2 {
			lang = l[:2]
		}
		for j := range pages[i].Results {
			r := &pages[i].Results[j]
			k, ok := catalog.TextKey(r.ID.V)
			if !ok {
				continue
			}
			row := catalog.ReviewRecord{
				ID: r.ID, Author: r.Author, AuthorDetails: r.AuthorDetails, Content: r.Content, CreatedAt: r.CreatedAt,
				ISO639: record.Text(lang), MediaID: record.Number(t.ID), MediaTitle: record.Text(name.V),
				MediaType: record.Text(t.Kind.String()), UpdatedAt: r.UpdatedAt, URL: r.URL,
			}
			c.buf = record.AppendBinary(t.Append(c.buf[:0]), record.Of(&row))
			c.send(fragment.KindReview, k)
		}
	}
}

// parseRefs parses the contributions of titles to a collection, a company, a network or a keyword. ref is the first
// title's row.
func parseRefs[R any](contributions [][]byte) (titles []derive.Title, ref *R, err error) {
	for _, b := range contributions {
		t, rest, err := derive.ParseTitle(b)
		if err != nil {
			return nil, nil, err
		}
		titles = append(titles, t)
		if ref == nil {
			ref = new(R)
			if err := record.DecodeBinary(string(rest), record.Of(ref)); err != nil {
				return nil, nil, err
			}
		}
	}
	return titles, ref, nil
}
