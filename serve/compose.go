package serve

import (
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/klauspost/compress/flate"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/serve/route"
	"reelsplice/serve/splice"
	"reelsplice/serve/variant"
)

// maxReferences bounds how deep fragments refer to fragments. The format lets them
// refer backward only; genres are one level.
const maxReferences = 4

// A composer turns a routed request into an answer. It is reused and not safe for
// concurrent use.
type composer struct {
	answer splice.Answer
	id     uint64 // of the resource that answers
	key    [fragment.MaxKeyLen]byte
	number [len(`"page":18446744073709551615,`)]byte
	raw    []byte // a segment before and after filtering
	thin   []byte
	packed []byte // filtered segments, until Reset
	fast   *flate.Writer
}

// reset lets go of the release.
func (c *composer) reset() {
	c.answer.Reset()
	c.packed = c.packed[:0]
}

// compose fills c.answer with what rel has for q. The error is a *status.Error for
// refusals, or matches release.ErrCorrupt.
func (c *composer) compose(rel *release.Reader, q *route.Request) error {
	e, ok := c.lookup(rel, q)
	if !ok {
		return &errNotFound
	}
	p := part{rel: rel, q: q, defaults: c.defaults(rel, q.Kind)}
	c.id = e.ID()
	if q.Sub != fragment.SubDetails {
		splice.Literal(&c.answer, "{")
		p.standalone = true
		return c.sub(&p, e, q.Sub)
	}
	choice, ok := variant.Pick(e, fragment.SubDetails, q)
	if !ok {
		return &errNotFound
	}
	if err := c.fragment(&p, choice, 0); err != nil {
		return err
	}
	for i := range q.Appends() {
		if err := c.appended(&p, e, &q.Appends()[i]); err != nil {
			return err
		}
	}
	splice.Literal(&c.answer, "}")
	return nil
}

// lookup finds the resource that the path names.
func (c *composer) lookup(rel *release.Reader, q *route.Request) (release.Entry, bool) {
	key := c.key[:0]
	switch {
	case q.Kind == fragment.KindMovie && q.Name != nil:
		if len(q.Name) > fragment.MaxKeyLen-2 {
			return release.Entry{}, false
		}
		key = fragment.AppendAlias(key, q.Kind, q.Name)
	case q.Kind == fragment.KindMovie:
		key = fragment.AppendID(key, q.Kind, q.ID)
	default:
		return release.Entry{}, false
	}
	return rel.Lookup(key)
}

// defaults returns the resource that answers what e's record says nothing of.
func (c *composer) defaults(rel *release.Reader, k fragment.Kind) release.Entry {
	e, _ := rel.Lookup(fragment.AppendShared(c.key[:0], fragment.KindDefault, k, ""))
	return e
}

// part is what all parts of one answer have in common.
type part struct {
	rel        *release.Reader
	q          *route.Request
	defaults   release.Entry
	standalone bool // the answer is one sub-request, with its id
}

// appended adds one appended object. Sub-requests that need a session are left out.
func (c *composer) appended(p *part, e release.Entry, a *route.Append) error {
	s := variant.Canonical(a.Sub)
	choice, ok := c.pick(p, e, s)
	if !ok {
		return nil
	}
	splice.Literal(&c.answer, `,"`)
	splice.Literal(&c.answer, a.Property)
	splice.Literal(&c.answer, `":{`)
	return c.fragment(p, choice, 0)
}

func (c *composer) sub(p *part, e release.Entry, s fragment.Sub) error {
	choice, ok := c.pick(p, e, variant.Canonical(s))
	if !ok {
		return &errNotFound
	}
	return c.fragment(p, choice, 0)
}

// pick returns what answers a sub-request of e, or what is served in its place.
func (c *composer) pick(p *part, e release.Entry, s fragment.Sub) (variant.Choice, bool) {
	if choice, ok := variant.Pick(e, s, p.q); ok {
		return choice, true
	}
	f, ok := p.defaults.Find(fragment.Address{Sub: s})
	return variant.Choice{Fragment: f, Page: p.q.Page}, ok
}

// fragment runs a fragment's program.
func (c *composer) fragment(p *part, choice variant.Choice, depth int) error {
	for i := range choice.Fragment.Len() {
		piece, ok := choice.Fragment.Piece(i)
		if !ok {
			return fmt.Errorf("%w: piece %d of a fragment", release.ErrCorrupt, i)
		}
		switch piece.Op {
		case release.OpSegment:
			if err := c.segment(&piece.Segment, &choice.Filter); err != nil {
				return err
			}
		case release.OpIDMark:
			if p.standalone {
				c.mark(`"id":`, c.id)
			}
		case release.OpPageMark:
			c.mark(`"page":`, uint64(choice.Page))
		case release.OpReference:
			if err := c.reference(p, piece, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *composer) mark(name string, n uint64) {
	b := append(c.number[:0], name...)
	b = strconv.AppendUint(b, n, 10)
	splice.Literal(&c.answer, append(b, ','))
}

// reference adds a fragment that several resources share, in the request's language.
func (c *composer) reference(p *part, piece release.Piece, depth int) error {
	e, ok := p.rel.EntryAt(piece.Ref)
	if !ok || depth == maxReferences {
		return fmt.Errorf("%w: reference leads nowhere", release.ErrCorrupt)
	}
	chain := variant.NameChain(&p.q.Params)
	for _, v := range chain.Variants() {
		if f, ok := e.Find(fragment.Address{Sub: piece.Sub, Variant: v}); ok {
			return c.fragment(p, variant.Choice{Fragment: f}, depth+1)
		}
	}
	return fmt.Errorf("%w: reference to %s leads nowhere", release.ErrCorrupt, piece.Sub)
}

// segment adds a stored segment. Fast path: as it is. Slow path: inflated, thinned
// out and deflated anew.
func (c *composer) segment(s *release.Segment, f *variant.Filter) error {
	if f.IsZero() {
		c.answer.Segment(*s)
		return nil
	}
	var err error
	if c.raw, err = c.answer.AppendInflated(c.raw[:0], s); err != nil {
		return err
	}
	if c.thin, err = f.Append(c.thin[:0], c.raw); err != nil {
		return fmt.Errorf("%w: filter: %w", release.ErrCorrupt, err)
	}
	return c.deflate(c.thin)
}

// packer appends to composer.packed; what was handed out stays valid while it grows.
type packer struct{ c *composer }

func (p packer) Write(b []byte) (int, error) {
	p.c.packed = append(p.c.packed, b...)
	return len(b), nil
}

// deflate adds raw as a segment made on the spot.
func (c *composer) deflate(raw []byte) error {
	start := len(c.packed)
	if c.fast == nil {
		w, err := flate.NewWriter(packer{c}, flate.BestSpeed)
		if err != nil {
			return err
		}
		c.fast = w
	} else {
		c.fast.Reset(packer{c})
	}
	if _, err := c.fast.Write(raw); err != nil {
		return err
	}
	if err := c.fast.Flush(); err != nil {
		return err
	}
	c.answer.Segment(release.Segment{
		Stored: c.packed[start:len(c.packed):len(c.packed)],
		RawLen: uint32(len(raw)),
		CRC:    crc32.ChecksumIEEE(raw),
		Op:     release.CRCOp(uint64(len(raw))),
		Hash:   release.HashOf(raw),
	})
	return nil
}
