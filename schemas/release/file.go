package release

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/file"
)

// Each binary file ends with checks of its content: a CRC-32C per block. A Reader checks blocks on use. If the check
// itself is damaged, its block fails too. A pack of 1 GiB has 1 MiB of checks.

const (
	// CheckBlock is the length of a block: a page of memory, so a check reads no extra pages from disk.
	CheckBlock = 4096
	// CheckLen is the length of the CRC of a block.
	CheckLen = 4
)

// Castagnoli is the table of the CRC of a block.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// blocksOf returns the number of blocks of n bytes.
func blocksOf[T int | int64 | uint64](n T) T { return (n + CheckBlock - 1) / CheckBlock }

// A fileWriter writes a binary file from its header to its footer in one pass. finish returns the first error.
type fileWriter struct {
	f    *os.File
	out  *bufio.Writer // to f and sha
	off  uint64        // bytes so far
	sha  hash.Hash
	sums []byte // CRCs of the complete blocks
	crc  uint32 // CRC of the open block
	err  error
}

// createFile starts a file with a header.
func createFile(path, magic string, mode fs.FileMode) (*fileWriter, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return nil, err
	}
	w := &fileWriter{f: f, sha: sha256.New()}
	w.out = bufio.NewWriterSize(io.MultiWriter(w.sha, f), 256<<10)
	_, err = w.Write(le.AppendUint64([]byte(magic), fileVersion))
	return w, err
}

// Write appends content.
func (w *fileWriter) Write(b []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.out.Write(b)
	for rest := b; len(rest) > 0; {
		piece := rest[:min(len(rest), CheckBlock-int(w.off%CheckBlock))]
		rest, w.off = rest[len(piece):], w.off+uint64(len(piece))
		if w.crc = crc32.Update(w.crc, Castagnoli, piece); w.off%CheckBlock == 0 {
			w.sums, w.crc = le.AppendUint32(w.sums, w.crc), 0
		}
	}
	w.err = err
	return n, err
}

// finish appends checks and footer, syncs the file and closes it. The returned File has the base name of its path.
func (w *fileWriter) finish(counts FileCounts) (_ File, err error) {
	defer closeInto(w.f, &err)
	foot := le.AppendUint64(nil, w.off)
	for _, n := range counts {
		foot = le.AppendUint64(foot, n)
	}
	foot = le.AppendUint32(foot, crc32.ChecksumIEEE(foot))
	if w.off%CheckBlock != 0 {
		w.sums = le.AppendUint32(w.sums, w.crc)
	}
	for _, b := range [][]byte{w.sums, foot} {
		n, err := w.out.Write(b)
		w.off += uint64(n)
		if w.err == nil {
			w.err = err
		}
	}
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err == nil {
		w.err = file.Sync(w.f)
	}
	if w.err != nil {
		return File{}, w.err
	}
	return File{Name: filepath.Base(w.f.Name()), Size: int64(w.off), SHA256: hex.EncodeToString(w.sha.Sum(nil))}, nil
}

// finishHashed is finish, followed by renaming the file to the prefix and its hash.
func (w *fileWriter) finishHashed(counts FileCounts, prefix string) (File, error) {
	path := w.f.Name()
	f, err := w.finish(counts)
	if err != nil {
		return f, err
	}
	f.Name = prefix + f.SHA256[:hashDigits]
	return f, file.Rename(path, filepath.Join(filepath.Dir(path), f.Name))
}

// discard closes an abandoned file.
func (w *fileWriter) discard() { _ = w.f.Close() }

// A Mapping is a mapped file with a record of its checked blocks. Its methods are for package check; other packages
// use the Reader.
type Mapping struct {
	r      *Reader
	name   string
	number int    // number of a pack in the manifest's list
	sparse bool   // a pack that is mostly dead, so the next build rewrites it
	all    []byte // the file
	data   []byte // its content
	sums   []byte // its checks
	counts FileCounts
	seen   []atomic.Uint64 // one bit per block: checked, or exempt
	path   string          // path of the mapped file
}

// Path returns the path of the file.
func (m *Mapping) Path() string { return m.path }

// Bytes returns the file, unchecked.
func (m *Mapping) Bytes() []byte { return m.all }

// Content returns the bytes that the checks cover, unchecked.
func (m *Mapping) Content() []byte { return m.data }

// Checks returns the CRC of each block of the content, CheckLen bytes each.
func (m *Mapping) Checks() []byte { return m.sums }

// Counts returns the counts of the footer.
func (m *Mapping) Counts() FileCounts { return m.counts }

// filesAtOnce is the number of files opened concurrently.
const filesAtOnce = 16

// mapFiles maps the files that m lists, for a Reader to be parsed. Each comes from the first folder that contains it.
func mapFiles(m *Manifest, dirs []string, trust bool) (*Reader, error) {
	r := &Reader{manifest: m, trust: trust, files: map[string]*Mapping{}, tables: map[string]*Table{}, shift: 64}
	var g errgroup.Group
	g.SetLimit(filesAtOnce)
	for _, f := range m.Files() {
		if r.files[f.Name] != nil {
			continue // two parts or packs with the same content
		}
		mapping := &Mapping{r: r, name: f.Name}
		r.files[f.Name] = mapping
		g.Go(func() error { return mapping.open(f, dirs) })
	}
	return r, g.Wait()
}

