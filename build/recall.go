package build

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"reelsplice/build/ledger"
	"reelsplice/build/shuffle"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables/changelog"
)

// A recall is what a shard remembers of its units: a movie, a series with its seasons and
// episodes, a resource that titles speak of, an external id. A unit that is made of the
// same as in the build before is not made again: its resources are kept as they lie there,
// and what it says of others still holds.
type recall struct {
	old *ledger.Reader
	new *ledger.Writer
	buf []byte
	// touched is told of each resource that is made anew, and of each that was of a unit
	// which is not kept: no others differ from the release before. nil without keeping.
	touched *shuffle.Writer
	err     error // of touched
	b       *builder
	units   bool // the shard has units
	// Of the unit at hand:
	found []release.Entry // its resources there, in the order of their notes
	last  release.Entry   // that was looked up, of this unit or the one before
	news  *news           // what units say anew; nil when that does not count
}

// Notes of a unit.
const (
	noteResource = 100 // a resource of the unit, by its key
	noteUnnamed  = 101 // the next resource is not found by its own id
	noteFind     = 102 // what finds a resource: see emitter.finds
	noteTitle    = 103 // the first one of a title: see titleNear.note
	noteKnown    = 104 // the first one of what titles speak of: the sum of what they say
	noteRow      = 110 // a row of a table, plus its number
)

// errUnkept says that the release before is damaged, or not as its ledgers say.
var errUnkept = errors.New("nothing can be kept of the previous release")

// ledgerName is the name of the ledger of a shard inside a release's folder.
func ledgerName(shard int) string { return fmt.Sprintf("ledger-%05d", shard) }

// newRecall opens the ledgers of a shard.
func (b *builder) newRecall(w *release.Writer, shard int) (*recall, error) {
	// Neither the common shard nor that of what is removed has units.
	r := &recall{old: &ledger.Reader{}, b: b, units: shard > 0 && shard < b.plan.shards()}
	var err error
	if b.keeping {
		if r.old, err = ledger.Open(filepath.Join(b.previousDir(), ledgerName(shard)), b.recalled); err != nil {
			return nil, err
		}
		r.touched, r.old.Passed = b.touched.Writer(), r.passed
		if shard > 0 && shard <= b.plan.titleShards() {
			r.news = &news{}
		}
	}
	if r.new, err = ledger.Create(w.Aside(ledgerName(shard)), b.mark); err != nil {
		r.old.Close()
		return nil, err
	}
	return r, nil
}

func (r *recall) close() error {
	r.old.Close()
	if r.touched == nil {
		return r.new.Close()
	}
	if err := r.old.Err(); err != nil && r.units {
		r.b.untold.Store(true)
		r.b.Log.Warn("some of the release is made anew", "because", err)
	}
	if r.news != nil {
		r.b.stale.add(r.news.keys())
	}
	return errors.Join(r.err, r.touched.Close(), r.new.Close())
}

// touch notes that the resource with that key may differ from the release before.
func (r *recall) touch(key []byte) {
	if r.touched != nil && r.err == nil && slices.Contains(changelog.Kinds(), fragment.Kind(key[0])) {
		r.err = r.touched.Add(0, key, nil)
	}
}

// passed notes a unit that is not kept.
func (r *recall) passed(e ledger.Entry) {
	notes, err := e.Notes()
	for n := (ledger.Note{}); notes.Next(&n); {
		if n.Kind == noteResource {
			r.touch(n.Key)
		}
	}
	if err == nil && r.news != nil {
		err = r.news.passed(e)
	}
	if r.err == nil {
		r.err = err
	}
}

// begin starts the entry of a unit that is made.
func (r *recall) begin(key []byte, sum uint64) error {
	r.new.Begin(key, sum)
	if r.news == nil {
		return nil
	}
	return r.news.begin(key, r.old)
}

// end completes the entry.
func (r *recall) end() error {
	if r.news != nil {
		r.news.end(r.new.Said())
	}
	return r.new.End()
}

