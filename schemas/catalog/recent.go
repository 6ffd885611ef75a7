package catalog

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"
	"github.com/zeebo/xxh3"

	"reelsplice/schemas/record"
)

// This file holds the records that changed last once more, each by itself: a build that
// makes few records anew would decode whole pages of the Parquet file for each. What it says
// is believed of a record with the same sum alone, so that a file that is old, damaged or gone
// costs time and nothing else. It is
//
//	magic    8 bytes
//	layout   8 bytes: a sum of FormatVersion and of the members that the binary form follows
//	bodies   records in the binary form of package wire
//	index    for each body, by key: Hi, Lo, sum, offset, each 8 bytes; length, age, each 4
//	tail     offset of the index, xxh3 of all but the bodies and itself, each 8 bytes
//
// and integers are little-endian.

const (
	recentMagic = "reelnew1"
	recentHead  = 16
	recentEntry = 40
	recentTail  = 16

	// maxRecent is how many records a file has at most: where they lie is held in memory.
	maxRecent = 1 << 18
	// recentAge is how many times a record is taken over from the file before.
	recentAge = 7
)

// RecentFile returns the name of the file, in a catalogue folder, of the records of a kind that
// ingests have changed last.
func (t *Type) RecentFile() string { return t.Name() + ".recent" }

// recentBytes returns how many bytes of records are written beside a Parquet file of that size.
func recentBytes(file int64) int64 { return 16<<20 + file/4 }

// A recentRecord is where a record lies.
type recentRecord struct {
	key      Key
	sum      uint64
	off      int64
	len, age uint32
}

func (r recentRecord) compare(k Key) int { return r.key.Compare(k) }

// layoutSum returns a sum of the names, the shapes and the order of all members of a plan.
func layoutSum(p *record.Schema) uint64 { return xxh3.Hash(appendLayout([]byte(FormatVersion), p)) }

func appendLayout(dst []byte, p *record.Schema) []byte {
	for i := range p.Fields {
		f := &p.Fields[i]
		dst = append(append(dst, f.Name...), 0, byte(f.Shape))
		if f.Elem != nil {
			dst = append(appendLayout(append(dst, '{'), f.Elem), '}')
		}
	}
	return dst
}

// Recent gives records of one kind by their heads. It may be used concurrently.
type Recent struct {
	typ  *Type
	file interface {
		io.ReaderAt
		io.Closer
	}
	records []recentRecord // by key
}

