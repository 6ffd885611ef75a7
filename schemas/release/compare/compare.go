// Package compare finds the differences between two releases.
package compare

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A Change is the difference in one resource between two releases.
type Change uint8

// The changes.
const (
	Created Change = 1 // only the later release has it
	Changed Change = 2 // in both, with different responses
	Deleted Change = 3 // only the earlier release has it
	Merged  Change = 4 // only the earlier release has it, and the later one names its replacement
)

var changeNames = [...]string{Created: "created", Changed: "changed", Deleted: "deleted", Merged: "merged"}

// Changes returns all changes, in order.
func Changes() []Change { return []Change{Created, Changed, Deleted, Merged} }

// String returns the change as a word.
func (c Change) String() string {
	if c < Created || c > Merged {
		return fmt.Sprintf("change-%d", uint8(c))
	}
	return changeNames[c]
}

// A Difference is a resource that differs between two releases. Its slices belong to the releases or are valid until
// the next Difference.
type Difference struct {
	Change Change
	Key    []byte
	Into   []byte // Merged: the key of its replacement
	// Subs lists, for Changed, the sub-requests with different responses, ascending.
	Subs []fragment.Sub
	// Aliases reports, for Changed, that the aliases of the resource differ.
	Aliases bool
}

// A Comparison holds the differences between two releases. It is for one goroutine, and valid while both Readers are
// open.
type Comparison struct {
	a, b  side
	found [Merged + 1][]release.Ref // by Change; places in b for Created and Changed, else in a
	names [][]byte                  // aliases that only b has
	moved map[release.Ref]bool      // resources of b with different aliases
	// defaults lists, by kind, the sub-requests that differ in KindDefault.
	defaults map[fragment.Kind][]fragment.Sub
	key      []byte
	subs     []fragment.Sub

	progress    func(done, total int64)
	done, total int64
}

// A side is one of the two releases.
type side struct {
	*release.Reader
	targetHashes map[recipe]uint64            // cache of hashes of the targets of references and includes
	bufs         [release.MaxDepth + 1][]byte // buffers of hash, by level
}

// A recipe is the fragments of a sub-request of a block.
type recipe struct {
	ref release.Ref
	sub fragment.Sub
}

// maxCache bounds side.targetHashes.
var maxCache = 1 << 19 // tests lower it

// Releases finds the resources whose responses differ between an earlier and a later release. It reads only
// directories and indexes: responses are equal if their entity tags are, as far as the releases determine them. The
// targets of references and includes are part of a response: if a title's row differs, so does every list that
// includes it. An include counts as different if any language of its target is, even if the list has its own text in
// that language.
//
// Memory: eight bytes per differing resource, and about 50 MiB; mapped pages are dropped from time to time. Do not
// pass the Readers of an edge, because their directories are read ahead. progress, if not nil, is called from time to
// time. Errors about the content match ErrCorrupt.
func Releases(ctx context.Context, a, b *release.Reader, progress func(done, total int64)) (*Comparison, error) {
	c := &Comparison{
		a: side{Reader: a, targetHashes: map[recipe]uint64{}}, b: side{Reader: b, targetHashes: map[recipe]uint64{}},
		moved: map[release.Ref]bool{}, defaults: map[fragment.Kind][]fragment.Sub{}, progress: progress,
	}
	for _, r := range []*release.Reader{a, b} { // both have a similar order
		for _, p := range r.Manifest().Parts {
			part := r.File(p.Name)
			file.ReadAhead(part.Bytes())
			c.total += int64(len(part.Content()))
		}
	}
	err := release.Guard(func() error {
		for k := fragment.KindMovie; k < fragment.KindAlias; k++ {
			c.key = fragment.AppendShared(c.key[:0], fragment.KindDefault, k, "")
			before, _ := c.a.Resource(c.key)
			after, _ := c.b.Resource(c.key)
			subs, err := c.compare(before, after, false)
			if err != nil {
				return err
			}
			c.defaults[k] = slices.Clone(subs)
		}
		err := c.walk(ctx, c.a.Reader, c.earlier)
		if err == nil {
			err = c.walk(ctx, c.b.Reader, c.later)
		}
		return err
	})
	if err != nil {
		return c, fmt.Errorf("compare release %s with %s: %w", a.Manifest().ID, b.Manifest().ID, err)
	}
	for i := range c.found { // an alias may precede or follow its resource
		slices.Sort(c.found[i])
		c.found[i] = slices.Compact(c.found[i])
	}
	return c, nil
}

