package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/credits"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// A merger writes a kind's table. It copies values and merges ranks. Only the terms and the places of an order need
// the whole table.
type merger struct {
	out       posting.Sink
	rows      int
	merge     func(section int) (*extsort.Iterator, error)
	window    int // ranks whose places are in memory
	termCount int64
}

// WriteTable writes the table of a kind from the columns of its ranges, which merge returns in order by section. rows
// is the number of rows. WriteTable returns the number of search terms.
func WriteTable(kind fragment.Kind, rows int, merge func(section int) (*extsort.Iterator, error), create Create, o Options) (terms int64, err error) {
	t, err := create(kind.String(), rows)
	if err != nil {
		return 0, err
	}
	m := &merger{out: t, rows: rows, merge: merge, window: int(max(1, o.Memory/8))}
	if err := errors.Join(m.write(tables.Columns(kind)), t.Close()); err != nil {
		return 0, fmt.Errorf("table %s: %w", kind, err)
	}
	return m.termCount, nil
}

// write writes the texts of names, then the columns of numbers, then the keyed columns.
func (m *merger) write(columns []*tables.Column) error {
	const textsPass, numbersPass, keyedPass, passes = 0, 1, 2, 3
	for pass := range passes {
		for i, c := range columns {
			section := columnParts * i
			values, ranks := section+valuesPart, section+ranksPart
			var err error
			switch {
			case pass == textsPass && c.Type == tables.Names:
				err = m.values(section+textsPart, tables.NameTexts)
			case pass == numbersPass && (c.Type == tables.Uint64s || c.Type == tables.Float64s):
				err = m.values(values, c.Name)
			case pass == numbersPass && (c.Type == tables.Trend || c.Type == tables.Range):
				err = errors.Join(m.values(values, c.Name), posting.WriteOrder(m.out, c.Name, m.rows, m.window, m.ranks(ranks, c)))
				if c.Type == tables.Range && err == nil {
					err = posting.WriteSums(m.out, c.Name, m.rows, m.ranks(ranks, c))
				}
			case pass == numbersPass && c.Type == tables.NumberOrder, pass == keyedPass && c.Type == tables.TextOrder:
				err = posting.WriteOrder(m.out, c.Name, m.rows, m.window, m.ranks(ranks, c))
			case pass == keyedPass && c.Type == tables.Lists:
				w := posting.NewListWriter(m.out, c.Name)
				err = grouped(m, ranks, 0, func(_ []byte, rank uint32) uint32 { return rank }, func(key []byte, list []uint32) error {
					in := encoding.NewReader(key)
					return w.Add(in.Ordered(), list)
				})
				err = errors.Join(err, w.Close())
			case pass == keyedPass && c.Type == tables.Dated:
				w := posting.NewDatedWriter(m.out, c.Name)
				date := func(day []byte, rank uint32) posting.Date {
					return posting.Date{Day: int32(binary.BigEndian.Uint32(day) ^ 1<<31), Rank: rank}
				}
				err = grouped(m, ranks, 4, date, func(key []byte, dates []posting.Date) error {
					in := encoding.NewReader(key)
					return w.Add(in.Ordered(), dates)
				})
				err = errors.Join(err, w.Close())
			case pass == keyedPass && c.Type == tables.Names:
				err = m.names(section)
			}
			if err != nil {
				return fmt.Errorf("column %s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// each calls fn with the records of a section, in order.
func (m *merger) each(section int, fn func(key, payload []byte) error) error {
	it, err := m.merge(section)
	if err != nil {
		return err
	}
	return errors.Join(it.Each(fn), it.Close())
}

// values copies blocks of values.
func (m *merger) values(section int, name string) error {
	w := m.out.Section(name)
	return m.each(section, func(_, block []byte) error {
		_, err := w.Write(block)
		return err
	})
}

// ranks returns a function that calls fn with the ranks of a section in key order. Equal numbers of a NumberOrder
// start with the least popular: clients sort by revenue from the highest, which is the end, and most movies have no
// revenue.
func (m *merger) ranks(section int, c *tables.Column) func(fn func(rank uint32) error) error {
	var flip uint32
	if c.Type == tables.NumberOrder {
		flip = math.MaxUint32
	}
	return func(fn func(rank uint32) error) error {
		return m.each(section, func(_, ranks []byte) error {
			for ; len(ranks) >= 4; ranks = ranks[4:] {
				if err := fn(binary.BigEndian.Uint32(ranks) ^ flip); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// grouped calls add with each key of a section, without its last tail bytes, and with the values that value makes of
// those bytes and the ranks.
func grouped[T any](m *merger, section, tail int, value func(tail []byte, rank uint32) T, add func(key []byte, list []T) error) error {
	var last []byte
	var list []T
	flush := func() error {
		if len(list) == 0 {
			return nil
		}
		return add(last, list)
	}
	err := m.each(section, func(key, ranks []byte) error {
		n := len(key) - tail
		if n < 0 {
			return encoding.ErrCut
		}
		if !bytes.Equal(key[:n], last) {
			if err := flush(); err != nil {
				return err
			}
			last, list = append(last[:0], key[:n]...), list[:0]
		}
		for ; len(ranks) >= 4; ranks = ranks[4:] {
			list = append(list, value(key[n:], binary.BigEndian.Uint32(ranks)))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// names writes the sections that search needs besides the texts: all of package tables whose names start with
// "text.".
func (m *merger) names(section int) error {
	places := m.out.Section(tables.NamePlaces)
	place := uint64(0)
	writePlace := func() error {
		if place > math.MaxUint32 {
			return fmt.Errorf("the names take more than %d bytes", uint64(tables.NameAlign)<<32)
		}
		_, err := places.Write(binary.LittleEndian.AppendUint32(nil, uint32(place)))
		return err
	}
	err := m.each(section+valuesPart, func(_, lengths []byte) error {
		for ; len(lengths) >= 4; lengths = lengths[4:] {
			if err := writePlace(); err != nil {
				return err
			}
			place += uint64(binary.LittleEndian.Uint32(lengths))
		}
		return nil
	})
	if err == nil {
		err = writePlace()
	}
	if err == nil {
		err = m.terms(section + ranksPart)
	}
	if err != nil {
		return err
	}
	keys := m.out.Section(tables.NameKeys)
	err = m.each(section+exactPart, func(key, ranks []byte) error {
		for range len(ranks) / 4 {
			if err := writeReversed(keys, key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	keyRanks := m.out.Section(tables.NameRanks)
	return m.each(section+exactPart, func(_, ranks []byte) error {
		for ; len(ranks) >= 4; ranks = ranks[4:] {
			if err := writeReversed(keyRanks, ranks[:4]); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeReversed writes a big-endian number in little-endian order.
func writeReversed(w io.Writer, number []byte) error {
	var b [8]byte
	for i, d := range number {
		b[len(number)-1-i] = d
	}
	_, err := w.Write(b[:len(number)])
	return err
}

// A Create starts a table of the release with a number of rows.
type Create func(name string, rows int) (*release.TableWriter, error)

// creditIDLen is the length in bytes of a credit id of 24 hex digits.
const creditIDLen = 12

// Credit adds a credit by the key of its id. The table keeps one of several with the same id.
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
	return w.sorter.Add(w.section(len(tables.Kinds), w.key), w.key, w.buf)
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
