package ingest

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"reelsplice/ingest/crosswalk"
	"reelsplice/ingest/layout"
	"reelsplice/ingest/source"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// Minted ids are hashes, so two resources can get the same. The catalogue keeps, beside
// each minted id, the hash of all that it was made of: whoever had the id first keeps it,
// and rows of another go to quarantine.

// mintedFile is the file of minted ids, in the catalogue: mintedMagic, then entries in
// order of kind and id.
const (
	mintedFile  = "minted.ids"
	mintedMagic = "rsmint01"
	mintedBytes = 1 + 8 + 8 // kind, id, hash
)

// A mintedID is an entry.
type mintedID struct {
	kind fragment.Kind
	id   uint64
	hash uint64
}

func (m mintedID) before(kind fragment.Kind, id uint64) bool {
	return m.kind < kind || m.kind == kind && m.id < id
}

// A mintedList reads the entries of the catalogue and writes the new ones between them,
// both in order.
type mintedList struct {
	path string // of the new file
	old  *os.File
	r    *bufio.Reader
	next mintedID // of old; kind 0 at its end
	read int64    // entries before next

	new *os.File // nil as long as there is nothing new
	w   *bufio.Writer
}

// openMinted opens the minted ids of a catalogue. The new file is written below out.
func openMinted(dir, out string) (*mintedList, error) {
	m := &mintedList{path: filepath.Join(out, mintedFile)}
	var err error
	if m.old, err = os.Open(filepath.Join(dir, mintedFile)); errors.Is(err, fs.ErrNotExist) {
		m.old = nil
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read minted ids: %w", err)
	}
	m.r = bufio.NewReader(m.old)
	var magic [len(mintedMagic)]byte
	if _, err := io.ReadFull(m.r, magic[:]); err != nil || string(magic[:]) != mintedMagic {
		return nil, errors.Join(m.damaged("begins with other bytes"), m.old.Close())
	}
	if err := m.advance(); err != nil {
		return nil, errors.Join(err, m.old.Close())
	}
	return m, nil
}

func (m *mintedList) damaged(what string) error {
	return fmt.Errorf("read minted ids: %s %s: remove it, the ids stay the same without", m.old.Name(), what)
}

// advance reads the next entry of the catalogue.
func (m *mintedList) advance() error {
	var b [mintedBytes]byte
	_, err := io.ReadFull(m.r, b[:])
	if errors.Is(err, io.EOF) {
		m.next = mintedID{}
		return nil
	}
	if err != nil {
		return m.damaged("ends in the middle of an entry")
	}
	was := m.next
	m.next = mintedID{fragment.Kind(b[0]), binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:])}
	if !was.before(m.next.kind, m.next.id) {
		return m.damaged("is not in order")
	}
	return nil
}

// hash returns the hash that an id has, 0 for a new one. Ids are asked for in order.
func (m *mintedList) hash(kind fragment.Kind, id uint64) (uint64, error) {
	for m.next.kind != 0 && m.next.before(kind, id) {
		if err := m.pass(); err != nil {
			return 0, err
		}
	}
	if m.next.kind == kind && m.next.id == id {
		return m.next.hash, nil
	}
	return 0, nil
}

// pass leaves the next entry of the catalogue behind.
func (m *mintedList) pass() error {
	if m.new != nil {
		m.write(m.next)
	}
	m.read++
	return m.advance()
}

// add adds an id for which hash returned 0 just now.
func (m *mintedList) add(kind fragment.Kind, id, hash uint64) error {
	if m.new == nil {
		if err := m.create(); err != nil {
			return fmt.Errorf("write minted ids: %w", err)
		}
	}
	m.write(mintedID{kind, id, hash})
	return nil
}

// create begins the new file with the entries that were passed.
func (m *mintedList) create() error {
	var err error
	if m.new, err = os.OpenFile(m.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644); err != nil {
		return err
	}
	m.w = bufio.NewWriter(m.new)
	_, err = m.w.WriteString(mintedMagic)
	if err == nil && m.old != nil {
		_, err = io.Copy(m.w, io.NewSectionReader(m.old, int64(len(mintedMagic)), m.read*mintedBytes))
	}
	return err
}

// write writes an entry; the writer's error is that of finish.
func (m *mintedList) write(e mintedID) {
	b := append(make([]byte, 0, mintedBytes), byte(e.kind))
	b = binary.BigEndian.AppendUint64(b, e.id)
	_, _ = m.w.Write(binary.BigEndian.AppendUint64(b, e.hash))
}