// sumOf returns the sum of what a unit is made of, in buf.
func (r *recall) sumOf() uint64 { return xxh3.Hash(r.buf) }

// start begins what a unit is made of.
func (r *recall) start() { r.buf = r.buf[:0] }

// sum adds a number, such as the sum of a record.
func (r *recall) sum(n uint64) { r.buf = binary.LittleEndian.AppendUint64(r.buf, n) }

// bytes adds bytes.
func (r *recall) bytes(b []byte) {
	r.buf = append(binary.AppendUvarint(r.buf, uint64(len(b))), b...)
}

// A unit is what replay needs of a task.
type unit struct {
	o *output
	e *emitter // nil for units that nothing is told of
	// fits tells whether a unit with the right sum is as this build would make it, by its
	// notes; nil when the sum says all.
	fits func(ledger.Notes) bool
	near *titleNear // of a title; nil for other units
	// aliases returns the aliases of a resource that is kept; named tells whether it is
	// found by its own id.
	aliases func(kind fragment.Kind, e release.Entry, named bool) [][]byte
}

// replay writes a unit as it was, if it was made of the same. done is false when it has
// to be made.
func (u *unit) replay(key []byte, sum uint64) (done bool, err error) {
	r := u.o.recall
	entry, was, known := r.old.At(key)
	if !known || was != sum {
		return false, nil
	}
	notes, err := entry.Notes()
	if err != nil || !r.find(notes) {
		return false, err
	}
	if u.fits != nil && !u.fits(notes) {
		return false, nil
	}
	if u.near != nil {
		if ok, err := u.near.recalled(notes); !ok || err != nil {
			return false, err
		}
	}
	u.o.b.kept.Add(1)
	if u.near != nil && u.near.changed {
		return true, u.amend(notes)
	}
	if err := u.keep(notes, u.keepResource); err != nil {
		return false, err
	}
	return true, r.new.Take(r.old)
}

// keep does again what a unit did. write is called with each of its resources, and its
// aliases.
func (u *unit) keep(notes ledger.Notes, write func(e release.Entry, aliases [][]byte) error) (err error) {
	named, resources := true, u.o.recall.found
	for n := (ledger.Note{}); notes.Next(&n); {
		switch n.Kind {
		case noteTitle, noteKnown:
			continue
		case noteUnnamed:
			named = false
			continue
		case noteResource:
			e := resources[0]
			resources = resources[1:]
			var aliases [][]byte
			if u.aliases != nil {
				aliases = u.aliases(fragment.Kind(n.Key[0]), e, named)
			}
			err = write(e, aliases)
		default:
			err = u.e.again(&n)
		}
		if err != nil {
			return err
		}
		named = true
	}
	return nil
}

func (u *unit) keepResource(e release.Entry, aliases [][]byte) error {
	_, err := u.o.shard.Keep(e, aliases)
	return err
}

// amend keeps a title but for the titles that are like it, which are others now.
func (u *unit) amend(notes ledger.Notes) error {
	r := u.o.recall
	if err := r.new.Amend(r.old); err != nil {
		return err
	}
	u.near.note(r.new, u.near.imdb)
	rest := notes
	for n := (ledger.Note{}); rest.Next(&n); {
		if n.Kind != noteTitle {
			r.new.Note(n.Kind, n.Key, n.Payload)
		}
	}
	err := u.keep(notes, func(e release.Entry, aliases [][]byte) error {
		if kind := fragment.Kind(e.Key()[0]); kind != fragment.KindMovie && kind != fragment.KindTV {
			return u.keepResource(e, aliases)
		}
		r.touch(e.Key())
		return u.near.amend(u.o, e, aliases)
	})
	if err != nil {
		return err
	}
	return r.new.End()
}

// find finds the resources of a unit in the release before; false when one is not there.
func (r *recall) find(notes ledger.Notes) bool {
	r.found = r.found[:0]
	for n := (ledger.Note{}); notes.Next(&n); {
		if n.Kind != noteResource {
			continue
		}
		e, ok := r.lookup(n.Key)
		if !ok {
			return false
		}
		r.found = append(r.found, e)
	}
	return true
}

