package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"reelsplice/schemas/fragment"
)

// A Reader reads one release. All methods but Close may be called from many
// goroutines at the same time. What they hand out is part of the mapping: read-only,
// and valid until Close.
//
// What they hand out has been checked, except the bytes of segments: see Segment.Check. A
// method that meets damage panics, so all of them are called inside of Guard.
type Reader struct {
	manifest  *Manifest
	dir       string // "" when its files are in memory
	files     map[string]*mapping
	index     *mapping
	directory *mapping
	packs     []*mapping // by pack number, nil where there is none
	tables    map[string]*Table
	homes     uint64
	slots     uint64
	reach     uint64
	heads     map[string]header
	sums      *checks // nil without the file
	checks    *checks // the same; nil when nothing is checked
	damage    damageLog
	closed    bool
}

// Open opens the release in the folder dir. It checks the manifest, and header and
// length of each file, and reads little else: milliseconds at any size. Errors about
// the content match ErrCorrupt or ErrVersion.
func Open(dir string) (*Reader, error) { return open(dir, false /* trust */) }

// open is Open. With trust nothing but that is checked, so that damage can be looked at.
func open(dir string, trust bool) (r *Reader, err error) {
	m, err := readManifest(dir)
	if err == nil {
		r, err = openFiles(dir, m, trust)
	}
	if err != nil {
		return nil, fmt.Errorf("open release %q: %w", dir, err)
	}
	return r, nil
}

// openFiles maps the files that m lists. All are mapped, and what is read of them at first
// is fetched, before the first one is read: so a disk reads from all of them at a time.
func openFiles(dir string, m *Manifest, trust bool) (*Reader, error) {
	r := newReader(m)
	r.dir = dir
	err := r.mapFiles()
	if err == nil {
		err = Guard(func() error { return r.parse(trust) })
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *Reader) mapFiles() error {
	for _, f := range r.manifest.Files {
		b, err := openFile(r.dir, f)
		if err != nil {
			return err
		}
		r.addFile(f.Name, b)
		mappings.add(r.files[f.Name])
		fetchFirst(f.Name, b)
	}
	return nil
}

// fetchFirst fetches what newReader reads of a file: the header, and of a table the list of
// sections, which stands at its end.
func fetchFirst(name string, data []byte) {
	fetch(data[:headerLen])
	if isTable(name) {
		fetch(data[max(headerLen, len(data)-usualList):])
	}
}

// openFile maps a file of the release in dir, provided it has the length that the
// manifest says.
func openFile(dir string, want File) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, want.Name))
	if missing(err) {
		return nil, corrupt(want.Name, -1, "file is missing, the manifest says %d bytes", want.Size)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() != want.Size {
		return nil, corrupt(want.Name, min(st.Size(), want.Size), "file is %d bytes long, the manifest says %d", st.Size(), want.Size)
	}
	if want.Size > math.MaxInt {
		return nil, fmt.Errorf("%s: %d bytes are more than this machine can address", want.Name, want.Size)
	}
	b, err := mapFile(f, int(want.Size))
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", want.Name, err)
	}
	return b, nil
}

// newReader makes a Reader of the files that m lists, which addFile gives to it.
func newReader(m *Manifest) *Reader {
	n := len(m.Files)
	return &Reader{manifest: m, files: make(map[string]*mapping, n), heads: make(map[string]header, n), tables: map[string]*Table{}}
}

func (r *Reader) addFile(name string, data []byte) { r.files[name] = newMapping(r, name, data) }

