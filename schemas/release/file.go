package release

import (
	"bufio"
	"context"
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
	"strings"
	"sync/atomic"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/file"
)

// Each binary file ends with checks of its content: a CRC-32C for each block of it. A Reader
// checks blocks when they are used. A damaged check makes a sound block fail, which is damage
// too. A pack of 1 GiB has 1 MiB of checks.

const (
	// checkBlock is the length of a block: a page of memory, so that a check reads no more
	// from a disk than its reader does.
	checkBlock = 4096
	// checkLen is the length of the CRC of a block.
	checkLen = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// blocksOf returns the number of blocks of n bytes.
func blocksOf[T int | int64 | uint64](n T) T { return (n + checkBlock - 1) / checkBlock }

// trailerLen returns the length of checks and footer behind so many bytes of content.
func trailerLen(content uint64) uint64 { return checkLen*blocksOf(content) + footerLen }

// blockOf returns block b of data, the last of which may be shorter.
func blockOf(data []byte, b uint64) []byte {
	return data[b*checkBlock : min((b+1)*checkBlock, uint64(len(data)))]
}

// blockSums computes the CRCs of the blocks of the bytes that are written to it.
type blockSums struct {
	sums []byte
	crc  uint32
	n    int // bytes of the open block
}

func (s *blockSums) write(b []byte) {
	for len(b) > 0 {
		k := min(len(b), checkBlock-s.n)
		s.crc = crc32.Update(s.crc, castagnoli, b[:k])
		if s.n += k; s.n == checkBlock {
			s.end()
		}
		b = b[k:]
	}
}

func (s *blockSums) end() {
	s.sums = le.AppendUint32(s.sums, s.crc)
	s.crc, s.n = 0, 0
}

// close ends the last block, and returns the CRCs.
func (s *blockSums) close() []byte {
	if s.n > 0 {
		s.end()
	}
	return s.sums
}

// A fileWriter writes a binary file from its header to its footer in one pass. The first error
// stays and comes back from finish.
type fileWriter struct {
	f      *os.File
	out    *bufio.Writer
	off    uint64 // bytes so far
	sha    hash.Hash
	blocks blockSums
	err    error
}

// createFile starts a file with a header.
func createFile(path, magic string, mode fs.FileMode) (*fileWriter, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return nil, err
	}
	w := &fileWriter{f: f, sha: sha256.New()}
	w.out = bufio.NewWriterSize(fileSink{w}, 256<<10)
	_, err = w.Write(appendHeader(nil, magic))
	return w, err
}

// A fileSink takes what a fileWriter has gathered.
type fileSink struct{ w *fileWriter }

func (s fileSink) Write(b []byte) (int, error) {
	s.w.sha.Write(b)
	return s.w.f.Write(b)
}

// Write appends content.
func (w *fileWriter) Write(b []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.blocks.write(b)
	n, err := w.out.Write(b)
	w.off += uint64(n)
	w.err = err
	return n, err
}

// finish appends checks and footer, makes the file durable and closes it. The name of the
// File is that of the path.
func (w *fileWriter) finish(d disk, counts fileCounts) (_ File, err error) {
	defer closeInto(w.f, &err)
	foot := footer{content: w.off, counts: counts}
	for _, b := range [][]byte{w.blocks.close(), foot.appendTo(nil)} {
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
		w.err = d.sync(w.f)
	}
	if w.err != nil {
		return File{}, w.err
	}
	return File{Name: filepath.Base(w.f.Name()), Size: int64(w.off), SHA256: hex.EncodeToString(w.sha.Sum(nil))}, nil
}

// finishHashed is finish of a file that gets the name of its content, with that prefix.
func (w *fileWriter) finishHashed(d disk, counts fileCounts, prefix string) (File, error) {
	path := w.f.Name()
	f, err := w.finish(d, counts)
	if err != nil {
		return f, err
	}
	f.Name = hashName(prefix, f.SHA256)
	return f, file.Rename(path, filepath.Join(filepath.Dir(path), f.Name))
}

// discard closes a file that is given up.
func (w *fileWriter) discard() { _ = w.f.Close() }

// A mapping is a mapped file, and which of its blocks have been checked.
type mapping struct {
	r      *Reader
	name   string
	number int    // of a pack, among those of the manifest
	sparse bool   // of a pack: more of it is dead than in use, so that a build writes it anew
	all    []byte // the file
	data   []byte // its content
	sums   []byte // its checks
	counts fileCounts
	seen   []atomic.Uint64 // a bit for each block that was checked, or that is not to be
	path   string          // of the mapped file
}

// newMapping returns the mapping of a file, of which nothing has been read yet.
func newMapping(r *Reader, name string, all []byte) *mapping {
	return &mapping{r: r, name: name, all: all}
}

// filesAtOnce is how many files are opened at a time.
const filesAtOnce = 16

