package release

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"reelsplice/schemas/fragment"
)

// A keeper is what a Writer keeps of the release before: packs whose segments the new
// release uses too are linked, so that their bytes are neither read nor written.
type keeper struct {
	r     *Reader
	dir   string        // of r
	packs []atomic.Bool // of r, those in use
	first int           // number of the first pack that is written
}

func newKeeper(releases string, r *Reader) *keeper {
	if r == nil {
		return nil
	}
	readAhead(r.directory.data) // it is kept in its order
	return &keeper{
		r: r, dir: filepath.Join(releases, r.manifest.ID),
		packs: make([]atomic.Bool, len(r.packs)), first: len(r.packs),
	}
}

// firstPack returns the number of the first pack that a Writer with the keeper writes.
func (k *keeper) firstPack() int {
	if k == nil {
		return 0
	}
	return k.first
}

// use notes that a pack of the release before is used.
func (k *keeper) use(pack int) error {
	if k == nil || pack >= len(k.packs) || k.r.packs[pack] == nil {
		return fmt.Errorf("pack %d is of no release before", pack)
	}
	if !k.packs[pack].Load() { // or else all shards would write to the same lines of memory
		k.packs[pack].Store(true)
	}
	return nil
}

// Keep writes a resource of the release before (WriterOptions.Previous) as it is there,
// with other aliases. Its segments stay where they are. In shard 0, resources are kept
// before any is added, all of that release's shard 0 in their order: their places stay
// the same, so that references to them hold.
func (s *ShardWriter) Keep(e Entry, aliases [][]byte) (Ref, error) {
	if s.err != nil || s.closed {
		return 0, fmt.Errorf("keep in shard %d: it has failed or is closed", s.number)
	}
	ref, err := s.keep(e, aliases)
	if err != nil {
		return 0, fmt.Errorf("keep in shard %d: %s: %w", s.number, fragment.DescribeKey(e.Key()), err)
	}
	return ref, nil
}

func (s *ShardWriter) keep(e Entry, aliases [][]byte) (Ref, error) {
	if s.w.keep == nil || e.r != s.w.keep.r {
		return 0, errors.New("it is not of the release before")
	}
	for _, key := range aliases {
		if err := checkKey(key); err != nil {
			return 0, fmt.Errorf("alias: %w", err)
		}
	}
	ref := Ref(headerLen + s.off)
	if s.number == 0 && e.ref != ref {
		return 0, fmt.Errorf("it lies at %d and would come to %d", e.ref, ref)
	}
	pieces, err := s.usePrograms(e)
	if err != nil {
		return 0, err
	}
	target := s.off
	s.block.buf = s.block.buf[:0]
	for _, key := range aliases {
		s.block.buf = appendBlockHead(s.block.buf, key, typeAlias, 0, 0, target)
	}
	if s.number == 0 {
		for i := range e.Len() {
			s.w.common.add(ref, e.Address(i).Sub)
		}
	}
	s.count(e.Key(), len(aliases), e.Len(), pieces, int(e.size())+len(s.block.buf))
	s.err = s.keepBlock(e)
	if s.err == nil && len(aliases) > 0 {
		s.err = s.writeBlocks(s.block.buf)
	}
	return ref, s.err
}

// A keptRun is blocks of the release before that lie one behind the other. It stands in the
// piece of a shard instead of them, so that they are copied once, when the shards are joined:
// 16 bytes, which begin as no block does.
type keptRun struct {
	from Ref
	n    uint64 // bytes; 0 for no run
}

// append appends what stands in the piece: an empty key, the type, a 48-bit number of units of
// blockAlign, and from.
func (r keptRun) append(dst []byte) []byte {
	return le.AppendUint64(le.AppendUint64(dst, r.n/blockAlign<<16|typeKept<<8), uint64(r.from))
}

// parseKept reads what append wrote; false for the beginning of a block.
func parseKept(b []byte) (keptRun, bool) {
	head := le.Uint64(b)
	return keptRun{from: Ref(le.Uint64(b[8:])), n: head >> 16 * blockAlign}, head&0xffff == typeKept<<8
}

// typeKept is a type that no block has.
const typeKept = 0xff

// keepBlock adds the block of e to the piece.
func (s *ShardWriter) keepBlock(e Entry) error {
	if s.kept.n == 0 || e.ref != s.kept.from+Ref(s.kept.n) {
		if err := s.writeKept(); err != nil {
			return err
		}
		s.kept.from = e.ref
	}
	s.kept.n += e.size()
	return nil
}

// writeKept writes the run at hand.
func (s *ShardWriter) writeKept() error {
	if s.kept.n == 0 {
		return nil
	}
	_, err := s.out.Write(s.kept.append(nil))
	s.kept = keptRun{}
	return err
}

// Keep returns what writes p, a piece of the release before (WriterOptions.Previous), as it is:
// a segment stays where it is. What p.Literal is of has to stay too.
func (p *Piece) Keep() PieceSpec {
	return PieceSpec{
		Op: p.Op, Segment: p.Segment, Kept: p.Op == OpSegment, Pack: p.Pack, Offset: p.Offset,
		Literal: p.Literal, Ref: p.Ref, Sub: p.Sub, Include: p.Include, Word: p.Word, Number: p.Number,
	}
}