// parse reads the headers of all files, checks first. trust is that of open.
func (r *Reader) parse(trust bool) error {
	if r.files[checksFile] != nil {
		if err := r.addChecks(trust); err != nil {
			return err
		}
	}
	for _, f := range r.manifest.Files {
		m := r.files[f.Name]
		if r.checks == nil {
			m.trust()
		}
		var err error
		switch {
		case f.Name == checksFile:
		case f.Name == indexFile:
			err = r.addIndex(m)
		case f.Name == directoryFile:
			err = r.addDirectory(m)
		case isTable(f.Name):
			err = r.addTable(m)
		default:
			err = r.addPack(m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) addIndex(m *mapping) error {
	data := m.data
	h, err := parseHeader(indexFile, data, indexMagic, r.manifest.FormatVersion)
	if err != nil {
		return err
	}
	r.slots, r.homes, r.reach = h.counts[indexSlots], h.counts[indexHomes], h.counts[indexReach]
	if have := uint64(len(data)-headerLen) / slotLen; len(data)%slotLen != 0 || r.slots != have {
		return corrupt(indexFile, headerCounts+8*indexSlots, "%d slots, the length of the file gives %d", r.slots, have)
	}
	if r.homes == 0 || r.homes > r.slots {
		return corrupt(indexFile, headerCounts+8*indexHomes, "%d ideal slots, 1 to %d are possible", r.homes, r.slots)
	}
	if r.reach >= r.slots {
		return corrupt(indexFile, headerCounts+8*indexReach, "reach of %d slots, the file has %d", r.reach, r.slots)
	}
	r.index, r.heads[indexFile] = m, h
	return nil
}

func (r *Reader) addDirectory(m *mapping) error {
	data := m.data
	h, err := parseHeader(directoryFile, data, directoryMagic, r.manifest.FormatVersion)
	if err != nil {
		return err
	}
	if len(data)%blockAlign != 0 {
		return corrupt(directoryFile, headerFileLen, "length %d is no multiple of %d", len(data), blockAlign)
	}
	r.directory, r.heads[directoryFile] = m, h
	return nil
}

func (r *Reader) addPack(m *mapping) error {
	name := m.name
	h, err := parseHeader(name, m.data, packMagic, r.manifest.FormatVersion)
	if err != nil {
		return err
	}
	n, ok := packNumber(name)
	if !ok || uint64(h.number) != uint64(n) {
		return corrupt(name, headerNumber, "header is that of pack %d", h.number)
	}
	for len(r.packs) <= n {
		r.packs = append(r.packs, nil)
	}
	r.packs[n], r.heads[name] = m, h
	return nil
}

// Manifest returns what the release says of itself. It must not be changed.
func (r *Reader) Manifest() *Manifest { return r.manifest }

// Close unmaps the files. Nothing that came from r may be used any more. A second
// call does nothing.
func (r *Reader) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	none := newMapping(r, "", nil)
	r.index, r.directory, r.packs, r.tables, r.slots = none, none, nil, nil, 0
	var errs []error
	for _, m := range r.files {
		mappings.remove(m)
		errs = append(errs, unmapFile(m.data))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close release: %w", err)
	}
	return nil
}

// Forget takes what was read out of the memory of the process. All of it can be read
// again.
func (r *Reader) Forget() {
	for _, m := range r.files {
		dropPages(m.data)
	}
}

// ForgetLookups is Forget of what lookups have read, which takes no longer the more packs
// there are.
func (r *Reader) ForgetLookups() {
	dropPages(r.index.data)
	dropPages(r.directory.data)
}

// Lookup returns the resource with that key or alias. It takes constant time and
// allocates nothing.
func (r *Reader) Lookup(key []byte) (Entry, bool) {
	e, ok := r.find(key)
	if ok && e.isAlias() {
		return r.EntryAt(e.target())
	}
	return e, ok
}

// Behind returns the resource that lies behind e, as written: the next one of the same shard,
// as long as there is one. It is false at the end, and for the zero Entry.
func (r *Reader) Behind(e Entry) (Entry, bool) {
	if e.r != r || r == nil {
		return Entry{}, false
	}
	for ok := true; ok; {
		if e, ok = r.block(e.ref + Ref(e.size())); ok && !e.isAlias() {
			return e, true
		}
	}
	return Entry{}, false
}

// Include returns the resource that i names. It may lack the sub-request, which the
// resource of fragment.KindDefault for its kind has then. It takes constant time and
// allocates nothing.
func (r *Reader) Include(i Include) (Entry, bool) {
	var key [fragment.MaxKeyLen]byte
	return r.Lookup(i.AppendKey(key[:0]))
}

// find returns the block, resource or alias, with that key.
func (r *Reader) find(key []byte) (Entry, bool) {
	e, _, ok := r.locate(key)
	return e, ok
}

// locate is find with the number of the slot in which the block was found.
func (r *Reader) locate(key []byte) (Entry, uint64, bool) {
	hash := xxh3.Hash(key)
	slot := home(hash, r.homes)
	for end := min(slot+r.reach+1, r.slots); slot < end; slot++ {
		off := headerLen + slotLen*slot
		r.index.check(off, slotLen)
		s := le.Uint64(r.index.data[off:])
		if s == 0 {
			break
		}
		if s>>slotOffBits != hash&(1<<slotTagBits-1) {
			continue
		}
		if e, ok := r.block(slotRef(s)); ok && bytes.Equal(e.Key(), key) {
			return e, slot, true
		}
	}
	return Entry{}, 0, false
}

// EntryAt returns the resource at ref, as it stands in a Reference. It is false when
// no resource can start there.
func (r *Reader) EntryAt(ref Ref) (Entry, bool) {
	e, ok := r.block(ref)
	return e, ok && !e.isAlias()
}

// block returns the block at ref, provided that all of it lies in the directory. What comes
// before its fragment table is checked.
func (r *Reader) block(ref Ref) (Entry, bool) {
	n := uint64(len(r.directory.data))
	if ref < headerLen || ref%blockAlign != 0 || uint64(ref) >= n {
		return Entry{}, false
	}
	r.directory.check(uint64(ref), blockAlign)
	e := Entry{r, ref, le.Uint64(r.directory.data[ref:])}
	valid := e.keyLen() != 0 && e.keyLen() <= fragment.MaxKeyLen && e.size() <= n-uint64(ref) &&
		(e.typ() == typeResource || e.typ() == typeStored || e.isAlias() && e.Len() == 0 && e.programs() == 0)
	if !valid {
		return Entry{}, false
	}
	r.directory.check(uint64(ref), e.tables())
	return e, true
}

// Resources calls fn for each resource in the order of the directory, until fn
// returns an error, which it passes on. A block that breaks the format ends the walk.
func (r *Reader) Resources(ctx context.Context, fn func(key []byte, e Entry, ref Ref) error) error {
	return r.blocks(ctx, func(e Entry) error {
		if e.isAlias() {
			return nil
		}
		return fn(e.Key(), e, e.ref)
	})
}

// blocks calls fn for each block, resource or alias.
func (r *Reader) blocks(ctx context.Context, fn func(Entry) error) error {
	return r.blocksIn(ctx, headerLen, Ref(len(r.directory.data)), fn)
}

// blocksIn is blocks of those from a place of the directory up to another.
func (r *Reader) blocksIn(ctx context.Context, ref, end Ref, fn func(Entry) error) error {
	for ref < end {
		if err := ctx.Err(); err != nil {
			return err
		}
		e, ok := r.block(ref)
		if !ok {
			return corrupt(directoryFile, int64(ref), "no block can start with % x", r.directory.data[ref:min(uint64(ref)+blockKey, uint64(len(r.directory.data)))])
		}
		if err := fn(e); err != nil {
			return err
		}
		ref += Ref(e.size())
	}
	return nil
}