// lookupBytes is what a lookup may bring into the memory of the process: the system maps
// some pages around the one that is read.
const lookupBytes = 64 << 10

// lookup finds a resource of the previous release by its own key. What lookups read is
// forgotten before it is much of the memory.
func (r *recall) lookup(key []byte) (release.Entry, bool) {
	if r.b.lookups.Add(1)%max(64, r.b.Memory/16/lookupBytes) == 0 {
		r.b.previous.ForgetLookups()
	}
	// Fast path: a shard has the order of the one before, and most of what that had.
	e, ok := r.b.previous.Behind(r.last)
	if !ok || string(e.Key()) != string(key) {
		if e, ok = r.b.previous.Lookup(key); !ok || string(e.Key()) != string(key) {
			return release.Entry{}, false
		}
	}
	r.last = e
	return e, true
}

// again tells again what a note tells of: what finds a resource, or a row.
func (e *emitter) again(n *ledger.Note) error {
	if n.Kind == noteFind {
		e.keep(e.find.Add(xxh3.Hash(n.Key), n.Key, n.Payload))
	} else {
		e.keep(e.rows.AddRow(int(n.Kind-noteRow), n.Key, n.Payload))
	}
	return e.err
}

// kept is what a resource that is made anew may keep of the release before: its segments,
// by the hash of what they say.
type kept struct {
	segments map[release.Hash]release.Piece
}

func (k *kept) clear() { clear(k.segments) }

// load finds the segments of the resource with that key; none unless they are of the encoder
// of this build.
func (k *kept) load(r *recall, key []byte) {
	k.clear()
	if !r.b.keeping {
		return
	}
	e, ok := r.lookup(key)
	if !ok {
		return
	}
	if k.segments == nil {
		k.segments = map[release.Hash]release.Piece{}
	}
	var p release.Piece
	for i := range e.Len() {
		for c := e.Fragment(i).Pieces(); c.Next(&p); {
			if p.Op == release.OpSegment {
				k.segments[p.Segment.Hash] = p
			}
		}
	}
}

// find returns the segment that says raw, if there is one.
func (k *kept) find(raw []byte) (release.PieceSpec, bool) {
	if len(k.segments) == 0 {
		return release.PieceSpec{}, false
	}
	p, ok := k.segments[release.HashOf(raw)]
	if !ok || int(p.Segment.RawLen) != len(raw) || p.Segment.CRC != crc32.ChecksumIEEE(raw) {
		return release.PieceSpec{}, false
	}
	return p.Keep(), true
}

// keepCommon keeps shard 0 of the release before, and returns what it has.
func (b *builder) keepCommon(o *output) error {
	if !b.keeping {
		return nil
	}
	return b.previous.CommonResources(func(e release.Entry) error {
		_, err := o.shard.Keep(e, nil)
		return err
	})
}

// keepFrom returns the release that is kept from, if any.
func (b *builder) keepFrom() *release.Reader {
	if !b.keeping {
		return nil
	}
	return b.previous
}

// keptCommon returns the place of a resource of shard 0 that is kept.
func (b *builder) keptCommon(key []byte) (release.Ref, bool) {
	if !b.keeping {
		return 0, false
	}
	e, ok := b.previous.Lookup(key)
	return e.Ref(), ok
}

// touchedKeys returns what calls fn with the key of each resource that may differ from the
// release before, of the kinds that changes tell of; nil when that is not known.
func (b *builder) touchedKeys() func(ctx context.Context, fn func(key []byte) error) error {
	if !b.keeping || b.untold.Load() {
		return nil
	}
	return func(ctx context.Context, fn func(key []byte) error) error {
		it, err := b.touched.Partition(ctx, 0, b.Memory/8)
		if err != nil {
			return err
		}
		defer it.Close()
		var last []byte
		return it.Each(func(key, _ []byte) error {
			if string(key) == string(last) {
				return nil
			}
			last = append(last[:0], key...)
			return fn(key)
		})
	}
}
