package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// The columns of a range of rows are in a sorted file, with columnParts sections for each of tables.Columns. Values
// are blocks in rank order; the other sections hold ranks by key, in several records if a key has many.
const (
	valuesPart  = iota // little-endian numbers; for Names, the text lengths of each rank
	ranksPart          // ranks by sort key: a number, a text, a list key, a term
	textsPart          // Names only: the stored texts
	exactPart          // Names only: ranks by the keys of whole names
	columnParts        // number of parts
)

// blockBytes is the size at which a record is written.
var blockBytes = 8 << 10 // tests lower it

// A ranger sorts the columns of a range.
type ranger struct {
	kind    fragment.Kind
	columns []*tables.Column
	o       Options
	first   uint32
	rows    int
	row     row     // the last one
	trends  *trends // nil for a kind without trends

	sorter *extsort.Sorter
	blocks [][]byte // by section: values not yet written
	cutter cutter
	key    []byte
}

// WriteColumns writes the columns of a range of a kind's rows to a sorted file at path. The rows come in rank order,
// the first with rank first. It returns their number.
func WriteColumns(ctx context.Context, kind fragment.Kind, first int, rows *extsort.Iterator, path string, o Options) (n int, err error) {
	r := &ranger{kind: kind, columns: tables.Columns(kind), o: o, first: uint32(first), cutter: cutter{seen: map[string]struct{}{}}}
	r.blocks = make([][]byte, columnParts*len(r.columns))
	r.sorter = extsort.New(extsort.Options{Dir: o.Work, Memory: o.Memory / 2, Sections: len(r.blocks)})
	defer func() { err = errors.Join(err, r.sorter.Close()) }()
	for _, c := range r.columns {
		if c.Type == tables.Trend {
			r.trends = &trends{}
		}
	}
	if err := rows.Each(r.add); err != nil {
		return 0, err
	}
	if r.trends != nil {
		if err := r.addTrends(); err != nil {
			return 0, err
		}
	}
	r.key = binary.BigEndian.AppendUint32(r.key[:0], r.first+uint32(r.rows))
	for section, block := range r.blocks {
		if len(block) == 0 {
			continue
		}
		if err := r.sorter.Add(section, r.key, block); err != nil {
			return 0, err
		}
	}
	w, err := extsort.Create(path, len(r.blocks))
	if err != nil {
		return 0, err
	}
	return r.rows, w.Close(r.write(ctx, w))
}