// open maps the file if its length matches the manifest, and starts reading the bytes that parse needs.
func (m *Mapping) open(want File, dirs []string) (err error) {
	var f *os.File
	for _, dir := range dirs {
		if f, err = file.Open(filepath.Join(dir, want.Name)); !missing(err) {
			break
		}
	}
	if missing(err) {
		return Corrupt(want.Name, -1, "file is missing, the manifest has %d bytes", want.Size)
	}
	if err != nil {
		return err
	}
	defer closeInto(f, &err)
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if st.Size() != want.Size {
		return Corrupt(want.Name, min(st.Size(), want.Size), "file is %d bytes long, the manifest has %d", st.Size(), want.Size)
	}
	if want.Size > math.MaxInt {
		return fmt.Errorf("%s: %d bytes are more than this machine can address", want.Name, want.Size)
	}
	if m.all, err = file.Map(f, int(want.Size)); err != nil {
		return fmt.Errorf("map %s: %w", want.Name, err)
	}
	m.path = f.Name()
	mappings.Store(m, nil)
	// parse reads the header, the footer, and the section list of a table.
	file.Fetch(m.all[:HeaderLen])
	file.Fetch(m.all[max(0, len(m.all)-usualList):])
	return nil
}

// parse reads header and footer. If the Reader trusts its files, all blocks count as checked.
func (m *Mapping) parse(magic string) error {
	size := uint64(len(m.all))
	if size < HeaderLen+FooterLen {
		return Corrupt(m.name, int64(size), "file is %d bytes long, header and footer need %d", size, HeaderLen+FooterLen)
	}
	end := size - FooterLen
	foot := m.all[end:]
	if got, want := le.Uint32(foot[footerCRC:]), crc32.ChecksumIEEE(foot[:footerCRC]); got != want {
		return Corrupt(m.name, int64(end+footerCRC), "CRC of the footer is %08x, want %08x", got, want)
	}
	content := le.Uint64(foot[footerContent:])
	if content < HeaderLen || content > end || content+CheckLen*blocksOf(content) != end {
		return Corrupt(m.name, int64(end+footerContent), "%d bytes of content do not make a file of %d bytes", content, size)
	}
	if got := string(m.all[:len(magic)]); got != magic {
		return Corrupt(m.name, headerMagic, "magic is %q, want %q", got, magic)
	}
	if v := le.Uint64(m.all[headerVersion:]); v != fileVersion {
		return Corrupt(m.name, headerVersion, "format version is %d, want %d", v, fileVersion)
	}
	m.data, m.sums = m.all[:content:content], m.all[content:end]
	for i := range m.counts {
		m.counts[i] = le.Uint64(foot[footerCounts+8*i:])
	}
	m.seen = make([]atomic.Uint64, (blocksOf(len(m.data))+63)/64)
	if m.r.trust {
		for i := range m.seen {
			m.seen[i].Store(^uint64(0))
		}
	}
	return nil
}

// check verifies the unchecked blocks in the range of n > 0 bytes from off. It panics with a *CorruptError, which
// Guard returns.
func (m *Mapping) check(off, n uint64) {
	// Fast path: a single block, already checked.
	if b := off / CheckBlock; off+n > (b+1)*CheckBlock || m.seen[b/64].Load()>>(b%64)&1 == 0 {
		m.checkAll(off, n)
	}
}

// checkAll is check for any number of blocks.
func (m *Mapping) checkAll(off, n uint64) {
	end := off + n
	awaited := false
	for b := off / CheckBlock; b*CheckBlock < end; b++ {
		switch seen := m.seen[b/64].Load(); {
		case seen == ^uint64(0):
			b |= 63 // Fast path: all 64 blocks have been checked.
		case seen>>(b%64)&1 == 0:
			if !awaited { // first use, so it may come from a disk
				file.Await(1, func(int) []byte { return m.data[b*CheckBlock : end] })
				awaited = true
			}
			if err := m.Compare(b, m.data[b*CheckBlock:min((b+1)*CheckBlock, uint64(len(m.data)))]); err != nil {
				panic(err)
			}
		}
	}
}

// Compare compares the bytes of block b, as read from the file, with its CRC.
func (m *Mapping) Compare(b uint64, block []byte) *CorruptError {
	got, want := crc32.Checksum(block, Castagnoli), le.Uint32(m.sums[CheckLen*b:])
	if got == want {
		m.seen[b/64].Or(1 << (b % 64))
		return nil
	}
	return m.Damaged(b, fmt.Sprintf("CRC-32C of %d bytes is %08x, the checks have %08x", len(block), got, want))
}

// Damaged records that a block is damaged, and marks it for another check.
func (m *Mapping) Damaged(b uint64, fault string) *CorruptError {
	m.Forget(b)
	err := &CorruptError{File: m.name, Off: int64(b * CheckBlock), What: fault}
	m.r.damage.record(b*CheckBlock, err)
	return err
}

// Forget marks a block for another check, unless the Reader trusts its files.
func (m *Mapping) Forget(b uint64) {
	if !m.r.trust && b < uint64(blocksOf(len(m.data))) {
		m.seen[b/64].And(^uint64(1 << (b % 64)))
	}
}

// Unreadable records that the file cannot be read at an offset.
func (m *Mapping) Unreadable(off uint64) *CorruptError {
	return m.Damaged(off/CheckBlock, "it cannot be read: the file has become shorter, or its disk fails")
}

// closeInto closes f and stores its error unless err has one.
func closeInto(f *os.File, err *error) {
	if cerr := f.Close(); *err == nil {
		*err = cerr
	}
}

// missing reports whether err means that a file does not exist.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
