package neighbours

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"slices"
	"sort"

	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/extsort"
)

// A Table maps a feature to its titles and their number. It is stored in files; memory holds two numbers for each
// feature. It is safe for concurrent use.
//
// A file has a list for each feature in ascending order, each followed by its CRC-32C. A list is varints: df, the
// number of titles that are not adult, then the titles. A title is id, votes, number of genres, genres. Features of a
// single title are left out, because nothing shares them. After the lists comes an index: feature and offset of each
// list (8 bytes each, big-endian), endFeature with the end of the lists, and the CRC-32C of the index.
type Table struct {
	titles int64
	parts  []part
}

// A part is one of the files of a Table.
type part struct {
	path    string
	f       *os.File
	entries []byte // index of all lists, with the end entry
}

const (
	entryBytes = 8 + 8
	sumBytes   = 4

	// endFeature is above all features.
	endFeature = 1<<64 - 1
)

var errDamaged = errors.New("it is damaged")

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// sealed appends the checksum of b.
func sealed(b []byte) []byte { return binary.BigEndian.AppendUint32(b, checksum(b)) }

// Open opens a Table by the paths of its parts, in order. titles is the number of added titles.
func Open(paths []string, titles int64) (*Table, error) {
	t := &Table{titles: titles}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open table of neighbours: %w", err), t.Close())
		}
		t.parts = append(t.parts, part{path: path, f: f})
		if err := t.parts[len(t.parts)-1].readEntries(); err != nil {
			return nil, errors.Join(err, t.Close())
		}
	}
	return t, nil
}

// readEntries reads the index of the file.
func (p *part) readEntries() error {
	info, err := p.f.Stat()
	if err != nil {
		return p.failed(0, err)
	}
	end := info.Size()
	var last [entryBytes + sumBytes]byte
	if _, err := p.f.ReadAt(last[:], max(0, end-int64(len(last)))); err != nil {
		return p.failed(end, err)
	}
	start := int64(offset(last[:], 0))
	if start < 0 || start > end-int64(len(last)) || (end-start-sumBytes)%entryBytes != 0 {
		return p.failed(end, errDamaged)
	}
	p.entries, err = p.read(nil, start, end)
	return err
}

// read reads sealed bytes of the file into the memory of b.
func (p *part) read(b []byte, from, to int64) ([]byte, error) {
	b = slices.Grow(b[:0], int(to-from))[:to-from]
	if _, err := p.f.ReadAt(b, from); err != nil {
		return nil, p.failed(from, err)
	}
	n := len(b) - sumBytes
	if n < 0 || checksum(b[:n]) != binary.BigEndian.Uint32(b[n:]) {
		return nil, p.failed(from, errDamaged)
	}
	return b[:n], nil
}

func (p *part) failed(off int64, err error) error {
	return fmt.Errorf("read table of neighbours %q: offset %d: %w", p.path, off, err)
}

// featureAt returns the feature of entry i.
func featureAt(entries []byte, i int) feature {
	return feature(binary.BigEndian.Uint64(entries[entryBytes*i:]))
}

// offset returns the offset of entry i.
func offset(entries []byte, i int) uint64 { return binary.BigEndian.Uint64(entries[entryBytes*i+8:]) }

// Close closes the files. Finders must not be used afterwards.
func (t *Table) Close() (err error) {
	for i := range t.parts {
		err = errors.Join(err, t.parts[i].f.Close())
	}
	t.parts = nil
	return err
}

// A list is the titles that have a feature.
type list struct {
	feature feature
	df      uint64 // number of titles that have it; 0 for a feature without a list
	safe    uint64 // number of leading titles that are not adult
	titles  []byte
	memory  []byte
}

// read reads the list of a feature into the memory of l.
func (t *Table) read(f feature, l *list) error {
	*l = list{feature: f, memory: l.memory}
	p := &t.parts[f.part(len(t.parts))]
	n := len(p.entries)/entryBytes - 1
	i := sort.Search(n, func(i int) bool { return featureAt(p.entries, i) >= f })
	if i == n || featureAt(p.entries, i) != f {
		return nil
	}
	b, err := p.read(l.memory, int64(offset(p.entries, i)), int64(offset(p.entries, i+1)))
	if err != nil {
		return err
	}
	r := encoding.NewReader(b)
	l.memory, l.df, l.safe, l.titles = b, r.Uvarint(), r.Uvarint(), r.Rest()
	return nil
}

// WritePart writes a part of a Table to path from its sorted records.
func WritePart(path string, it *extsort.Iterator) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("create table of neighbours: %w", err)
	}
	w := &tableWriter{out: bufio.NewWriterSize(f, 64<<10)}
	err = it.Each(w.add)
	if err == nil {
		err = w.endList()
	}
	if err == nil {
		w.entries = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(w.entries, uint64(endFeature)), uint64(w.off))
		_, err = w.out.Write(sealed(w.entries))
	}
	if err == nil {
		err = w.out.Flush()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write table of neighbours %q: %w", path, err)
	}
	return nil
}

// A tableWriter makes a part from sorted records.
type tableWriter struct {
	out     *bufio.Writer
	off     int64
	entries []byte

	current feature // feature of the list being filled
	df      uint64
	safe    uint64 // titles of the list that are not adult
	adult   uint64
	titles  []byte
	list    []byte
}

func (w *tableWriter) add(key, genres []byte) error {
	if len(key) != keyBytes {
		return fmt.Errorf("key of %d bytes, want %d", len(key), keyBytes)
	}
	if f := feature(binary.BigEndian.Uint64(key)); f != w.current {
		if err := w.endList(); err != nil {
			return err
		}
		w.current = f
	}
	w.df++
	n := &w.safe
	if key[8] != 0 {
		n = &w.adult
	}
	if *n == listSize {
		return nil
	}
	*n++
	w.titles = binary.AppendUvarint(w.titles, binary.BigEndian.Uint64(key[21:])^1<<63)
	w.titles = binary.AppendUvarint(w.titles, uint64(^binary.BigEndian.Uint32(key[9:])))
	w.titles = append(w.titles, genres...)
	return nil
}

