package release

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/gofrs/flock"
	"github.com/zeebo/xxh3"

	"reelsplice/schemas/fragment"
)

// maxShards bounds the shards of a release, so that pack numbers last.
const maxShards = 4096

// DefaultMaxPackBytes is the pack length at which a shard starts another pack.
const DefaultMaxPackBytes = 1 << 30

// WriterOptions say what a Writer puts into the manifest and how it divides the
// release. All of them have a share in its bytes and thus in its id.
type WriterOptions struct {
	Params  map[string]string // parameters of the build that determine its bytes; UTF-8
	Sources map[string]int64  // counts of what the build read; UTF-8 names
	Parent  string            // id of the release that this one was built upon, or ""
	// MaxPackBytes is the length in bytes at which a shard starts another pack; a
	// longer segment gets a pack of its own. 0 means DefaultMaxPackBytes.
	MaxPackBytes int64
	// Shards is the number of shards, 1 to 4096; 0 means 1. Shard 0 is the common
	// shard, the only one that References may point into.
	Shards int
}

// A Writer makes one release. Its shards may be written at the same time; every
// other method is for one goroutine, while no shard is being written.
type Writer struct {
	o    WriterOptions
	dir  string // of the releases
	tmp  string // folder of the release while it grows
	lock *flock.Flock
	disk disk

	common commonShard
	mu     sync.Mutex // guards shards and tables
	shards []*ShardWriter
	tables []*TableWriter
	joined []summedFile // directory and index, when they are written
	whole  *Manifest    // of the complete release
}

// commonShard knows what References may point at. A goroutine learns of a Ref only
// after the resource is in, so what check answers does not depend on timing.
type commonShard struct {
	mu   sync.RWMutex
	subs map[refSub]struct{}
}

type refSub struct {
	ref Ref
	sub fragment.Sub
}

func (c *commonShard) add(ref Ref, sub fragment.Sub) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.subs[refSub{ref, sub}] = struct{}{}
}

func (c *commonShard) has(ref Ref, sub fragment.Sub) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, ok := c.subs[refSub{ref, sub}]
	return ok
}

// Create starts a release in the folder releasesDir, which is made if need be. One
// builder works in a folder at a time: while another one does, the error matches
// ErrLocked. What killed builders left behind is removed. Seal or Abort ends the work.
func Create(releasesDir string, o WriterOptions) (*Writer, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("create release: %w", err)
	}
	if err := os.MkdirAll(releasesDir, 0o755); err != nil {
		return nil, fmt.Errorf("create release: %w", err)
	}
	lock, err := tryLock(releasesDir, builderLock)
	if err != nil {
		return nil, fmt.Errorf("create release: %w", err)
	}
	if lock == nil {
		return nil, fmt.Errorf("create release in %q: %w", releasesDir, ErrLocked)
	}
	w := &Writer{o: o, dir: releasesDir, lock: lock, shards: make([]*ShardWriter, o.Shards)}
	w.common.subs = map[refSub]struct{}{}
	w.tmp = filepath.Join(releasesDir, BuildingPrefix+strconv.Itoa(os.Getpid()))
	if err := w.start(); err != nil {
		return nil, errors.Join(fmt.Errorf("create release: %w", err), lock.Unlock())
	}
	return w, nil
}

func (w *Writer) start() error {
	if err := w.disk.removeStale(w.dir, BuildingPrefix); err != nil {
		return err
	}
	return w.disk.mkdir(w.tmp)
}

// withDefaults returns o with the defaults filled in, or what is wrong with it.
func (o WriterOptions) withDefaults() (WriterOptions, error) {
	if o.Shards == 0 {
		o.Shards = 1
	}
	if o.MaxPackBytes == 0 {
		o.MaxPackBytes = DefaultMaxPackBytes
	}
	if o.Shards < 1 || o.Shards > maxShards {
		return o, fmt.Errorf("%d shards, 1 to %d are possible", o.Shards, maxShards)
	}
	if o.MaxPackBytes < 0 || o.MaxPackBytes > MaxPackBytes {
		return o, fmt.Errorf("packs of %d bytes, 1 to %d are possible", o.MaxPackBytes, int64(MaxPackBytes))
	}
	var err error
	o.Params, err = copyText(o.Params)
	if err != nil {
		return o, err
	}
	o.Sources, err = copyText(o.Sources)
	if err == nil && !utf8.ValidString(o.Parent) {
		err = fmt.Errorf("parent %q is no UTF-8", o.Parent)
	}
	return o, err
}