// mapFiles maps the files of the release. Each comes from the first folder that has it.
func (r *Reader) mapFiles(dirs []string) error {
	var g errgroup.Group
	g.SetLimit(filesAtOnce)
	for _, f := range r.manifest.Files() {
		if r.files[f.Name] != nil {
			continue // two parts or packs of the same content
		}
		m := newMapping(r, f.Name, nil)
		r.files[f.Name] = m
		g.Go(func() error { return m.open(f, dirs) })
	}
	return g.Wait()
}

// open maps the file, provided it has the length that the manifest says, and starts to read what parse will.
func (m *mapping) open(want File, dirs []string) (err error) {
	var f *os.File
	for _, dir := range dirs {
		if f, err = file.Open(filepath.Join(dir, want.Name)); !missing(err) {
			break
		}
	}
	if missing(err) {
		return corrupt(want.Name, -1, "file is missing, the manifest has %d bytes", want.Size)
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
		return corrupt(want.Name, min(st.Size(), want.Size), "file is %d bytes long, the manifest has %d", st.Size(), want.Size)
	}
	if want.Size > math.MaxInt {
		return fmt.Errorf("%s: %d bytes are more than this machine can address", want.Name, want.Size)
	}
	if m.all, err = file.Map(f, int(want.Size)); err != nil {
		return fmt.Errorf("map %s: %w", want.Name, err)
	}
	m.path = f.Name()
	mappings.Store(m, nil)
	// What parse reads: the header, and at the end the footer and, of a
	// table, the list of sections.
	file.Fetch(m.all[:headerLen])
	file.Fetch(m.all[max(0, len(m.all)-usualList):])
	return nil
}

// close ends the mapping.
func (m *mapping) close() error {
	mappings.Delete(m)
	if len(m.all) == 0 {
		return nil
	}
	return file.Unmap(m.all)
}

// parse reads header and footer. The blocks of a Reader that trusts its files count as checked.
func (m *mapping) parse(magic string) error {
	f, err := parseFooter(m.name, m.all, uint64(len(m.all)))
	if err != nil {
		return err
	}
	if err := checkHeader(m.name, m.all, magic); err != nil {
		return err
	}
	m.data, m.sums, m.counts = m.all[:f.content:f.content], m.all[f.content:len(m.all)-footerLen], f.counts
	m.seen = make([]atomic.Uint64, (blocksOf(len(m.data))+63)/64)
	if m.r.trust {
		for i := range m.seen {
			m.seen[i].Store(^uint64(0))
		}
	}
	return nil
}

// check checks the blocks that n > 0 bytes from off on lie in, those that have not been checked.
// It panics with a *CorruptError, which Guard returns.
func (m *mapping) check(off, n uint64) {
	// Fast path: they lie in one block, and that has been checked.
	if b := off / checkBlock; off+n > (b+1)*checkBlock || m.seen[b/64].Load()>>(b%64)&1 == 0 {
		m.checkAll(off, n)
	}
}

// checkAll is check of any number of blocks.
func (m *mapping) checkAll(off, n uint64) {
	end := off + n
	awaited := false
	for b := off / checkBlock; b*checkBlock < end; b++ {
		switch seen := m.seen[b/64].Load(); {
		case seen == ^uint64(0):
			b |= 63 // Fast path: all of the word have been checked.
		case seen>>(b%64)&1 == 0:
			if !awaited { // nobody has read it before, so it may come from a disk
				file.Await(m.data[b*checkBlock : end])
				awaited = true
			}
			m.checkBlock(b)
		}
	}
}

// checkBlock checks a block.
func (m *mapping) checkBlock(b uint64) {
	if err := m.compare(b, blockOf(m.data, b)); err != nil {
		panic(err)
	}
}

// compare compares block b, as it was read, with its CRC.
func (m *mapping) compare(b uint64, block []byte) *CorruptError {
	got, want := crc32.Checksum(block, castagnoli), le.Uint32(m.sums[checkLen*b:])
	if got == want {
		m.seen[b/64].Or(1 << (b % 64))
		return nil
	}
	return m.damaged(b, fmt.Sprintf("CRC-32C of %d bytes is %08x, the checks have %08x", len(block), got, want))
}

// damaged notes that a block is damaged, which is checked again from here on.
func (m *mapping) damaged(b uint64, what string) *CorruptError {
	m.forget(b)
	err := &CorruptError{File: m.name, Off: int64(b * checkBlock), What: what}
	m.r.damage.note(b*checkBlock, err)
	return err
}

// forget has a block checked again, unless the Reader trusts its files.
func (m *mapping) forget(b uint64) {
	if !m.r.trust && b < uint64(blocksOf(len(m.data))) {
		m.seen[b/64].And(^uint64(1 << (b % 64)))
	}
}

