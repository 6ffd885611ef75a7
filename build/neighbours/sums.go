package neighbours

import (
	"encoding/binary"
	"strconv"

	"github.com/zeebo/xxh3"

	"reelsplice/build/derive"
	"reelsplice/build/ledger"
)

// Sums says where a Table leaves sums of its lists, so that the next one can tell which of
// them are others: a ledger for each partition, whose path is Path, a dash and the number of
// the partition.
type Sums struct {
	Path string
	Mark ledger.Mark
	// Previous is the Path of the Table that is compared with, "" for none, and PreviousMark
	// its mark. When a ledger is not there, damaged or another's, all lists are others.
	Previous     string
	PreviousMark ledger.Mark
}

// mostChanged is of how many features a part remembers that their lists are others; with
// more, all are. Such a memory takes 2 MiB.
const mostChanged = 1 << 17

// A comparer writes the sums of a part, and compares them with those of the Table before.
type comparer struct {
	old     *ledger.Reader
	new     *ledger.Writer
	changed map[feature]struct{} // features whose lists are others; nil for all
	buf     []byte
}

// compare starts the comparing of a part of t.
func (s *Sums) compare(t *Table, part int) (*comparer, error) {
	c := &comparer{old: &ledger.Reader{}}
	suffix := "-" + strconv.Itoa(part)
	var err error
	if s.Previous != "" {
		if c.old, err = ledger.Open(s.Previous+suffix, s.PreviousMark); err != nil {
			return nil, err
		}
		c.old.Passed, c.changed = c.passed, map[feature]struct{}{}
	}
	if c.new, err = ledger.Create(s.Path+suffix, s.Mark); err != nil {
		c.old.Close()
		return nil, err
	}
	// How many titles there are weighs in each score. With another number of parts, a list that
	// is gone would be looked for in another part than it was in.
	c.buf = binary.AppendUvarint(c.buf, derive.Coarse(uint64(t.titles)))
	c.buf = binary.AppendUvarint(c.buf, uint64(len(t.parts)))
	return c, c.add(everyFeature, xxh3.Hash(c.buf))
}

// everyFeature has the sum of what all features depend on.
const everyFeature feature = 0

// passed is told of a list of the Table before that is not the same now.
func (c *comparer) passed(e ledger.Entry) {
	if key := e.Key(); len(key) == 8 {
		c.change(feature(binary.BigEndian.Uint64(key)))
	} else {
		c.changeAll()
	}
}

// changeAll makes all lists others, so that nobody need know which are.
func (c *comparer) changeAll() { c.changed, c.old.Passed = nil, nil }

func (c *comparer) change(f feature) {
	if c.changed == nil {
		return
	}
	c.changed[f] = struct{}{}
	if f == everyFeature || len(c.changed) > mostChanged {
		c.changeAll()
	}
}

// list adds a list. The features of calls ascend.
func (c *comparer) list(f feature, df, safe uint64, titles []byte) error {
	c.buf = binary.AppendUvarint(c.buf[:0], derive.Coarse(df))
	c.buf = binary.AppendUvarint(c.buf, safe)
	c.buf = append(c.buf, titles...)
	return c.add(f, xxh3.Hash(c.buf))
}

func (c *comparer) add(f feature, sum uint64) error {
	var key [8]byte
	binary.BigEndian.PutUint64(key[:], uint64(f))
	if _, ok := c.old.Find(key[:], sum); ok {
		return c.new.Take(c.old)
	}
	c.change(f)
	c.new.Begin(key[:], sum)
	return c.new.End()
}

// close completes the ledger, and returns the features whose lists are others; nil when all
// may be.
func (c *comparer) close() (map[feature]struct{}, error) {
	c.old.Close()
	if c.old.Err() != nil {
		c.changed = nil
	}
	return c.changed, c.new.Close()
}

// IsSame tells whether Find finds for t what it would have found in the Table before that
// Sums told of: the titles that share a feature with it are the same, and count as much.
func (f *Finder) IsSame(t *Title) bool {
	f.features = t.appendFeatures(f.features[:0])
	for _, ft := range f.features {
		changed := f.t.parts[f.t.part(ft)].changed
		if changed == nil {
			return false
		}
		if _, ok := changed[ft]; ok {
			return false
		}
	}
	return true
}