// copyText returns a copy of m, empty rather than nil, and refuses text that would not
// come back the same from JSON.
func copyText[V string | int64](m map[string]V) (map[string]V, error) {
	c := make(map[string]V, len(m))
	for k, v := range m {
		if s, ok := any(v).(string); !utf8.ValidString(k) || ok && !utf8.ValidString(s) {
			return nil, fmt.Errorf("%q: %q is no UTF-8", k, s)
		}
		c[k] = v
	}
	return c, nil
}

// Shard opens shard i, 0 <= i < Shards, which can be done once. A ShardWriter is for
// one goroutine at a time; different ones do not wait for one another, and the bytes
// of the release do not depend on their order. A shard that is not opened is empty.
func (w *Writer) Shard(i int) (*ShardWriter, error) {
	if i < 0 || i >= len(w.shards) {
		return nil, fmt.Errorf("open shard %d: there are %d", i, len(w.shards))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shards[i] != nil {
		return nil, fmt.Errorf("open shard %d: it has been opened before", i)
	}
	s, err := newShardWriter(w, i)
	if err != nil {
		return nil, fmt.Errorf("open shard %d: %w", i, err)
	}
	w.shards[i] = s
	return s, nil
}

// WriteReport puts the build report report.json into the release. It may hold what
// the id must not depend on, such as times; List takes the member built_at (RFC 3339)
// from it. A later call replaces an earlier one.
func (w *Writer) WriteReport(report []byte) error {
	if w.tmp == "" {
		return errors.New("write report: the release is sealed or aborted")
	}
	if err := w.disk.writeFile(filepath.Join(w.tmp, reportFile), report); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// StoredBytes returns how many bytes of segments the closed shards have written.
func (w *Writer) StoredBytes() (n int64) {
	for _, s := range w.shards {
		if s != nil {
			n += s.counts.storedBytes
		}
	}
	return n
}

// Complete writes all of the release, after every shard that was opened has been closed,
// and returns its manifest: its id is known from there on. It
// may be left out, for Seal does the same.
func (w *Writer) Complete(ctx context.Context) (Manifest, error) {
	if w.tmp == "" {
		return Manifest{}, errors.New("complete release: it is sealed or aborted already")
	}
	if w.whole == nil {
		m, err := w.complete(ctx)
		if err != nil {
			return Manifest{}, fmt.Errorf("complete release: %w", err)
		}
		w.whole = m
	}
	return *w.whole, nil
}

// Seal completes the release, and gives it its name. A kill at any moment leaves either no
// release of that name or a complete one. When a release with the same content is there
// already, that one stays, with its report. An error leaves everything
// for Abort to remove.
func (w *Writer) Seal(ctx context.Context) (Manifest, error) {
	m, err := w.Complete(ctx)
	if err != nil {
		return Manifest{}, fmt.Errorf("seal release: %w", err)
	}
	if err := w.install(m.ID); err != nil {
		return Manifest{}, fmt.Errorf("seal release: %w", err)
	}
	w.tmp = ""
	return m, w.lock.Unlock()
}

// complete writes what the shards have not written yet.
func (w *Writer) complete(ctx context.Context) (*Manifest, error) {
	if err := w.join(ctx); err != nil {
		return nil, err
	}
	m, err := w.manifest(ctx)
	if err != nil {
		return nil, err
	}
	data, err := m.encode()
	if err != nil {
		return nil, err
	}
	if err := w.disk.writeFile(filepath.Join(w.tmp, manifestFile), data); err != nil {
		return nil, err
	}
	return m, w.disk.syncDir(w.tmp)
}

// Join writes the directory and the index, once, after every shard that was opened has been
// closed. Tables may be written meanwhile. It may be left out: what needs it does the same.
func (w *Writer) Join(ctx context.Context) error {
	if w.tmp == "" {
		return errors.New("join release: it is sealed or aborted already")
	}
	if err := w.join(ctx); err != nil {
		return fmt.Errorf("join release: %w", err)
	}
	return nil
}

// join is Join of a release that is neither sealed nor aborted.
func (w *Writer) join(ctx context.Context) error {
	if w.joined != nil {
		return nil
	}
	return Guard(func() error { return w.joinAll(ctx) })
}

func (w *Writer) joinAll(ctx context.Context) error {
	index := &indexWriter{dir: w.tmp}
	directory, err := w.joinDirectory(ctx, index)
	if err != nil {
		return err
	}
	if err := index.write(ctx, w.disk); err != nil {
		return err
	}
	f, err := hashFile(ctx, filepath.Join(w.tmp, indexFile), nil)
	if err != nil {
		return err
	}
	w.joined = []summedFile{directory, f}
	return nil
}

// Preview opens what the shards of the release hold, after every one that was opened has
// been closed, so that tables can be made of it. Its manifest has no id. The Reader must
// be closed before Seal or Abort.
func (w *Writer) Preview(ctx context.Context) (*Reader, error) {
	if w.tmp == "" {
		return nil, errors.New("preview release: it is sealed or aborted already")
	}
	if err := w.join(ctx); err != nil {
		return nil, fmt.Errorf("preview release: %w", err)
	}
	m := &Manifest{FormatVersion: FormatVersion, Parent: w.o.Parent, Params: w.o.Params, Sources: w.o.Sources}
	m.Counts.Resources = map[string]int64{}
	w.describe(m)
	r, err := openFiles(w.tmp, m, true /* trust: it is being written */)
	if err != nil {
		return nil, fmt.Errorf("preview release: %w", err)
	}
	return r, nil
}

// describe adds directory and index, as far as they are written, and what the shards hold
// to a manifest.
func (w *Writer) describe(m *Manifest) {
	for i := range w.joined {
		m.Files = append(m.Files, w.joined[i].File)
	}
	for _, s := range w.shards {
		if s != nil {
			s.describe(m)
		}
	}
}

// joinDirectory writes the directory from the pieces of all shards, in their order,
// and hands the keys to index.
func (w *Writer) joinDirectory(ctx context.Context, index *indexWriter) (_ summedFile, err error) {
	h, err := w.directoryHeader()
	if err != nil {
		return summedFile{}, err
	}
	f, err := os.Create(filepath.Join(w.tmp, directoryFile))
	if err != nil {
		return summedFile{}, err
	}
	defer closeInto(f, &err)
	sum := newSummer(f)
	defer sum.close()
	j := joiner{out: bufio.NewWriterSize(sum, 256<<10), index: index, off: headerLen}
	if _, err := j.out.Write(h.appendTo(nil)); err != nil {
		return summedFile{}, err
	}
	for _, s := range w.shards {
		if s == nil {
			continue
		}
		if err := j.shard(ctx, s); err != nil {
			return summedFile{}, err
		}
	}
	if err := j.out.Flush(); err != nil {
		return summedFile{}, err
	}
	if uint64(j.off) != h.length {
		return summedFile{}, fmt.Errorf("the directory has %d bytes, the shards have counted %d", j.off, h.length)
	}
	return sum.file(directoryFile), w.disk.sync(f)
}

// directoryHeader returns the header of the directory, by what the shards have counted.
func (w *Writer) directoryHeader() (header, error) {
	h := header{magic: directoryMagic, length: headerLen}
	for i, s := range w.shards {
		if s == nil {
			continue
		}
		if s.err != nil {
			return h, fmt.Errorf("shard %d has failed: %w", i, s.err)
		}
		if !s.closed {
			return h, fmt.Errorf("shard %d is not closed", i)
		}
		h.length += s.off
		h.counts[directoryBlocks] += uint64(s.counts.resources + s.counts.aliases)
		h.counts[directoryResources] += uint64(s.counts.resources)
		h.counts[directoryFragments] += uint64(s.counts.fragments)
		h.counts[directoryPieces] += uint64(s.counts.pieces)
	}
	return h, nil
}

// A joiner appends shards' pieces to the directory. A piece has the blocks of the shard, with
// offsets that start at 0.
type joiner struct {
	out   *bufio.Writer
	in    *bufio.Reader
	index *indexWriter
	off   int64 // in the directory
	block [blockKey + fragment.MaxKeyLen]byte
}

// shard appends the piece of s, whose offsets are relative, and removes its file.
func (j *joiner) shard(ctx context.Context, s *ShardWriter) error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	j.in = bufio.NewReaderSize(f, 256<<10)
	for base := uint64(j.off); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := j.in.Peek(1); errors.Is(err, io.EOF) {
			return os.Remove(s.path)
		}
		if err := j.next(base); err != nil {
			return fmt.Errorf("copy %q: %w", s.path, err)
		}
	}
}