// add adds the next row.
func (r *ranger) add(key, payload []byte) error {
	id, popularity, err := parseRowKey(key)
	if err == nil {
		err = r.row.parse(payload, r.columns)
	}
	if err != nil {
		return err
	}
	rank := r.first + uint32(r.rows)
	r.rows++
	if r.trends != nil {
		r.trends.ids, r.trends.popularity = append(r.trends.ids, id), append(r.trends.popularity, popularity)
	}
	for i, c := range r.columns {
		values, ranks := columnParts*i+valuesPart, columnParts*i+ranksPart
		switch c.Type {
		case tables.Uint64s:
			err = r.value(values, rank, binary.LittleEndian.AppendUint64(nil, id))
		case tables.Float64s:
			if c.ID == tables.Popularity {
				err = r.value(values, rank, binary.LittleEndian.AppendUint64(nil, math.Float64bits(popularity)))
			}
		case tables.Range:
			n := r.row.numbers[c.ID]
			err = errors.Join(r.value(values, rank, binary.LittleEndian.AppendUint32(nil, uint32(n))), r.number(ranks, n, rank))
		case tables.NumberOrder:
			err = r.number(ranks, r.row.numbers[c.ID], ^rank)
		case tables.TextOrder:
			r.key = append(r.key[:0], r.row.texts[c.ID]...)
			err = r.rank(ranks, rank)
		case tables.Lists:
			for _, k := range r.row.lists[c.ID] {
				r.key = encoding.AppendOrdered(r.key[:0], k)
				err = errors.Join(err, r.rank(ranks, rank))
			}
		case tables.Dated:
			for _, d := range r.row.releases {
				r.key = binary.BigEndian.AppendUint32(encoding.AppendOrdered(r.key[:0], d.key), uint32(d.day)^1<<31)
				err = errors.Join(err, r.rank(ranks, rank))
			}
		case tables.Names:
			names := &r.cutter
			names.cut(r.row.names)
			err = errors.Join(
				r.value(values, rank, binary.LittleEndian.AppendUint32(nil, uint32(len(names.stored)/tables.NameAlign))),
				r.value(columnParts*i+textsPart, rank, names.stored),
			)
			for _, term := range names.terms {
				r.key = append(r.key[:0], term...)
				err = errors.Join(err, r.rank(ranks, rank))
			}
			for _, k := range names.keys {
				r.key = binary.BigEndian.AppendUint64(r.key[:0], k)
				err = errors.Join(err, r.rank(columnParts*i+exactPart, rank))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addTrends adds the columns computed from the previous release.
func (r *ranger) addTrends() error {
	if err := r.trends.since(r.o.Previous, r.kind); err != nil {
		return err
	}
	for i, c := range r.columns {
		var scores []float64
		switch c.ID {
		case tables.TrendDay:
			scores = r.trends.day
		case tables.TrendWeek:
			scores = r.trends.week
		case tables.Heat:
			scores = r.trends.heat
		}
		for k, v := range scores {
			rank := r.first + uint32(k)
			err := r.value(columnParts*i+valuesPart, rank, binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
			if c.Type == tables.Trend { // the highest first
				err = errors.Join(err, r.number(columnParts*i+ranksPart, ^sortable(v), rank))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// sortable returns a number that compares as v does.
func sortable(v float64) int64 {
	n := int64(math.Float64bits(v + 0)) // -0 is 0
	if n < 0 {
		n ^= math.MaxInt64
	}
	return n
}

// value adds the value of a rank. Ranks ascend.
func (r *ranger) value(section int, rank uint32, b []byte) error {
	block := append(r.blocks[section], b...)
	r.blocks[section] = block
	if len(block) < blockBytes {
		return nil
	}
	r.key = binary.BigEndian.AppendUint32(r.key[:0], rank)
	r.blocks[section] = block[:0]
	return r.sorter.Add(section, r.key, block)
}

// number adds a rank whose sort key is a number.
func (r *ranger) number(section int, n int64, rank uint32) error {
	r.key = binary.BigEndian.AppendUint64(r.key[:0], uint64(n)^1<<63)
	return r.rank(section, rank)
}

// rank adds a rank under the current key.
func (r *ranger) rank(section int, rank uint32) error {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], rank)
	return r.sorter.Add(section, r.key, b[:])
}

// write writes all sections, sorted.
func (r *ranger) write(ctx context.Context, w *extsort.Writer) error {
	for section := range r.blocks {
		it, err := r.sorter.Sort(ctx, section)
		if err != nil {
			return err
		}
		if part := section % columnParts; part == ranksPart || part == exactPart {
			err = writeRanks(w, section, it)
		} else {
			err = it.Each(func(rank, block []byte) error { return w.Add(section, rank, block) })
		}
		if err := errors.Join(err, it.Close()); err != nil {
			return err
		}
	}
	return nil
}

// writeRanks writes the ranks of each key into as few records as their length allows.
func writeRanks(w *extsort.Writer, section int, it *extsort.Iterator) error {
	var key, ranks []byte
	flush := func() error {
		if len(ranks) == 0 {
			return nil
		}
		return w.Add(section, key, ranks)
	}
	err := it.Each(func(k, rank []byte) error {
		if len(ranks) >= blockBytes || !bytes.Equal(k, key) {
			if err := flush(); err != nil {
				return err
			}
			key, ranks = append(key[:0], k...), ranks[:0]
		}
		ranks = append(ranks, rank...)
		return nil
	})
	return errors.Join(err, flush())
}

// trends are the scores of a range's rows for a day and a week, and the heat that the next release starts from. Higher
// scores are hotter.
type trends struct {
	ids                         []uint64
	popularity, day, week, heat []float64
}

// since computes the rows' gains since a release, which may be nil or lack the table or its heat. It reads all ids of
// that table once.
func (t *trends) since(r *release.Reader, kind fragment.Kind) error {
	t.day, t.week, t.heat = make([]float64, len(t.ids)), make([]float64, len(t.ids)), append([]float64{}, t.popularity...)
	if r == nil || len(t.ids) == 0 {
		return nil
	}
	table, ok := r.Table(kind.String())
	if !ok || !table.Has(tables.Heat.String()) {
		return nil
	}
	ids, err := posting.OpenUint64s(table, tables.ID.String(), table.Rows())
	popularity, errPopularity := posting.OpenFloat64s(table, tables.Popularity.String(), table.Rows())
	heat, errHeat := posting.OpenFloat64s(table, tables.Heat.String(), table.Rows())
	if err := errors.Join(err, errPopularity, errHeat); err != nil {
		return fmt.Errorf("previous release %s: %w", r.Manifest().ID, err)
	}
	rows := make(map[uint64]int, len(t.ids))
	for i, id := range t.ids {
		rows[id] = i
	}
	for k := range table.Rows() {
		if i, ok := rows[ids.At(k)]; ok {
			previous := heat.At(k)
			t.heat[i] = previous + (t.popularity[i]-previous)/7
			t.day[i] = t.popularity[i] - popularity.At(k)
			t.week[i] = t.popularity[i] - t.heat[i]
		}
	}
	return nil
}