// OpenRecent opens the file of a kind in a catalogue folder. Of one that is not there, damaged,
// of another version, or that would take more than so many bytes of memory, none is returned,
// which has no records.
func OpenRecent(dir string, t *Type, memory int64) (*Recent, error) {
	f, err := os.Open(filepath.Join(dir, t.RecentFile()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	records, err := readRecent(f, info.Size(), t, memory)
	if err != nil || records == nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Recent{typ: t, file: f, records: records}, nil
}

// Memory returns how many bytes of memory the records take that are told apart.
func (r *Recent) Memory() int64 {
	if r == nil {
		return 0
	}
	return int64(len(r.records)) * recentEntry
}

// readRecent returns where the records of a file of size bytes lie; nil when that cannot be
// told.
func readRecent(f io.ReaderAt, size int64, t *Type, memory int64) ([]recentRecord, error) {
	if size < recentHead+recentTail {
		return nil, nil
	}
	head, tail := make([]byte, recentHead), make([]byte, recentTail)
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, err
	}
	if _, err := f.ReadAt(tail, size-recentTail); err != nil {
		return nil, err
	}
	at := int64(binary.LittleEndian.Uint64(tail))
	bytes := size - recentTail - at
	switch {
	case string(head[:8]) != recentMagic || binary.LittleEndian.Uint64(head[8:]) != layoutSum(t.Plan):
		return nil, nil
	case at < recentHead || bytes < 0 || bytes%recentEntry != 0 || bytes > min(memory, maxRecent*recentEntry):
		return nil, nil
	}
	index := make([]byte, bytes)
	if _, err := f.ReadAt(index, at); err != nil {
		return nil, err
	}
	if recentSum(head, index, tail[:8]) != binary.LittleEndian.Uint64(tail[8:]) {
		return nil, nil
	}
	records := make([]recentRecord, 0, bytes/recentEntry)
	for ; len(index) > 0; index = index[recentEntry:] {
		u64 := func(i int) uint64 { return binary.LittleEndian.Uint64(index[8*i:]) }
		r := recentRecord{
			key: Key{u64(0), u64(1)}, sum: u64(2), off: int64(u64(3)),
			len: binary.LittleEndian.Uint32(index[32:]), age: binary.LittleEndian.Uint32(index[36:]),
		}
		if r.off < recentHead || r.off > at || int64(r.len) > at-r.off {
			return nil, nil
		}
		records = append(records, r)
	}
	return records, nil
}

func recentSum(head, index, at []byte) uint64 {
	h := xxh3.New()
	for _, b := range [][]byte{head, index, at} {
		_, _ = h.Write(b) // it has no errors
	}
	return h.Sum64()
}

// Read returns the record of a head; false where it is not there, or damaged.
func (r *Recent) Read(h Head) (record.Record, bool) {
	if r == nil {
		return record.Record{}, false
	}
	i, found := slices.BinarySearchFunc(r.records, h.Key, recentRecord.compare)
	if !found || r.records[i].sum != h.Sum {
		return record.Record{}, false
	}
	body, ok := r.body(r.records[i])
	rec := r.typ.New()
	return rec, ok && record.DecodeBinary(string(body), rec) == nil
}

// body returns the bytes of a record, and whether they are those that were written.
func (r *Recent) body(e recentRecord) ([]byte, bool) {
	body := make([]byte, e.len)
	_, err := r.file.ReadAt(body, e.off)
	return body, err == nil && xxh3.Hash(body) == e.sum
}

// Close closes the file, if there is one.
func (r *Recent) Close() error {
	if r == nil {
		return nil
	}
	return r.file.Close()
}

// A RecentWriter writes the file of the records of a kind that an ingest changes. What would
// make it too long is left out. A nil one writes nothing.
type RecentWriter struct {
	path    string
	mode    fs.FileMode
	layout  uint64
	old     *Recent
	file    *renameio.PendingFile
	out     *bufio.Writer
	at      int64
	end     int64 // which at does not pass
	full    bool  // something was left out
	records []recentRecord
	gone    []Key // of records that old has and the catalogue no longer
	err     error
}

// CreateRecent starts a file for the records of a kind, beside a Parquet file of them of as many
// bytes. The file before, which may be nil, is taken over and closed.
func CreateRecent(path string, t *Type, file int64, old *Recent) *RecentWriter {
	return &RecentWriter{path: path, mode: t.fileMode(), layout: layoutSum(t.Plan), old: old, at: recentHead, end: recentHead + recentBytes(file)}
}

// Add writes a record in its binary form. Keys must ascend, those of Remove as well.
func (w *RecentWriter) Add(key Key, body []byte) {
	if w == nil {
		return
	}
	if !w.fits(int64(len(body))) {
		w.full = true
		return
	}
	w.add(recentRecord{key: key, sum: xxh3.Hash(body)}, body)
}

// Remove notes that there is no record of a key any more: what the file before has of it is not
// taken over.
func (w *RecentWriter) Remove(key Key) {
	if w == nil || w.old == nil {
		return
	}
	if _, found := slices.BinarySearchFunc(w.old.records, key, recentRecord.compare); found {
		w.gone = append(w.gone, key)
	}
}

func (w *RecentWriter) fits(body int64) bool {
	return len(w.records) < maxRecent && body <= w.end-w.at && body <= math.MaxUint32
}

func (w *RecentWriter) add(r recentRecord, body []byte) {
	w.create()
	if w.err == nil {
		_, w.err = w.out.Write(body)
	}
	if w.err == nil {
		r.off, r.len = w.at, uint32(len(body))
		w.at += int64(len(body))
		w.records = append(w.records, r)
	}
}

func (w *RecentWriter) create() {
	if w.file != nil || w.err != nil {
		return
	}
	w.file, w.err = renameio.NewPendingFile(w.path, renameio.WithTempDir(filepath.Dir(w.path)), renameio.WithPermissions(w.mode))
	if w.err == nil {
		w.out = bufio.NewWriterSize(w.file, 256<<10)
		_, w.err = w.out.Write(w.head())
	}
}

func (w *RecentWriter) head() []byte {
	return binary.LittleEndian.AppendUint64([]byte(recentMagic), w.layout)
}

// takeOver writes the records of the file before that there is nothing newer of, those that are
// the newest first, unless they have been taken over often.
func (w *RecentWriter) takeOver() {
	if w.old == nil || w.full {
		return
	}
	news := w.records
	records := slices.Clone(w.old.records)
	slices.SortStableFunc(records, func(a, b recentRecord) int { return cmp.Compare(a.age, b.age) })
	for _, r := range records {
		_, written := slices.BinarySearchFunc(news, r.key, recentRecord.compare)
		_, gone := slices.BinarySearchFunc(w.gone, r.key, Key.Compare)
		if written || gone || r.age >= recentAge || !w.fits(int64(r.len)) {
			continue
		}
		if body, ok := w.old.body(r); ok {
			w.add(recentRecord{key: r.key, sum: r.sum, age: r.age + 1}, body)
		}
	}
	slices.SortFunc(w.records, func(a, b recentRecord) int { return a.key.Compare(b.key) })
}

// TakesOver reports whether there is a file before, which stays where Commit makes none.
func (w *RecentWriter) TakesOver() bool { return w != nil && w.old != nil }

// Commit completes the file, syncs it and gives it its name. It reports whether there is one:
// not where it would say what the file before says.
func (w *RecentWriter) Commit() (bool, error) {
	if w == nil || len(w.records) == 0 && len(w.gone) == 0 && w.err == nil {
		return false, w.Abort()
	}
	w.create()
	w.takeOver()
	index := make([]byte, 0, len(w.records)*recentEntry)
	for _, r := range w.records {
		for _, n := range []uint64{r.key.Hi, r.key.Lo, r.sum, uint64(r.off)} {
			index = binary.LittleEndian.AppendUint64(index, n)
		}
		index = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(index, r.len), r.age)
	}
	tail := binary.LittleEndian.AppendUint64(nil, uint64(w.at))
	tail = binary.LittleEndian.AppendUint64(tail, recentSum(w.head(), index, tail))
	for _, b := range [][]byte{index, tail} {
		if w.err == nil {
			_, w.err = w.out.Write(b)
		}
	}
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err == nil {
		w.err = w.file.CloseAtomicallyReplace()
	}
	if w.err == nil {
		w.err = syncDir(filepath.Dir(w.path))
	}
	if w.err != nil {
		return false, errors.Join(fmt.Errorf("write %s: %w", w.path, w.err), w.Abort())
	}
	return true, w.old.Close()
}

// Abort removes what was written. It does nothing after Commit.
func (w *RecentWriter) Abort() error {
	if w == nil {
		return nil
	}
	err := w.old.Close()
	w.old = nil
	if w.file != nil {
		err = errors.Join(err, w.file.Cleanup())
	}
	return err
}