// next copies one block.
func (j *joiner) next(base uint64) error {
	if _, err := io.ReadFull(j.in, j.block[:blockKey]); err != nil {
		return err
	}
	b := Entry{head: le.Uint64(j.block[:])}
	head := j.block[:b.base()]
	if _, err := io.ReadFull(j.in, head[blockKey:]); err != nil {
		return err
	}
	if b.isAlias() { // its number is an offset in the shard's piece
		le.PutUint64(head[blockNumber:], le.Uint64(head[blockNumber:])+base)
	}
	if _, err := j.out.Write(head); err != nil {
		return err
	}
	if err := j.index.add(xxh3.Hash(head[blockKey:][:b.keyLen()]), uint64(j.off)); err != nil {
		return err
	}
	j.off += int64(b.size())
	return j.copy(b.size() - b.base())
}

func (j *joiner) copy(n uint64) error {
	for n > 0 {
		chunk, err := j.in.Peek(int(min(n, 64<<10)))
		if err != nil {
			return err
		}
		if _, err := j.out.Write(chunk); err != nil {
			return err
		}
		n -= uint64(len(chunk))
		if _, err := j.in.Discard(len(chunk)); err != nil {
			return err
		}
	}
	return nil
}

// manifest describes the files in the release's folder.
func (w *Writer) manifest(ctx context.Context) (*Manifest, error) {
	m := &Manifest{FormatVersion: FormatVersion, Parent: w.o.Parent, Params: w.o.Params, Sources: w.o.Sources}
	m.Counts.Resources = map[string]int64{}
	w.describe(m)
	sums := w.blockSums()
	if err := w.addTables(ctx, m, sums); err != nil {
		return nil, err
	}
	sortFiles(m.Files)
	if err := w.writeChecks(ctx, m, sums); err != nil {
		return nil, err
	}
	sortFiles(m.Files)
	var err error
	m.ID, err = m.contentID()
	return m, err
}