// usePrograms notes which packs the programs of e use, and returns how many pieces they
// have. CheckKept has compared the bytes with their sum, so what they say of segments is not
// looked at.
func (s *ShardWriter) usePrograms(e Entry) (pieces int64, err error) {
	if e.typ() == typeStored {
		if err := s.w.keep.use(int(e.baseWhere() >> wherePackShift)); err != nil {
			return 0, err
		}
	}
	p := e.block()[e.area():][:e.programs()]
	for at := 0; at < len(p); {
		n, k := uvarint(p[at:])
		if at += k; k == 0 || n > uint64(len(p)-at) {
			return 0, corrupt(directoryFile, int64(e.ref), "a program breaks the format")
		}
		end := at + int(n)
		for ; at < end; pieces++ {
			var pack int
			if at, pack = passPiece(p[:end], at); at > end {
				return 0, corrupt(directoryFile, int64(e.ref), "a piece breaks the format")
			}
			if pack >= 0 {
				if err := s.w.keep.use(pack); err != nil {
					return 0, err
				}
			}
		}
	}
	return pieces, nil
}

// link gives the release in the folder dir the packs that it keeps.
func (k *keeper) link(d disk, dir string) error {
	if k == nil {
		return nil
	}
	for n := range k.packs {
		if !k.packs[n].Load() {
			continue
		}
		if err := d.link(filepath.Join(k.dir, packName(n)), filepath.Join(dir, packName(n))); err != nil {
			return fmt.Errorf("keep %s: %w", packName(n), err)
		}
	}
	return nil
}

// describe adds the packs that are kept to the manifest.
func (k *keeper) describe(m *Manifest) {
	if k == nil {
		return
	}
	for _, f := range k.r.manifest.Files {
		n, ok := packNumber(f.Name)
		if !ok || !k.packs[n].Load() {
			continue
		}
		h := k.r.heads[f.Name]
		m.Counts.Segments += int64(h.counts[packSegments])
		m.Counts.RawBytes += int64(h.counts[packRawBytes])
		m.Counts.StoredBytes += f.Size - headerLen
		m.Files = append(m.Files, f)
	}
}

// blocks returns the block checksums of a pack that is kept, so that no damage gets a good one.
func (k *keeper) blocks(name string) []byte {
	if k == nil || k.r.checks == nil || k.r.files[name] == nil {
		return nil
	}
	return k.r.checks.of(k.r.files[name])
}

// CommonResources calls fn for the resources of shard 0 in their order: those that others
// refer to, and the defaults.
func (r *Reader) CommonResources(fn func(e Entry) error) error {
	for ref := Ref(headerLen); uint64(ref) < uint64(len(r.directory.data)); {
		e, ok := r.block(ref)
		if !ok {
			return corrupt(directoryFile, int64(ref), "no block can start there")
		}
		if k := fragment.Kind(e.Key()[0]); e.isAlias() || k != fragment.KindDefault && k != fragment.KindGenres {
			return nil
		}
		if err := fn(e); err != nil {
			return err
		}
		ref += Ref(e.size())
	}
	return nil
}

// maxKeptPacks is how many packs a release that keeps may have. An edge maps each of them by
// itself, which takes some 20 µs when it opens the release, and has two releases open when
// it switches; Linux lets a process have 65,530 mappings.
const maxKeptPacks = 10_000

// CanKeep tells whether a release of that many shards, each of which adds a pack or two, can
// be written that keeps packs of r: whether there are not too many yet, and numbers left.
func CanKeep(r *Reader, shards int) bool {
	n := 0
	for _, p := range r.packs {
		if p != nil {
			n++
		}
	}
	return shards <= maxShards && n+shards <= maxKeptPacks && len(r.packs)+2*shards <= MaxPacks
}

// CheckKept tells what is wrong with the files of a release in the folder releasesDir that
// are copied where it is kept from, so that no damage gets a good checksum: it compares the
// SHA-256 of the directory, of the index, by which that is read, and of checks with the manifest.
// Packs are linked with the checksums that they have: Verify looks at them. Errors about
// the content match ErrCorrupt.
func CheckKept(ctx context.Context, releasesDir string, r *Reader) error {
	return checkFiles(ctx, filepath.Join(releasesDir, r.manifest.ID), r.manifest, func(name string) bool {
		return name == directoryFile || name == indexFile || name == checksFile
	})
}

// CheckAll is CheckKept of all files, packs and tables too.
func CheckAll(ctx context.Context, releasesDir string, r *Reader) error {
	return checkFiles(ctx, filepath.Join(releasesDir, r.manifest.ID), r.manifest, func(string) bool { return true })
}

// checkFiles compares the SHA-256 of those files of a release that take accepts with its
// manifest.
func checkFiles(ctx context.Context, dir string, m *Manifest, take func(name string) bool) error {
	for _, want := range m.Files {
		if !take(want.Name) {
			continue
		}
		got, err := hashFile(ctx, filepath.Join(dir, want.Name), nil)
		if err != nil {
			return err
		}
		if got.File != want {
			return corrupt(want.Name, -1, "SHA-256 is %s, the manifest says %s", got.SHA256, want.SHA256)
		}
	}
	return nil
}
