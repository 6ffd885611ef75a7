package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"
)

// DefaultMaxPackBytes is the pack length at which a part starts another pack.
const DefaultMaxPackBytes = 1 << 30

// WriterOptions give the manifest's free fields and the division of the release. All of them
// have a share in its bytes and thus in its id.
type WriterOptions struct {
	Params  map[string]string // parameters of the build that determine its bytes; UTF-8
	Sources map[string]int64  // counts of what the build read; UTF-8 names
	Parent  string            // id of the release that this one was built upon, or ""
	// MaxPackBytes is that of PartOptions.
	MaxPackBytes int64
	// Parts is the number of parts, 1 to MaxParts; 0 means 1. Part 0 is the common
	// part, the only one that References may lead into.
	Parts int
	// Previous is a release in the same folder of which resources and segments may be taken
	// over: see PartWriter.Copy and PieceSpec.Segment. It stays open until Seal or Abort.
	// Nil for none.
	Previous *Reader
}

// A Writer makes one release: it holds the lock and the folder, hands out parts and tables, and
// seals. Parts and tables may be written at the same time; every other method is for one
// goroutine, while none is being written.
type Writer struct {
	o    WriterOptions
	dir  string // of the releases
	tmp  string // folder of the release while it grows
	lock *flock.Flock
	disk disk

	common *Common
	mu     sync.Mutex // guards parts and tables
	parts  []*PartWriter
	tables []*TableWriter
	index  []File    // once it is written
	whole  *Manifest // of the complete release
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
	w := &Writer{o: o, dir: releasesDir, lock: lock, parts: make([]*PartWriter, o.Parts), common: &Common{refs: map[string]commonResource{}}}
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
	if o.Parts == 0 {
		o.Parts = 1
	}
	if o.Parts < 1 || o.Parts > MaxParts {
		return o, fmt.Errorf("%d parts, 1 to %d are possible", o.Parts, MaxParts)
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

// Part starts part i, 0 <= i < Parts, which can be done once. The common part, part 0, is closed
// before others refer to it. A part that is not started is empty.
func (w *Writer) Part(i int) (*PartWriter, error) {
	if i < 0 || i >= len(w.parts) {
		return nil, fmt.Errorf("start part %d: there are %d", i, len(w.parts))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.parts[i] != nil {
		return nil, fmt.Errorf("start part %d: it has been started before", i)
	}
	p, err := createPart(PartOptions{
		Dir: w.tmp, Number: i, Common: w.common, Previous: w.o.Previous, MaxPackBytes: w.o.MaxPackBytes,
	}, w.disk)
	if err != nil {
		return nil, err
	}
	w.parts[i] = p
	return p, nil
}

// Dir returns the folder of the release until it is sealed. Tasks may write its files there by
// themselves: see CreatePart, CreateTable, WriteIndex and WriteManifest.
func (w *Writer) Dir() string { return w.tmp }

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

// Complete writes all of the release, after every part that was started has been closed,
// and returns its manifest. It may be left out, for Seal does the same.
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
// already, that one stays, with its report. An error leaves everything for Abort to remove.
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

// complete writes what parts and tables have left out: index and manifest.
func (w *Writer) complete(ctx context.Context) (*Manifest, error) {
	if err := w.Join(ctx); err != nil {
		return nil, err
	}
	c, err := w.contents(true)
	if err != nil {
		return nil, err
	}
	m, err := writeManifest(w.tmp, w.o, c, w.disk)
	return &m, err
}

// Join writes the index, once, after every part that was started has been closed. Tables may be
// written meanwhile. It may be left out: what needs it does the same.
func (w *Writer) Join(ctx context.Context) error {
	if w.tmp == "" {
		return errors.New("join release: it is sealed or aborted already")
	}
	if w.index != nil {
		return nil
	}
	parts, err := w.closedParts()
	if err != nil {
		return fmt.Errorf("join release: %w", err)
	}
	n := IndexCount(parts)
	files := make([]File, n)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() (err error) {
			files[i], err = writeIndex(ctx, w.tmp, parts, i, n, w.disk)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("join release: %w", err)
	}
	w.index = files
	return nil
}

// closedParts describes the parts that were started, all of which must be closed.
func (w *Writer) closedParts() ([]Part, error) {
	var parts []Part
	for i, p := range w.parts {
		switch {
		case p == nil:
		case p.err != nil:
			return nil, fmt.Errorf("part %d has failed: %w", i, p.err)
		case !p.closed:
			return nil, fmt.Errorf("part %d is not closed", i)
		default:
			parts = append(parts, p.part)
		}
	}
	return parts, nil
}

// Preview opens the parts of the release, after every one that was started has been closed, and
// the tables that are closed, so that other tables can be made of them. Its manifest has no id.
// The Reader must be closed before Seal or Abort.
func (w *Writer) Preview(ctx context.Context) (*Reader, error) {
	if err := w.Join(ctx); err != nil {
		return nil, fmt.Errorf("preview release: %w", err)
	}
	c, err := w.contents(false)
	if err != nil {
		return nil, fmt.Errorf("preview release: %w", err)
	}
	return Preview(w.tmp, w.o, c)
}

// contents describes the release, whose index is written; with all, no table may be open.
func (w *Writer) contents(all bool) (Contents, error) {
	parts, err := w.closedParts()
	c := Contents{Parts: parts, Indexes: w.index}
	if err != nil {
		return c, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.tables {
		switch {
		case t.file != nil && t.err == nil:
			c.Tables = append(c.Tables, *t.file)
		case all && t.file == nil:
			return c, fmt.Errorf("table %q is not closed", t.name)
		case all:
			return c, t.err
		}
	}
	return c, nil
}

// Install gives the release its name, after WriteManifest has completed it in Dir. It ends the
// work, as Seal does.
func (w *Writer) Install() (Manifest, error) {
	m, err := ReadManifest(w.tmp)
	if err != nil {
		return m, fmt.Errorf("install release: %w", err)
	}
	if err := w.install(m.ID); err != nil {
		return m, fmt.Errorf("install release: %w", err)
	}
	w.tmp = ""
	return m, w.lock.Unlock()
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
	for _, p := range w.parts {
		if p != nil {
			p.discard()
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

// Contents are the files of a release in the making, as their writers described them.
type Contents struct {
	Parts   []Part // in order; the first is the common one
	Indexes []File // in order
	Tables  []File
}

// packsOf returns the packs that parts use, in order of name.
func packsOf(parts []Part) []File {
	byName := map[string]File{}
	for i := range parts {
		for _, f := range parts[i].Packs {
			f.Live += byName[f.Name].Live
			byName[f.Name] = f
		}
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
}

// manifest describes the release in the folder dir.
func (c *Contents) manifest(dir string, o WriterOptions) (*Manifest, error) {
	m := &Manifest{
		FormatVersion: FormatVersion, Parent: o.Parent, Params: o.Params, Sources: o.Sources,
		Parts: []File{}, Index: c.Indexes, Packs: packsOf(c.Parts), Tables: append([]File{}, c.Tables...),
	}
	if m.Packs == nil {
		m.Packs = []File{}
	}
	m.Counts.Resources = map[string]int64{}
	for _, p := range writtenParts(c.Parts) {
		m.Parts = append(m.Parts, p.File)
		for kind, n := range p.Resources {
			m.Counts.Resources[kind] += n
		}
		m.Counts.Aliases += p.Aliases
		m.Counts.Fragments += p.Fragments
	}
	slices.SortFunc(m.Tables, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return m, countPacks(dir, m)
}

// countPacks counts the segments of the packs by their footers.
func countPacks(dir string, m *Manifest) error {
	for _, f := range m.Packs {
		foot, err := readFooter(filepath.Join(dir, f.Name))
		if err != nil {
			return err
		}
		m.Counts.Segments += int64(foot.counts[packSegments])
		m.Counts.RawBytes += int64(foot.counts[packRawBytes])
		m.Counts.StoredBytes += int64(foot.content - headerLen)
	}
	return nil
}

// Preview opens a release in the making, in the folder dir, so that tables can be made of it.
// Its manifest has no id.
func Preview(dir string, o WriterOptions, c Contents) (*Reader, error) {
	m, err := c.manifest(dir, o)
	if err != nil {
		return nil, fmt.Errorf("preview release: %w", err)
	}
	r, err := openFiles(dir, m, true /* trust: it is being written */)
	if err != nil {
		return nil, fmt.Errorf("preview release: %w", err)
	}
	return r, nil
}

// WriteManifest completes a release in the folder dir: it writes the manifest, removes the files
// that only WriteIndex needed, and makes the folder durable. It may be called again.
func WriteManifest(dir string, o WriterOptions, c Contents) (Manifest, error) {
	m, err := writeManifest(dir, o, c, disk{})
	if err != nil {
		return m, fmt.Errorf("complete release: %w", err)
	}
	return m, nil
}

func writeManifest(dir string, o WriterOptions, c Contents, d disk) (Manifest, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Manifest{}, err
	}
	m, err := c.manifest(dir, o)
	if err != nil {
		return Manifest{}, err
	}
	if m.ID, err = m.contentID(); err != nil {
		return *m, err
	}
	data, err := m.encode()
	if err != nil {
		return *m, err
	}
	if err := d.writeFile(filepath.Join(dir, manifestFile), data); err != nil {
		return *m, err
	}
	left, err := filepath.Glob(filepath.Join(dir, ".keys-*"))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return *m, errors.Join(err, d.syncDir(dir))
}

// ReadManifest reads the manifest of a release in the folder dir.
func ReadManifest(dir string) (Manifest, error) {
	m, err := readManifest(dir)
	if err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %w", err)
	}
	return *m, nil
}