// finish completes the new file; false where there is nothing new.
func (m *mintedList) finish() (bool, error) {
	if m.new == nil {
		return false, m.close()
	}
	for m.next.kind != 0 {
		if err := m.pass(); err != nil {
			return false, err
		}
	}
	err := m.w.Flush()
	if err == nil {
		err = m.new.Sync()
	}
	if err != nil {
		err = fmt.Errorf("write minted ids: %w", err)
	}
	return true, errors.Join(err, m.close())
}

func (m *mintedList) close() error {
	var errs []error
	for _, f := range []*os.File{m.old, m.new} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	m.old, m.new = nil, nil
	return errors.Join(errs...)
}

// collides reports whether the row at hand has a minted id that another resource had
// before.
func (s *streams) collides(key catalog.Key) (bool, error) {
	if s.in.mint == 0 {
		return false, nil
	}
	if s.mintKey != key || s.mintHash == 0 {
		hash, err := s.minted.hash(s.typ.Kind, key.ID())
		if err != nil {
			return false, err
		}
		if hash == 0 {
			hash = s.in.mint
			err = s.minted.add(s.typ.Kind, key.ID(), hash)
		}
		if s.mintKey, s.mintHash = key, hash; err != nil {
			return false, err
		}
	}
	return s.mintHash != s.in.mint, nil
}

// collided puts a row aside whose minted id is another's. Its id goes, so that the row is
// not taken for the other when it is replayed.
func (s *streams) collided(key catalog.Key) error {
	here, more := s.in.at(), s.in.more
	row, err := s.in.take(s.typ)
	if err != nil {
		return err
	}
	f, _ := row.Schema.Field("id")
	record.Unset(row, f)
	return s.putAside(row, here, more,
		fmt.Sprintf("the id minted for it, %d, is that of another %s by chance: let the mapping mint of more members or columns", key.ID(), s.typ.Name()))
}

// hasMinted reports whether the catalogue has minted ids.
func (i *ingester) hasMinted() bool {
	_, err := os.Stat(filepath.Join(i.Catalog, mintedFile))
	return err == nil
}

// A record with a minted id gives way to one of the same external id with an id of
// TMDB's: see docs/tables.md of package layout.

// supersede merges the catalogue's records with minted ids into those that this run gave
// the same external ids.
func (i *ingester) supersede(ctx context.Context) error {
	if i.idBytes == 0 || !i.supersedes() {
		return nil
	}
	if err := i.flushIDs(); err != nil {
		return err
	}
	b := crosswalk.NewBuilder(i.work, i.Memory/4)
	if err := addEntries(b, filepath.Join(i.work, notedFile), i.idBytes); err != nil {
		return errors.Join(fmt.Errorf("read ids: %w", err), b.Close())
	}
	if i.known != nil {
		if err := i.known.Close(); err != nil { // the new table has its place
			return err
		}
		i.known = nil
	}
	now, err := b.Table(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = now.Close() }() // a temporary file
	if err := i.eachMintedGroup(func(of projection, f *catalog.File, g int) error { return i.supersedeGroup(ctx, of, f, g, now) }); err != nil {
		return err
	}
	if i.merged > 0 {
		i.Log.Info("records with minted ids were merged into those with ids of TMDB's", "records", i.merged)
	}
	return now.Err()
}

// supersedes reports whether the run merges the catalogue's minted ids into others.
func (i *ingester) supersedes() bool { return !i.Overlay && i.hasMinted() }

// listMoved writes entries that lead from the minted ids which t says are superseded to
// the others, and returns their length. Rows that mint such an id are about those.
func (i *ingester) listMoved(ctx context.Context, t *crosswalk.Table) (n int64, err error) {
	out, err := os.Create(filepath.Join(i.work, movedFile))
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriter(out)
	var entry []byte
	err = i.eachMintedGroup(func(of projection, f *catalog.File, g int) error {
		return eachRow(ctx, f.ProjectGroups(of.plan, g, g+1), of.row, func(r record.Record) error {
			id, ok := supersededBy(of.kind, r, t)
			if !ok {
				return nil
			}
			f, _ := r.Schema.Field("id")
			entry = crosswalk.AppendEntry(entry[:0], mintedKey(of.kind, r.Int(f).V), id)
			n += int64(len(entry))
			_, err := w.Write(entry)
			return err
		})
	})
	return n, errors.Join(err, t.Err(), w.Flush(), out.Close())
}