// walk calls fn for each block of r.
func (c *Comparison) walk(ctx context.Context, r *release.Reader, fn func(release.Entry) error) error {
	last := c.done
	for i := range r.Manifest().Parts {
		previous := int64(0) // offset of the block before
		err := r.EachBlock(i, func(e release.Entry) error {
			_, off := e.Place()
			c.done, previous = c.done+off-previous, off
			if c.done-last >= walkedBytes {
				last = c.done
				c.a.ForgetLookups()
				c.b.ForgetLookups()
				if c.progress != nil {
					c.progress(c.done, c.total)
				}
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fn(e)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// walkedBytes is the number of bytes read before pages are dropped.
var walkedBytes int64 = 16 << 20 // tests lower it

// isRequested reports whether requests can name the resource with that key. Others occur only inside responses, or
// not at all.
func isRequested(key []byte) bool {
	k := fragment.Kind(key[0])
	return k < fragment.KindAlias || k == fragment.KindFind
}

// earlier records a block of the earlier release.
func (c *Comparison) earlier(e release.Entry) error {
	if e.IsAlias() {
		return c.alias(e, c.a.Reader, c.b.Reader)
	}
	if _, ok := c.b.Resource(e.Key()); ok || !isRequested(e.Key()) {
		return nil
	}
	into, _, err := c.b.Removed(e.Key())
	change := Deleted
	if into != nil {
		change = Merged
	}
	c.found[change] = append(c.found[change], e.Ref())
	return err
}

// later records a block of the later release.
func (c *Comparison) later(e release.Entry) error {
	if e.IsAlias() {
		return c.alias(e, c.b.Reader, c.a.Reader)
	}
	if !isRequested(e.Key()) {
		return nil
	}
	old, ok := c.a.Resource(e.Key())
	if !ok {
		c.found[Created] = append(c.found[Created], e.Ref())
		return nil
	}
	changed := c.moved[e.Ref()]
	if !changed {
		subs, err := c.compare(old, e, true /* enough to know that any differs */)
		if err != nil {
			return err
		}
		changed = len(subs) > 0
	}
	if changed {
		c.found[Changed] = append(c.found[Changed], e.Ref())
	}
	return nil
}

// alias records an alias of r that leads elsewhere, or nowhere, in the other release.
func (c *Comparison) alias(e release.Entry, r, other *release.Reader) error {
	target, ok := e.Target()
	if !ok {
		file, off := e.Place()
		return release.Corrupt(file, off, "alias %s leads to %d, where no resource starts", fragment.DescribeKey(e.Key()), e.ID())
	}
	twin, ok := other.Block(e.Key())
	if ok && twin.IsAlias() {
		if otherTarget, ok := twin.Target(); ok && bytes.Equal(otherTarget.Key(), target.Key()) {
			return nil
		}
	}
	if r == c.b.Reader && !ok {
		c.names = append(c.names, e.Key())
	}
	resource, ok := c.b.Resource(target.Key())
	if !ok {
		return nil // it is gone, too
	}
	c.moved[resource.Ref()] = true
	if _, ok := c.a.Resource(target.Key()); ok {
		c.found[Changed] = append(c.found[Changed], resource.Ref()) // the walk may already have passed it
	}
	return nil
}

// compare returns the sub-requests with different responses between a and b, the same resource of both releases,
// ascending. With anyOf it stops at the first. The slice is valid until the next call.
func (c *Comparison) compare(a, b release.Entry, anyOf bool) ([]fragment.Sub, error) {
	c.subs = c.subs[:0]
	for _, e := range []release.Entry{a, b} {
		for i := range e.Len() {
			if s := e.Address(i).Sub; len(c.subs) == 0 || c.subs[len(c.subs)-1] != s {
				c.subs = append(c.subs, s)
			}
		}
	}
	slices.Sort(c.subs)
	all, key := slices.Compact(c.subs), b.Key()
	hidden := b.Len() > 0 && isRequested(key) // included resources do not count by themselves
	c.subs = c.subs[:0]                       // the differing ones of all
	for _, s := range all {
		if hidden && s.Internal() {
			continue
		}
		before, err := c.a.responseHash(a, key, s)
		if err != nil {
			return nil, err
		}
		after, err := c.b.responseHash(b, key, s)
		if err != nil {
			return nil, err
		}
		if before == after {
			continue
		}
		if c.subs = append(c.subs, s); anyOf {
			return c.subs, nil
		}
	}
	if len(key) > 0 { // only the edge decides whether a resource uses defaults
		c.subs = append(c.subs, c.defaults[fragment.Kind(key[0])]...)
		slices.Sort(c.subs)
		c.subs = slices.Compact(c.subs)
	}
	return c.subs, nil
}

// responseHash returns a hash of the responses to a sub-request of e, the resource with that key; e is the zero Entry
// if it is absent.
func (s *side) responseHash(e release.Entry, key []byte, sub fragment.Sub) (uint64, error) {
	id := e.ID()
	if !e.Has(sub) {
		e = s.defaultsOf(key)
	}
	return s.hash(e, sub, id, 0)
}

// defaultsOf returns the resource with the default fragments for the resource with that key.
func (s *side) defaultsOf(key []byte) release.Entry {
	if len(key) == 0 || fragment.Kind(key[0]) >= fragment.KindAlias {
		return release.Entry{}
	}
	var buf [fragment.MaxKeyLen]byte
	d, _ := s.Lookup(fragment.AppendShared(buf[:0], fragment.KindDefault, fragment.Kind(key[0]), ""))
	return d
}

// hash returns a hash of the fragments of a sub-request of e and of their targets. Marks count as id.
func (s *side) hash(e release.Entry, sub fragment.Sub, id uint64, level int) (uint64, error) {
	if level > release.MaxDepth {
		return 0, release.Corrupt(release.ManifestName, -1, "%s leads through more than %d references and includes", release.Describe(e.Key(), fragment.Address{Sub: sub}), release.MaxDepth)
	}
	b := s.bufs[level][:0]
	var p release.Piece
	for i, to := e.Subs(sub); i < to; i++ {
		b = binary.LittleEndian.AppendUint64(b, e.Address(i).Uint64())
		c := e.Fragment(i).Pieces()
		for c.Next(&p) {
			b = p.AppendContent(b)
			part, err := uint64(0), error(nil)
			switch p.Op {
			case release.OpIDMark, release.OpIDEnd:
				part = id
			case release.OpReference:
				part, err = s.targetHash(p.Shared, p.Sub, level+1)
			case release.OpInclude:
				var key [fragment.MaxKeyLen]byte
				part, err = s.targetHash(p.Include.AppendKey(key[:0]), p.Include.Stored(), level+1)
			}
			if err != nil {
				return 0, err
			}
			b = binary.LittleEndian.AppendUint64(b, part)
		}
		if c.Broken {
			file, off := e.Place()
			return 0, release.Corrupt(file, off, "a fragment has a piece that breaks the format")
		}
	}
	s.bufs[level] = b
	return xxh3.Hash(b), nil
}

// targetHash returns the hash of the target of a reference or an include, which has no ID.
func (s *side) targetHash(key []byte, sub fragment.Sub, level int) (uint64, error) {
	e, ok := s.Lookup(key)
	if !ok {
		return 0, release.Corrupt(release.ManifestName, -1, "%s, which is included, is not there", fragment.DescribeKey(key))
	}
	r := recipe{e.Ref(), sub}
	if hash, known := s.targetHashes[r]; known {
		return hash, nil
	}
	if !e.Has(sub) {
		e = s.defaultsOf(key)
	}
	hash, err := s.hash(e, sub, 0, level)
	if err != nil {
		return 0, err
	}
	if len(s.targetHashes) >= maxCache {
		clear(s.targetHashes)
	}
	s.targetHashes[r] = hash
	return hash, nil
}

// Count returns the number of resources of each kind with that change.
func (c *Comparison) Count(change Change) map[fragment.Kind]int64 {
	n := map[fragment.Kind]int64{}
	r := c.reader(change)
	for i, ref := range c.found[change] {
		if i%keysMapped == keysMapped-1 {
			r.ForgetLookups()
		}
		e, _ := r.At(ref)
		n[fragment.Kind(e.Key()[0])]++
	}
	return n
}

// keysMapped is the number of keys read before pages are dropped.
var keysMapped = 512 // tests lower it

// Has reports whether the resource with that key has any change.
func (c *Comparison) Has(key []byte) bool {
	listed := func(r *release.Reader, changes ...Change) bool {
		e, ok := r.Resource(key)
		return ok && slices.ContainsFunc(changes, func(change Change) bool {
			_, found := slices.BinarySearch(c.found[change], e.Ref())
			return found
		})
	}
	return listed(c.b.Reader, Created, Changed) || listed(c.a.Reader, Deleted, Merged)
}

// reader returns the release that contains the resources of a change.
func (c *Comparison) reader(change Change) *release.Reader {
	if change == Created || change == Changed {
		return c.b.Reader
	}
	return c.a.Reader
}

// Each calls fn for each resource with that change, in the order of the release's parts and blocks. It stops at and
// returns the first error of fn.
func (c *Comparison) Each(ctx context.Context, change Change, fn func(Difference) error) error {
	for _, ref := range c.found[change] {
		e, _ := c.reader(change).At(ref)
		d := Difference{Change: change, Key: e.Key()}
		err := ctx.Err()
		switch change {
		case Changed:
			old, _ := c.a.Resource(e.Key())
			d.Aliases = c.moved[ref]
			d.Subs, err = c.compare(old, e, false)
		case Merged:
			d.Into, err = c.replacement(e.Key())
		}
		if err == nil {
			err = fn(d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxMerges is the largest number of consecutive merges to follow.
const maxMerges = 100

// replacement returns the final replacement of a resource: it follows consecutive merges.
func (c *Comparison) replacement(key []byte) ([]byte, error) {
	into := key
	for range maxMerges {
		next, _, err := c.b.Removed(into)
		if err != nil {
			return nil, err
		}
		if next == nil || bytes.Equal(next, key) {
			break
		}
		into = next
	}
	return into, nil
}

// NewAliases calls fn with the key of each alias that only the later release has.
func (c *Comparison) NewAliases(fn func(key []byte) error) error {
	for _, key := range c.names {
		if err := fn(key); err != nil {
			return err
		}
	}
	return nil
}

// Same reports whether two releases have the same parts, indexes, packs and table sections. Parameters, sources and
// parents of the manifests do not count, nor do the offsets of sections.
func Same(a, b *release.Reader, ignore func(table, section string) bool) bool {
	m, n := a.Manifest(), b.Manifest()
	return slices.Equal(m.Parts, n.Parts) && slices.Equal(m.Index, n.Index) && slices.Equal(m.Packs, n.Packs) && SameSections(a, b, ignore)
}

// SameSections reports whether two releases have the same table sections, except for ignored ones. For a whole table,
// ignore gets an empty section.
func SameSections(a, b *release.Reader, ignore func(table, section string) bool) bool {
	return maps.EqualFunc(sectionsOf(a, ignore), sectionsOf(b, ignore), bytes.Equal)
}

// sectionsOf returns the bytes of sections by table and section. A table itself counts as an empty section.
func sectionsOf(r *release.Reader, ignore func(table, section string) bool) map[[2]string][]byte {
	all := map[[2]string][]byte{}
	for _, f := range r.Manifest().Tables {
		name, _ := release.TableName(f.Name)
		t, _ := r.Table(name)
		if ignore(name, "") {
			continue
		}
		all[[2]string{name}] = nil
		for _, section := range t.Sections() {
			if !ignore(name, section) {
				all[[2]string{name, section}] = t.Unchecked(section)
			}
		}
	}
	return all
}