// endList writes the current list.
func (w *tableWriter) endList() error {
	if w.df > 1 {
		w.list = binary.AppendUvarint(binary.AppendUvarint(w.list[:0], w.df), w.safe)
		w.list = sealed(append(w.list, w.titles...))
		if _, err := w.out.Write(w.list); err != nil {
			return err
		}
		w.entries = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(w.entries, uint64(w.current)), uint64(w.off))
		w.off += int64(len(w.list))
	}
	w.df, w.safe, w.adult, w.titles = 0, 0, 0, w.titles[:0]
	return nil
}

// A Result is the ids of a title's neighbours, best first.
type Result struct {
	Recommendations []int64
	Similar         []int64
}

// A Finder finds neighbours. It is for one goroutine.
type Finder struct {
	table      *Table
	features   []feature
	lists      []list // parallel to features
	genres     []genreScore
	candidates []candidate
	byID       map[int64]int // indexes into candidates

	recommended, similar ranking
}

// A genreScore is the score of a shared genre.
type genreScore struct {
	id    uint64
	score float64
}

// Finder returns a Finder.
func (t *Table) Finder() *Finder { return &Finder{table: t, byID: map[int64]int{}} }

// Find writes the neighbours of t into dst and reuses its memory. t need not be in the Table. An error names the
// damaged file of the Table.
func (f *Finder) Find(t *Title, dst *Result) error {
	f.features = t.appendFeatures(f.features[:0])
	f.lists = slices.Grow(f.lists[:0], len(f.features))[:len(f.features)]
	f.genres, f.candidates = f.genres[:0], f.candidates[:0]
	clear(f.byID)
	for i, ft := range f.features {
		l := &f.lists[i]
		if err := f.table.read(ft, l); err != nil {
			return err
		}
		if ft.kind() == genre && l.df > 0 {
			f.genres = append(f.genres, genreScore{ft.id(), f.score(l)})
		}
	}
	for i := range f.lists {
		l := &f.lists[i]
		shared, similar := 0.0, 0.0
		switch l.feature.kind() {
		case genre: // counted with all genres of a title when it is first seen
		case keyword:
			shared = f.score(l)
			similar = shared
		default:
			shared = f.score(l)
		}
		r := encoding.NewReader(l.titles)
		for n := uint64(0); r.Len() > 0 && (t.Adult || n < l.safe); n++ {
			id, votes, genres := int64(r.Uvarint()), uint32(r.Uvarint()), r.Uvarint()
			k, seen := f.byID[id]
			if !seen {
				k = len(f.candidates)
				f.byID[id] = k
				f.candidates = append(f.candidates, candidate{id: id, votes: votes})
			}
			c := &f.candidates[k]
			for range genres {
				id := r.Uvarint()
				if r.Err() != nil {
					break
				}
				if seen {
					continue
				}
				for _, g := range f.genres {
					if g.id == id {
						c.similar += g.score
						c.shared += g.score
					}
				}
			}
			c.shared += shared
			c.similar += similar
			if r.Err() != nil {
				p := &f.table.parts[l.feature.part(len(f.table.parts))]
				return p.failed(0, errDamaged)
			}
		}
	}
	f.recommended, f.similar = f.recommended[:0], f.similar[:0]
	for _, c := range f.candidates {
		if c.id != t.ID {
			factor := math.Sqrt(1 + math.Log1p(float64(c.votes)))
			f.recommended.offer(ranked{c.shared * factor, c.votes, c.id})
			f.similar.offer(ranked{c.similar * factor, c.votes, c.id})
		}
	}
	dst.Recommendations = f.recommended.appendIDs(dst.Recommendations[:0])
	dst.Similar = f.similar.appendIDs(dst.Similar[:0])
	return nil
}

// score returns the score for sharing the feature of l. The conversion prevents a fused multiply-add, which would
// make results depend on the processor.
func (f *Finder) score(l *list) float64 {
	weight := 1.0
	switch l.feature.kind() {
	case person:
		weight = 0.5
	case collection:
		weight = 2
	}
	return float64(weight * math.Log1p(float64(f.table.titles)/float64(l.df)))
}

// A candidate is a title that shares a feature.
type candidate struct {
	id      int64
	votes   uint32
	shared  float64 // sum over all features
	similar float64 // sum over genres and keywords
}

// A ranking is the best candidates, best first.
type ranking []ranked

type ranked struct {
	score float64
	votes uint32
	id    int64
}

func (a ranked) compare(b ranked) int {
	if a.score != b.score { // almost always
		return cmp.Compare(b.score, a.score)
	}
	return cmp.Or(cmp.Compare(b.votes, a.votes), cmp.Compare(a.id, b.id))
}

// offer inserts a candidate if it ranks high enough.
func (r *ranking) offer(m ranked) {
	full := len(*r) == maxNeighbours
	if m.score == 0 || full && m.compare((*r)[maxNeighbours-1]) > 0 {
		return
	}
	if full {
		*r = (*r)[:maxNeighbours-1]
	}
	i, _ := slices.BinarySearchFunc(*r, m, ranked.compare)
	*r = slices.Insert(*r, i, m)
}

func (r ranking) appendIDs(dst []int64) []int64 {
	dst = slices.Grow(dst, len(r))
	for _, m := range r {
		dst = append(dst, m.id)
	}
	return dst
}
