package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/credits"
)

// creditIDLen is the number of bytes that the 24 digits of an id stand for.
const creditIDLen = 12

// Credit adds a credit by the key of its id. Of several with one id, the table gets one.
func (w *Writer) Credit(k catalog.Key, c *derive.Credit) error {
	s := credits.Spec{Credit: credits.Credit{
		Role: credits.Role(c.Role), Kind: c.Title.Kind, Title: uint64(c.Title.ID), Person: uint64(c.Person.ID),
		Department: quoted(c.Department), Job: quoted(c.Job), Character: quoted(c.Character),
	}}
	if c.Title.Kind == fragment.KindTV {
		for _, e := range c.Episodes {
			s.Episodes = append(s.Episodes, credits.Episode{Season: uint32(e[0]), Number: uint32(e[1])})
		}
		for _, n := range c.Seasons {
			s.Seasons = append(s.Seasons, uint32(n))
		}
	}
	w.key = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(w.key[:0], k.Hi), k.Lo)[:creditIDLen]
	w.buf = s.Append(w.buf[:0])
	return w.s.Add(w.section(len(tables.Kinds), w.key), w.key, w.buf)
}

// quoted returns a text as a JSON string without its quotes.
func quoted(s string) []byte {
	b := record.AppendString(nil, s)
	return b[1 : len(b)-1]
}

// WriteCredits writes the table of credits from its rows.
func WriteCredits(rows *extsort.Iterator, create Create) error {
	t, err := create(credits.Table, 0) // until all rows are read
	if err != nil {
		return err
	}
	w := credits.NewWriter(t)
	var last []byte
	n := 0
	err = rows.Each(func(id, credit []byte) error {
		if n > 0 && bytes.Equal(id, last) {
			return nil
		}
		last = append(last[:0], id...)
		n++
		return w.Add(id, credit)
	})
	t.SetRows(n)
	if err := errors.Join(err, w.Close(), t.Close()); err != nil {
		return fmt.Errorf("table %s: %w", credits.Table, err)
	}
	return nil
}