// mintedKey is the key under which a minted id leads to the one that it was merged into.
func mintedKey(kind fragment.Kind, id int64) crosswalk.Key {
	return crosswalk.External(kind, layout.MintedSource, strconv.FormatInt(id, 10))
}

// eachMintedGroup calls fn with the row groups of the catalogue that may have minted ids,
// and what is to be read of their records.
func (i *ingester) eachMintedGroup(fn func(of projection, f *catalog.File, g int) error) error {
	for _, of := range (noter{ids: layout.Kinds(fragment.KindMovie, fragment.KindTV, fragment.KindPerson)}).projections() {
		if err := i.eachMintedGroupOf(of, fn); err != nil {
			return err
		}
	}
	return nil
}

func (i *ingester) eachMintedGroupOf(of projection, fn func(of projection, f *catalog.File, g int) error) error {
	f, err := catalog.TypeOf(of.kind).Open(i.Catalog)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read side
	firsts, err := f.FirstKeys()
	if err != nil {
		return err
	}
	for g := range firsts {
		if firsts[g].ID() > layout.LastMinted || g+1 < len(firsts) && firsts[g+1].ID() <= layout.FirstMinted {
			continue
		}
		if err := fn(of, f, g); err != nil {
			return err
		}
	}
	return nil
}

// supersedeGroup does for the records of a row group, which it reads whole only if some are
// superseded.
func (i *ingester) supersedeGroup(ctx context.Context, of projection, f *catalog.File, g int, now *crosswalk.Table) error {
	found := false
	err := eachRow(ctx, f.ProjectGroups(of.plan, g, g+1), of.row, func(r record.Record) error {
		_, ok := supersededBy(of.kind, r, now)
		found = found || ok
		return nil
	})
	if err != nil || !found {
		return err
	}
	t := catalog.TypeOf(of.kind)
	return eachRow(ctx, f.Groups(g, g+1), t.New, func(r record.Record) error {
		if id, ok := supersededBy(of.kind, r, now); ok {
			return i.mergeInto(t, r, id)
		}
		return nil
	})
}

// supersededBy returns the id that a record with a minted one has now.
func supersededBy(kind fragment.Kind, r record.Record, now *crosswalk.Table) (id int64, ok bool) {
	f, _ := r.Schema.Field("id")
	if !layout.IsMinted(r.Int(f).V) {
		return 0, false
	}
	layout.ExternalIDs(r, func(source, other string) {
		if n, known := now.External(kind, source, other); known && !ok && !layout.IsMinted(n) {
			id, ok = n, true
		}
	})
	return id, ok
}

// mergeInto gives what is known under a minted id to another record, as the weakest
// source, and says of the minted id what it was merged into.
func (i *ingester) mergeInto(t *catalog.Type, r record.Record, id int64) error {
	f, _ := r.Schema.Field("id")
	l, err := layout.New(layout.TMDB, i.options)
	if err != nil {
		return err
	}
	gone, err := l.Records(layout.Row{JSON: fmt.Sprintf(`{"id":%d,"_merged_into":%d}`, r.Int(f).V, id), Type: t})
	if err != nil {
		return err
	}
	number := len(i.numbers) // of no source: behind them all
	i.seq++
	payload := appendHead(nil, number, &gone[0], false, source.Place{})
	if err := i.sort(sortKey{t.Kind, gone[0].Key, rowSeq(number, i.seq)}, record.AppendBinary(payload, gone[0].Record)); err != nil {
		return err
	}
	*r.Int(f) = record.Number(id)
	payload = binary.AppendUvarint(payload[:0], uint64(number)<<flagBits|flagMoved)
	payload = append(payload, 0, 0) // row and line
	i.merged++
	return i.sort(sortKey{t.Kind, catalog.Key{Hi: uint64(id)}, i.seq}, record.AppendBinary(payload, r))
}

// takeMoved takes what was known of a resource under minted ids.
func (s *streams) takeMoved(key catalog.Key) (v version, err error) {
	for {
		next, ok, err := s.in.peek(s.typ)
		if err != nil || !ok || next != key || !s.in.moved {
			return v, err
		}
		row, err := s.takeVersion()
		if err != nil {
			return v, err
		}
		v = v.under(row)
	}
}
