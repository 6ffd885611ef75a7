// Package compare finds what differs between two releases.
package compare

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A Change is what happened to a resource between two releases.
type Change uint8

// The changes.
const (
	Created Change = 1 // only the later release has it
	Changed Change = 2 // both have it, and some of its responses differ
	Deleted Change = 3 // only the earlier release has it
	Merged  Change = 4 // the same, and the later one names what took its place
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

// A Difference is a resource that is not the same in two releases. Its slices belong
// to the releases or are valid until the next one is handed out.
type Difference struct {
	Change Change
	Key    []byte
	Into   []byte // of Merged: the key of what took its place
	// Subs are the sub-requests with a response that differs, ascending; of Changed.
	Subs []fragment.Sub
	// Aliases means that other aliases lead to it; of Changed.
	Aliases bool
}

// A Comparison is what differs between two releases. It is for one goroutine and ends
// with the Readers.
type Comparison struct {
	a, b  *release.Reader
	found [Merged + 1][]release.Ref // by Change: in b those that are created or changed, otherwise in a
	names [][]byte                  // aliases in b that a does not have
	moved map[release.Ref]bool      // resources of b to which other aliases lead
	// same has whether recipes that others lead to are the same, as a cache.
	same map[recipe]bool
	// defaults are the sub-requests, by kind, of which the resources of KindDefault differ.
	defaults map[fragment.Kind][]fragment.Sub
	key      []byte
	subs     []fragment.Sub

	progress    func(done, total int64)
	done, total int64
}

// A recipe is the fragments of a sub-request of a block of b.
type recipe struct {
	at  release.Ref
	sub fragment.Sub
}

// maxCache bounds Comparison.same.
const maxCache = 1 << 20

// Releases finds what differs between the responses of an earlier and a later release. It
// reads directories and indexes alone: responses are equal when their entity tags are, as
// far as those follow from the releases. What references and includes lead to counts as
// part of a response, so a title whose row differs makes every list differ that includes
// it. An include counts as different when any language of what it leads to is, though
// the list may have a text of its own in that language.
//
// Memory: eight bytes for each resource that is not the same, and some 40 MiB; what is mapped is forgotten now and then. The Readers should not be
// those of an edge: their directories are read ahead from here on. Unless nil, progress
// is called now and then. Errors about the content match ErrCorrupt.
func Releases(ctx context.Context, a, b *release.Reader, progress func(done, total int64)) (*Comparison, error) {
	c := &Comparison{a: a, b: b, moved: map[release.Ref]bool{}, same: map[recipe]bool{}, defaults: map[fragment.Kind][]fragment.Sub{}, progress: progress}
	return c, c.run(ctx)
}

// run compares the releases as a whole.
func (c *Comparison) run(ctx context.Context) error {
	for _, r := range []*release.Reader{c.a, c.b} { // which have much the same order
		for _, p := range r.Manifest().Parts {
			part := r.File(p.Name)
			file.ReadAhead(part.Bytes())
			c.total += int64(len(part.Content()))
		}
	}
	err := release.Guard(func() error {
		err := c.compareDefaults()
		if err == nil {
			err = c.walk(ctx, c.a, c.earlier)
		}
		if err == nil {
			err = c.walk(ctx, c.b, c.later)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("compare release %s with %s: %w", c.a.Manifest().ID, c.b.Manifest().ID, err)
	}
	for i := range c.found { // an alias may have come before its resource, or behind it
		slices.Sort(c.found[i])
		c.found[i] = slices.Compact(c.found[i])
	}
	return nil
}

// walk calls fn for each block of r.
func (c *Comparison) walk(ctx context.Context, r *release.Reader, fn func(release.Entry) error) error {
	last := c.done
	for i := range r.Manifest().Parts {
		at := int64(0)
		err := r.EachBlock(i, func(e release.Entry) error {
			_, off := e.Place()
			c.done, at = c.done+off-at, off
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

// walkedBytes is how much of the parts is read until their pages are forgotten.
const walkedBytes = 16 << 20

// isRequested reports whether requests name a resource with that key: the others are
// part of responses, or of none.
func isRequested(key []byte) bool {
	k := fragment.Kind(key[0])
	return k < fragment.KindAlias || k == fragment.KindFind
}

// earlier takes in a block of the earlier release.
func (c *Comparison) earlier(e release.Entry) error {
	if e.IsAlias() {
		return c.alias(e, c.a, c.b)
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

// later takes in a block of the later release.
func (c *Comparison) later(e release.Entry) error {
	if e.IsAlias() {
		return c.alias(e, c.b, c.a)
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

// alias notes an alias of r that leads to another resource in the other release, or nowhere.
func (c *Comparison) alias(e release.Entry, r, other *release.Reader) error {
	to, ok := e.Target()
	if !ok {
		file, off := e.Place()
		return release.Corrupt(file, off, "alias %s leads to %d, where no resource starts", fragment.DescribeKey(e.Key()), e.ID())
	}
	was, ok := other.Block(e.Key())
	if ok && was.IsAlias() {
		at, ok := was.Target()
		if ok && bytes.Equal(at.Key(), to.Key()) {
			return nil
		}
	}
	if r == c.b && !ok {
		c.names = append(c.names, e.Key())
	}
	now, ok := c.b.Resource(to.Key())
	if !ok {
		return nil // it is gone itself
	}
	c.moved[now.Ref()] = true
	if _, ok := c.a.Resource(to.Key()); ok {
		c.found[Changed] = append(c.found[Changed], now.Ref()) // the walk may have passed it
	}
	return nil
}

// compareDefaults finds which defaults differ.
func (c *Comparison) compareDefaults() error {
	for k := fragment.KindMovie; k < fragment.KindAlias; k++ {
		c.key = fragment.AppendShared(c.key[:0], fragment.KindDefault, k, "")
		a, _ := c.a.Resource(c.key)
		b, _ := c.b.Resource(c.key)
		subs, err := c.compare(a, b, false)
		if err != nil {
			return err
		}
		c.defaults[k] = slices.Clone(subs)
	}
	return nil
}

// compare returns the sub-requests of which a response differs between a and b, the same
// resource of both releases, ascending; with any, the first that is found. The slice is
// valid until the next call.
func (c *Comparison) compare(a, b release.Entry, anyOf bool) ([]fragment.Sub, error) {
	c.subs = c.subs[:0]
	hidden := b.Len() > 0 && isRequested(b.Key()) // what only others lead to does not count by itself
	standIns := both{c.standIn(c.a, b), c.standIn(c.b, b)}
	for i, k := 0, 0; i < a.Len() || k < b.Len(); {
		s := lowestSub(a, i, b, k)
		of := both{a, b}
		ends := [2]int{subEnd(a, i, s), subEnd(b, k, s)}
		same := hidden && s.Internal()
		if !same {
			if ends[0] == i {
				of.a = standIns.a
			}
			if ends[1] == k {
				of.b = standIns.b
			}
			var err error
			if same, err = c.sameFragments(of, s, a.ID() == b.ID(), 0); err != nil {
				return nil, err
			}
		}
		if !same {
			c.subs = append(c.subs, s)
			if anyOf {
				return c.subs, nil
			}
		}
		i, k = ends[0], ends[1]
	}
	if len(b.Key()) > 0 {
		c.addDefaults(fragment.Kind(b.Key()[0]))
	}
	return c.subs, nil
}

// both is a resource in the earlier and in the later release.
type both struct{ a, b release.Entry }

// addDefaults adds the sub-requests whose defaults differ: which of the resources are
// answered by them is for the edge to say.
func (c *Comparison) addDefaults(k fragment.Kind) {
	if more := c.defaults[k]; len(more) > 0 {
		c.subs = append(c.subs, more...)
		slices.Sort(c.subs)
		c.subs = slices.Compact(c.subs)
	}
}

// standIn returns the resource of r that stands in for what e has no fragment of.
func (c *Comparison) standIn(r *release.Reader, e release.Entry) release.Entry {
	key := e.Key()
	if len(key) == 0 || fragment.Kind(key[0]) >= fragment.KindAlias {
		return release.Entry{}
	}
	var buf [fragment.MaxKeyLen]byte
	d, _ := r.Lookup(fragment.AppendShared(buf[:0], fragment.KindDefault, fragment.Kind(key[0]), ""))
	return d
}

// lowestSub returns the lower sub-request of fragment i of a and fragment k of b, one
// of which is there.
func lowestSub(a release.Entry, i int, b release.Entry, k int) fragment.Sub {
	switch {
	case i >= a.Len():
		return b.Address(k).Sub
	case k >= b.Len():
		return a.Address(i).Sub
	}
	return min(a.Address(i).Sub, b.Address(k).Sub)
}

// subEnd returns where, from fragment i on, the fragments of s end.
func subEnd(e release.Entry, i int, s fragment.Sub) int {
	for i < e.Len() && e.Address(i).Sub == s {
		i++
	}
	return i
}

// sameFragments reports whether two forms of a resource have the same fragments of s. sameID tells
// whether marks of ids stand for the same.
func (c *Comparison) sameFragments(of both, s fragment.Sub, sameID bool, level int) (bool, error) {
	if level > release.MaxDepth {
		return false, release.Corrupt(release.ManifestName, -1, "%s leads through more than %d references and includes", release.Describe(of.b.Key(), fragment.Address{Sub: s}), release.MaxDepth)
	}
	i, ends := of.a.Subs(s)
	k, also := of.b.Subs(s)
	if ends-i != also-k {
		return false, nil
	}
	for ; i < ends; i, k = i+1, k+1 {
		if of.a.Address(i) != of.b.Address(k) {
			return false, nil
		}
		same, err := c.sameFragment(of, of.a.Fragment(i), of.b.Fragment(k), sameID, level)
		if !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// sameFragment compares two fragments piece by piece.
func (c *Comparison) sameFragment(of both, a, b release.Fragment, sameID bool, level int) (bool, error) {
	var x, y release.Piece
	was, is := a.Pieces(), b.Pieces()
	for {
		more, also := was.Next(&x), is.Next(&y)
		if was.Broken || is.Broken {
			file, off := of.b.Place()
			return false, release.Corrupt(file, off, "a fragment has a piece that breaks the format, here or in the other release")
		}
		if more != also || more && !x.Same(&y) {
			return false, nil
		}
		if !more {
			return true, nil
		}
		same, err := c.sameBehind(&y, sameID, level)
		if !same || err != nil {
			return false, err
		}
	}
}

// sameBehind compares what a piece stands for in both releases, which is the same by itself.
func (c *Comparison) sameBehind(y *release.Piece, sameID bool, level int) (bool, error) {
	switch y.Op {
	case release.OpIDMark, release.OpIDEnd:
		return sameID, nil
	case release.OpReference:
		return c.sameRecipe(y.Shared, y.Sub, level)
	case release.OpInclude:
		var key [fragment.MaxKeyLen]byte
		return c.sameRecipe(y.Include.AppendKey(key[:0]), y.Include.Stored(), level)
	default:
		return true, nil
	}
}

// sameRecipe reports whether what a reference or an include leads to is the same in both
// releases.
func (c *Comparison) sameRecipe(key []byte, s fragment.Sub, level int) (bool, error) {
	b, ok := c.b.Block(key)
	if !ok {
		return false, release.Corrupt(release.ManifestName, -1, "%s, which is included, is not there", fragment.DescribeKey(key))
	}
	as := recipe{b.Ref(), s}
	if same, known := c.same[as]; known {
		return same, nil
	}
	if b.IsAlias() {
		b, _ = b.Target()
	}
	a, _ := c.a.Lookup(key)
	if !a.Has(s) {
		a = c.standIn(c.a, b)
	}
	if !b.Has(s) {
		b = c.standIn(c.b, b)
	}
	same, err := c.sameFragments(both{a, b}, s, true /* what is included has no id */, level+1)
	if err != nil {
		return false, err
	}
	if len(c.same) >= maxCache {
		clear(c.same)
	}
	c.same[as] = same
	return same, nil
}

// Count returns how many resources of each kind underwent a change.
func (c *Comparison) Count(change Change) map[fragment.Kind]int64 {
	n := map[fragment.Kind]int64{}
	_ = c.Keys(context.Background(), change, func(key []byte) error { // has no error to pass on
		n[fragment.Kind(key[0])]++
		return nil
	})
	return n
}

// Has reports whether the resource with that key underwent any change.
func (c *Comparison) Has(key []byte) bool {
	in := func(r *release.Reader, changes ...Change) bool {
		e, ok := r.Resource(key)
		return ok && slices.ContainsFunc(changes, func(change Change) bool {
			_, found := slices.BinarySearch(c.found[change], e.Ref())
			return found
		})
	}
	return in(c.b, Created, Changed) || in(c.a, Deleted, Merged)
}

// side returns the release that has the resources of a change.
func (c *Comparison) side(change Change) *release.Reader {
	if change == Created || change == Changed {
		return c.b
	}
	return c.a
}

// Each calls fn for each resource that underwent a change, in the order of the
// parts and blocks of the release, until fn returns an error, which it passes on.
func (c *Comparison) Each(ctx context.Context, change Change, fn func(Difference) error) error {
	for _, ref := range c.found[change] {
		e, _ := c.side(change).At(ref)
		d := Difference{Change: change, Key: e.Key()}
		err := ctx.Err()
		switch change {
		case Changed:
			old, _ := c.a.Resource(e.Key())
			d.Aliases = c.moved[ref]
			d.Subs, err = c.compare(old, e, false)
		case Merged:
			d.Into, err = c.into(e.Key())
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

// keysMapped is how many keys are read of the parts until those are forgotten.
const keysMapped = 512

// Keys calls fn with the key of each resource that underwent a change, as Each does,
// without finding out what of it differs.
func (c *Comparison) Keys(ctx context.Context, change Change, fn func(key []byte) error) error {
	r := c.side(change)
	for i, ref := range c.found[change] {
		if i%keysMapped == keysMapped-1 {
			r.ForgetLookups()
		}
		e, _ := r.At(ref)
		err := ctx.Err()
		if err == nil {
			err = fn(e.Key())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxMerges bounds how many merges in a row are followed.
const maxMerges = 100

// into returns the key of what took the place of a resource in the end: where that was
// merged too, what took its place.
func (c *Comparison) into(key []byte) ([]byte, error) {
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

// NewAliases calls fn with the key of each alias that only the later release has: of
// what was not found by it before.
func (c *Comparison) NewAliases(fn func(key []byte) error) error {
	for _, key := range c.names {
		if err := fn(key); err != nil {
			return err
		}
	}
	return nil
}

// Same reports whether two releases have the same parts, indexes and packs, and the same sections of
// tables. Parameters, sources and parents of the manifests do not count, nor do the offsets of
// sections.
func Same(a, b *release.Reader, ignore func(table, section string) bool) bool {
	m, n := a.Manifest(), b.Manifest()
	return slices.Equal(m.Parts, n.Parts) && slices.Equal(m.Index, n.Index) && slices.Equal(m.Packs, n.Packs) && SameSections(a, b, ignore)
}

// SameSections reports whether two releases have the same sections of tables, but for those that
// ignore accepts; for a whole table section is empty.
func SameSections(a, b *release.Reader, ignore func(table, section string) bool) bool {
	return maps.EqualFunc(sectionsOf(a, ignore), sectionsOf(b, ignore), bytes.Equal)
}

// sectionsOf returns the bytes of sections by the names of table and section; a table itself counts
// as an empty section.
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