// unreadable notes that the file cannot be read at an offset.
func (m *mapping) unreadable(off uint64) *CorruptError {
	return m.damaged(off/checkBlock, "it cannot be read: the file has become shorter, or its disk fails")
}

// Names in a releases folder that are no releases. All start with a dot, which no
// release id does.
const (
	builderLock    = ".lock"       // held while a builder works
	storeLock      = ".store-lock" // held while current or the set of releases changes
	deletingPrefix = ".deleting-"
	currentFile    = "current"
	canaryFile     = "canary"
)

// BuildingPrefix starts the names, in a releases folder, of what belongs to a build at
// work. Create removes what killed builders left under such names.
const BuildingPrefix = ".building-"

// disk does what has to survive a power cut. It calls step after each action with its
// description; an error from step ends the work there, as a kill would, so that a
// test can look at what is left.
type disk struct {
	step    func(action string) error
	noLinks bool // for tests: files get no second names
}

// did reports an action that has been done.
func (d disk) did(action, path string) error {
	if d.step == nil {
		return nil
	}
	return d.step(action + " " + filepath.Base(path))
}

func (d disk) mkdir(path string) error {
	if err := os.Mkdir(path, 0o755); err != nil {
		return err
	}
	return d.did("make", path)
}

// sync makes the content of f durable.
func (d disk) sync(f *os.File) error {
	if err := f.Sync(); err != nil {
		return err
	}
	return d.did("sync", f.Name())
}

// syncDir makes the names in the folder path durable.
func (d disk) syncDir(path string) error {
	if err := file.SyncDir(path); err != nil {
		return err
	}
	return d.did("sync", path)
}

// writeFile creates or replaces path and makes its content durable, not its name.
func (d disk) writeFile(path string, data []byte) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer closeInto(f, &err)
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := d.did("write", path); err != nil {
		return err
	}
	return d.sync(f)
}

// rename gives from the name to and makes that durable. Both are in one folder.
func (d disk) rename(from, to string) error {
	if err := file.Rename(from, to); err != nil {
		return err
	}
	if err := d.did("rename", to); err != nil {
		return err
	}
	return d.syncDir(filepath.Dir(to))
}

// link gives the sealed file from another name, whose folder is still to be synced: where
// the file system cannot, to becomes a durable copy, by way of the name temporary in its folder.
func (d disk) link(from, to, temporary string) error {
	if !d.noLinks {
		if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
			return d.did("link", to)
		}
	}
	temporary = filepath.Join(filepath.Dir(to), temporary)
	if err := d.copyFile(from, temporary); err != nil {
		return err
	}
	return file.Rename(temporary, to)
}

// copyFile makes to a durable copy of from, with its permissions.
func (d disk) copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer closeInto(out, &err)
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	if err := d.did("copy", to); err != nil {
		return err
	}
	return d.sync(out)
}

func (d disk) removeAll(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return d.did("remove", path)
}

// delete removes a release, which is gone as a whole once it has another name. On Windows, files that a process has
// mapped stay under that name for a later removeStale.
func (d disk) delete(path string) error {
	old := filepath.Join(filepath.Dir(path), deletingPrefix+filepath.Base(path))
	if err := d.removeAll(old); err != nil {
		return err
	}
	if err := d.rename(path, old); err != nil {
		return err
	}
	if err := d.removeAll(old); !file.InUse(err) {
		return err
	}
	return nil
}

// removeStale removes what is left in dir under names that start with prefix, except for files in use.
func (d disk) removeStale(dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			if err := d.removeAll(filepath.Join(dir, e.Name())); err != nil && !file.InUse(err) {
				return err
			}
		}
	}
	return nil
}

// closeInto closes f and keeps its error unless there is one already.
func closeInto(f *os.File, err *error) {
	if cerr := f.Close(); *err == nil {
		*err = cerr
	}
}

// tryLock takes the lock file name in dir, or returns nil when another holds it.
func tryLock(dir, name string) (*flock.Flock, error) {
	l := flock.New(filepath.Join(dir, name))
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", l.Path(), err)
	}
	if !ok {
		return nil, nil
	}
	return l, nil
}

// hashFile reads the file path and calls each, unless nil, with its bytes piece by piece.
func hashFile(ctx context.Context, path string, each func([]byte)) (File, error) {
	f, err := file.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	sha, buf, size := sha256.New(), make([]byte, 256<<10), int64(0)
	for ctx.Err() == nil {
		n, err := f.Read(buf)
		sha.Write(buf[:n])
		size += int64(n)
		if errors.Is(err, io.EOF) {
			return File{Name: filepath.Base(path), Size: size, SHA256: hex.EncodeToString(sha.Sum(nil))}, nil
		}
		if err != nil {
			return File{}, err
		}
		if each != nil {
			each(buf[:n])
		}
	}
	return File{}, ctx.Err()
}

// missing reports whether err says that a file is not there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
