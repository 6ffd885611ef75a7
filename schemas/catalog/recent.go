package catalog

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"
	"github.com/zeebo/xxh3"

	"reelsplice/schemas/wire"
)

// This file holds the records that changed last once more, each by itself: a build that
// makes few records anew would decode whole pages of the Parquet file for each. What it says
// is believed of a record with the same sum alone, so that a file that is old, damaged or gone
// costs time and nothing else. It is
//
//	magic    8 bytes
//	layout   8 bytes: a sum of what the binary form of a record depends on
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

	// maxRecent is how many records a file has at most: what is known of them is held in memory.
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

// layoutSum returns a sum of the names, the shapes and the order of all members of a plan.
func layoutSum(p *wire.Plan) uint64 { return xxh3.Hash(appendLayout(nil, p)) }

func appendLayout(dst []byte, p *wire.Plan) []byte {
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
	file interface {
		io.ReaderAt
		io.Closer
	}
	records []recentRecord // by key
}

// OpenRecent opens the file of a kind in a catalogue folder. Of one that is not there, damaged
// or of another version, none is returned, which has no records.
func OpenRecent(dir string, t *Type) (*Recent, error) {
	path := filepath.Join(dir, t.RecentFile())
	f, err := os.Open(path)
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
	records, err := readRecent(f, info.Size(), t)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	if records == nil {
		return nil, f.Close()
	}
	return &Recent{file: f, records: records}, nil
}

// readRecent returns where the records of a file of size bytes lie; nil when that cannot be
// told.
func readRecent(f io.ReaderAt, size int64, t *Type) ([]recentRecord, error) {
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
	case at < recentHead || bytes < 0 || bytes%recentEntry != 0 || bytes/recentEntry > maxRecent:
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

// Read fills rec, which must be empty, with the record of a head, and reports whether it could.
// Where it could not, rec is not empty any more.
func (r *Recent) Read(h Head, rec wire.Record) bool {
	if r == nil {
		return false
	}
	i, found := slices.BinarySearchFunc(r.records, h.Key, func(e recentRecord, k Key) int { return e.key.Compare(k) })
	if !found || r.records[i].sum != h.Sum {
		return false
	}
	body, ok := r.body(r.records[i])
	return ok && wire.DecodeBinary(string(body), rec) == nil
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

// A RecentWriter writes the file of the records of a kind that an ingest changed. What would
// make it too long is left out.
type RecentWriter struct {
	path    string
	layout  uint64
	file    *renameio.PendingFile
	out     *bufio.Writer
	at      int64
	end     int64 // which at does not pass
	records []recentRecord
	err     error
}

// CreateRecent starts a file for the records of a kind, beside a Parquet file of them of as many
// bytes. Nothing is on the disk before the first record.
func CreateRecent(path string, t *Type, file int64) *RecentWriter {
	return &RecentWriter{path: path, layout: layoutSum(t.Plan), at: recentHead, end: recentHead + recentBytes(file)}
}

// Add writes a record in its binary form. Keys must ascend.
func (w *RecentWriter) Add(key Key, body []byte) {
	w.add(recentRecord{key: key, sum: xxh3.Hash(body)}, body)
}

func (w *RecentWriter) add(r recentRecord, body []byte) {
	if w.err != nil || len(w.records) == maxRecent || int64(len(body)) > w.end-w.at {
		return
	}
	if w.file == nil && !w.create() {
		return
	}
	if _, w.err = w.out.Write(body); w.err != nil {
		return
	}
	r.off, r.len = w.at, uint32(len(body))
	w.at += int64(len(body))
	w.records = append(w.records, r)
}

func (w *RecentWriter) create() bool {
	w.file, w.err = renameio.NewPendingFile(w.path, renameio.WithTempDir(filepath.Dir(w.path)), renameio.WithPermissions(0o644))
	if w.err == nil {
		w.out = bufio.NewWriterSize(w.file, 256<<10)
		_, w.err = w.out.Write(w.head())
	}
	return w.err == nil
}

func (w *RecentWriter) head() []byte {
	return binary.LittleEndian.AppendUint64([]byte(recentMagic), w.layout)
}

// TakeOver writes the records of the file before that were not written since, those that are
// the newest first, unless they have been taken over often. Records are not added after it.
func (w *RecentWriter) TakeOver(old *Recent) {
	if old == nil || len(w.records) == 0 {
		return
	}
	news := w.records
	records := slices.Clone(old.records)
	slices.SortStableFunc(records, func(a, b recentRecord) int { return cmp.Compare(a.age, b.age) })
	for _, r := range records {
		_, written := slices.BinarySearchFunc(news, r.key, func(e recentRecord, k Key) int { return e.key.Compare(k) })
		if written || r.age >= recentAge {
			continue
		}
		if body, ok := old.body(r); ok {
			w.add(recentRecord{key: r.key, sum: r.sum, age: r.age + 1}, body)
		}
	}
	slices.SortFunc(w.records, func(a, b recentRecord) int { return a.key.Compare(b.key) })
}

// Commit completes the file, syncs it and gives it its name. It reports whether there is one:
// not when no record was added.
func (w *RecentWriter) Commit() (bool, error) {
	if w.file == nil || w.err != nil {
		return false, errors.Join(w.failed(), w.Abort())
	}
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
	if w.err != nil {
		return false, errors.Join(w.failed(), w.Abort())
	}
	return true, syncDir(filepath.Dir(w.path))
}

func (w *RecentWriter) failed() error {
	if w.err == nil {
		return nil
	}
	return fmt.Errorf("write %s: %w", w.path, w.err)
}

// Abort removes what was written. It does nothing after Commit, or of a nil writer.
func (w *RecentWriter) Abort() error {
	if w == nil || w.file == nil {
		return nil
	}
	return w.file.Cleanup()
}
