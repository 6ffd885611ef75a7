package release

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"reelsplice/schemas/fragment"
)

// Removed tells whether the release says that the resource with that key was deleted
// or merged, and the key of what it was merged into: nil when it was deleted. The error
// matches ErrCorrupt.
func (r *Reader) Removed(key []byte) (into []byte, removed bool, err error) {
	return r.removedBy(new(inflater), key)
}

// removedBy is Removed with an inflater that can be used again.
func (r *Reader) removedBy(z *inflater, key []byte) (into []byte, removed bool, err error) {
	if len(key) >= fragment.MaxKeyLen {
		return nil, false, nil
	}
	var buf [fragment.MaxKeyLen]byte
	e, ok := r.find(fragment.AppendRemoved(buf[:0], key))
	if !ok {
		return nil, false, nil
	}
	into, what := mergedInto(z, e)
	if what != "" {
		return nil, false, corrupt(e.p.name, int64(e.off), "%s: %s", fragment.DescribeKey(e.Key()), what)
	}
	return into, true, nil
}

// mergedInto returns the key of what the resource that e says is removed was merged
// into, nil when it was deleted; or what of e breaks the format.
func mergedInto(z *inflater, e Entry) (into []byte, what string) {
	key := e.Key()[1:]
	if e.isAlias() || len(key) == 0 || fragment.Kind(key[0]) >= fragment.KindAlias {
		return nil, "it does not name a resource that can be removed"
	}
	if e.Len() == 0 {
		return nil, ""
	}
	f, ok := e.Find(fragment.Address{Sub: fragment.SubMergedInto})
	if !ok || e.Len() != 1 {
		return nil, "it has to have one fragment at most, merged_into"
	}
	if into, what = z.text(f, fragment.MaxKeyLen); what != "" {
		return nil, "merged_into: " + what
	}
	if len(into) != len(key) || into[0] != key[0] || bytes.Equal(into, key) {
		return nil, fmt.Sprintf("merged into %s, want another resource of the same kind", fragment.DescribeKey(into))
	}
	return into, ""
}

// text returns a copy of what a fragment of one segment or literal says, or what is wrong
// with it.
func (z *inflater) text(f Fragment, limit uint32) (text []byte, what string) {
	var p, more Piece
	c := f.Pieces()
	switch {
	case !c.Next(&p) || c.Next(&more) || c.Broken():
	case p.Op == OpLiteral:
		return bytes.Clone(p.Text()), ""
	case p.Op == OpSegment:
		text, err := z.inflate(&p.Segment, limit)
		if err != nil {
			return nil, err.Error()
		}
		return text, ""
	}
	return nil, "it is not one segment or literal"
}

// inflate returns a copy of the raw bytes of g, which has at most limit of them.
func (z *inflater) inflate(g *Segment, limit uint32) ([]byte, error) {
	if g.RawLen > limit {
		return nil, fmt.Errorf("%d raw bytes, at most %d are possible", g.RawLen, limit)
	}
	g.Check()
	if err := z.reset(g.Stored); err != nil {
		return nil, err
	}
	raw := make([]byte, g.RawLen)
	if _, err := io.ReadFull(z.z, raw); err != nil {
		return nil, fmt.Errorf("inflating: %w", err)
	}
	if n, err := z.z.Read(z.out[:1]); n != 0 || !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("it inflates to more than %d bytes", g.RawLen)
	}
	return raw, nil
}

// removed checks an entry that says that a resource is removed.
func (v *verifier) removed(e Entry) {
	_, what := mergedInto(&v.z, e)
	if what == "" {
		if _, ok := v.r.find(e.Key()[1:]); ok {
			what = "the resource is there"
		}
	}
	if what != "" {
		v.problem(e.p.name, int64(e.off), "%s: %s", fragment.DescribeKey(e.Key()), what)
	}
}