// blockSums returns the block checksums of what join and the shards have written.
func (w *Writer) blockSums() map[string][]byte {
	sums := map[string][]byte{}
	add := func(files []summedFile) {
		for i := range files {
			sums[files[i].Name] = files[i].blocks
		}
	}
	add(w.joined)
	for _, s := range w.shards {
		if s != nil {
			add(s.packs)
		}
	}
	return sums
}

// install gives the complete release its name.
func (w *Writer) install(id string) error {
	final := filepath.Join(w.dir, id)
	if r, err := Open(final); err == nil {
		// The same content is there and whole. It may be the one that is served.
		if err := r.Close(); err != nil {
			return err
		}
		return w.disk.removeAll(w.tmp)
	}
	if _, err := os.Lstat(final); err == nil {
		// Something broken has the name.
		if err := w.disk.delete(final); err != nil {
			return err
		}
	}
	return w.disk.rename(w.tmp, final)
}

// Abort gives up an unsealed release: its files are removed and another builder may
// start. After Seal or an earlier Abort it does nothing.
func (w *Writer) Abort() error {
	if w.tmp == "" {
		return nil
	}
	var errs []error
	for _, s := range w.shards {
		if s != nil {
			s.discard()
		}
	}
	for _, t := range w.tables {
		t.discard()
	}
	errs = append(errs, w.disk.removeAll(w.tmp), w.lock.Unlock())
	w.tmp = ""
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("abort release: %w", err)
	}
	return nil
}

// counts is what a shard has taken in. It is read by Seal, after Close.
type counts struct {
	kinds                                  [256]int64
	resources, aliases, fragments, pieces  int64
	segments, rawBytes, storedBytes, packs int64
}
