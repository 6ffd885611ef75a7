package edge

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strconv"
	"sync"
	"time"

	"github.com/klauspost/compress/flate"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/variant"
)

// A composer joins the fragments of a release into a body. It is reused and not safe for
// concurrent use.
type composer struct {
	rel        *release.Reader
	q          *route.Request
	now        func() time.Time
	standalone bool // the response is one sub-request, with its ID
	prefetch   bool // the release is not in memory: see Options.FromDisk

	answer   splice.Answer
	class    Class  // of all that was composed so far
	id       uint64 // of the resource that is served
	key      [fragment.MaxKeyLen]byte
	defaults [fragment.KindEpisodeGroup + 1]defaults // by kind, as far as they were asked for
	scratch  scratch
	lease    *lease            // of the memory that is held; nil for any amount
	account  *accounts.Account // whose account_states are appended; nil for nobody's
	side     *composer         // of parts that are changed before they are added; see aside
	trace    *trace            // of where the pieces come from; nil where nobody asks
	work     int               // bytes of JSON that chains of languages read so far
	names    titleNames        // what translated was asked for last
}

// A scratch holds the buffers of one composer that are no part of its response.
type scratch struct {
	mark  []byte       // a mark or a name in the making
	raw   []byte       // a segment before filtering
	thin  []byte       // and after it
	side  []byte       // JSON of composer.side
	made  bytes.Buffer // thin, compressed
	ahead []release.Include
}

// defaults is the resource with the sub-requests that records of a kind lack.
type defaults struct {
	entry release.Entry
	known bool // entry was looked up
}

// reset lets go of the release.
func (c *composer) reset() {
	c.answer.Reset()
	c.rel, c.standalone = nil, false
	c.class = Stored
	c.account, c.trace = nil, nil
	c.work, c.names = 0, titleNames{}
	clear(c.defaults[:])
}

// atLeast makes the class of the response k, unless it is a later one.
func (c *composer) atLeast(k Class) { c.class = max(c.class, k) }

// bytes is about how much memory c holds while its response is sent.
func (c *composer) bytes() int {
	n := c.answer.Bytes() + c.scratch.bytes() + cap(c.scratch.mark)
	if c.side != nil {
		n += c.side.bytes()
	}
	return n
}

// bytes is how much memory the long buffers hold.
func (s *scratch) bytes() int { return cap(s.raw) + cap(s.thin) + s.made.Cap() + cap(s.side) }

// dropScratch lets go of large buffers before the response is sent.
func (c *composer) dropScratch() {
	if s := &c.scratch; s.bytes() > maxScratch {
		s.raw, s.thin, s.side, s.made = nil, nil, nil, bytes.Buffer{}
	}
	if c.side != nil && c.side.bytes() > maxScratch {
		c.side = nil
	}
}

// aside returns JSON that becomes part of the response only after a change. It is valid until the
// next call.
func (c *composer) aside(compose func(c *composer) error) ([]byte, error) {
	if c.side == nil {
		c.side = &composer{}
	}
	defer func() {
		c.work += c.side.work
		c.side.reset()
	}()
	c.side.class = Page // it is read, not sent: nothing needs compressing
	c.side.rel, c.side.q, c.side.now, c.side.prefetch = c.rel, c.q, c.now, c.prefetch
	if err := compose(c.side); err != nil {
		return nil, err
	}
	var err error
	c.scratch.side, err = c.side.answer.AppendIdentity(c.scratch.side[:0])
	return c.scratch.side, err
}

// body adds a sub-request of e, of kind k, from behind its opening brace on. The resource's own
// fragment wins over tables of the release.
func (c *composer) body(e release.Entry, k fragment.Kind, s fragment.Sub, choice *variant.Choice) error {
	switch {
	case choice.Given:
	case s == fragment.SubChanges:
		return addChanges(c, k, e.ID())
	case s == fragment.SubLists:
		if done, err := addHolding(c, accounts.Title{Kind: k, ID: e.ID()}, choice.Page); done || err != nil {
			return err
		}
	}
	return c.stored(e, k, s, choice, 0)
}

// appended adds one appended object. Missing ones are left out, such as a season
// that the series does not have, and so are sub-requests that need a session.
func (c *composer) appended(e release.Entry, a *route.Append) error {
	if err := c.lease.atLeast(c.bytes()); err != nil {
		return err
	}
	if c.trace != nil {
		c.trace.part = string(a.Property)
	}
	ok := true
	if a.Kind != c.q.Kind {
		e, ok = c.rel.Include(appendedResource(c.q, a))
	}
	if ok && a.Sub == fragment.SubAccountStates {
		return addAppendedStates(c, e, a)
	}
	s := variant.Canonical(a.Sub)
	var choice variant.Choice
	if ok {
		choice, ok = c.pick(e, a.Kind, s)
	}
	if !ok {
		return nil
	}
	splice.Literal(&c.answer, `,"`)
	splice.Literal(&c.answer, a.Property)
	if s != fragment.SubDetails {
		splice.Literal(&c.answer, `":{`)
		return c.body(e, a.Kind, s, &choice)
	}
	splice.Literal(&c.answer, `":`)
	if err := c.stored(e, a.Kind, s, &choice, 0); err != nil {
		return err
	}
	splice.Literal(&c.answer, "}")
	return nil
}

// appendedResource names the season or episode of a series that a is about.
func appendedResource(q *route.Request, a *route.Append) release.Include {
	return release.Include{Kind: a.Kind, ID: uint64(q.ID), Season: a.Season, Episode: a.Episode}
}

// pick returns the fragment for a sub-request of e, or the default in its place.
func (c *composer) pick(e release.Entry, k fragment.Kind, s fragment.Sub) (variant.Choice, bool) {
	if choice, ok := variant.Pick(e, k, s, c.q); ok {
		choice.Given = true
		return choice, true
	}
	return variant.PickDefault(c.defaultsOf(k), k, s, c.q)
}

// defaultsOf looks up the defaults of a kind once for each response.
func (c *composer) defaultsOf(k fragment.Kind) release.Entry {
	if int(k) >= len(c.defaults) {
		return release.Entry{}
	}
	d := &c.defaults[k]
	if !d.known {
		var key [fragment.MaxKeyLen]byte
		d.entry, _ = c.rel.Lookup(fragment.AppendShared(key[:0], fragment.KindDefault, k, ""))
		d.known = true
	}
	return d.entry
}

// stored adds sub-request s of e, of kind k, which choice answers.
func (c *composer) stored(e release.Entry, k fragment.Kind, s fragment.Sub, choice *variant.Choice, depth int) error {
	if len(c.q.Chain()) > 0 {
		return c.inChain(e, k, s, *choice, depth)
	}
	return c.fragment(choice, depth)
}

// fragment adds the pieces of a fragment's recipe. depth is 0 for a part of the response, and more
// for fragments that others include.
func (c *composer) fragment(choice *variant.Choice, depth int) error {
	if c.trace == nil {
		return c.pieces(choice, depth)
	}
	i := c.trace.begin(&choice.Fragment, c.answer.RawLen())
	err := c.pieces(choice, depth)
	c.trace.end(i, c.answer.RawLen())
	return err
}

// pieces is fragment without a trace.
func (c *composer) pieces(choice *variant.Choice, depth int) error {
	if depth > release.MaxDepth {
		return fmt.Errorf("%w: fragments lead to fragments more than %d deep", release.ErrCorrupt, release.MaxDepth)
	}
	if choice.Titles != 0 {
		return c.filmography(choice)
	}
	if c.prefetch {
		c.scratch.awaitIncludes(c.rel, &choice.Fragment)
	}
	var piece release.Piece
	pieces := choice.Fragment.Pieces()
	for pieces.Next(&piece) {
		var err error
		switch piece.Op {
		case release.OpSegment:
			err = c.segment(&piece.Segment, &choice.Filter)
		case release.OpLiteral:
			err = c.text(piece.Text(), &choice.Filter)
		case release.OpReference:
			err = c.reference(&piece, depth)
		case release.OpInclude:
			err = c.include(&piece.Include, depth)
		default:
			// Only the response itself has an ID; included fragments do not.
			c.literal(&piece, choice.Page, c.standalone && depth == 0)
		}
		if err != nil {
			return err
		}
	}
	if pieces.Broken() {
		return errBroken
	}
	return nil
}

var errBroken = fmt.Errorf("%w: a fragment has a piece that breaks the format", release.ErrCorrupt)

// text adds bytes that stand in the recipe itself. They are so few that the part that a filter
// leaves is not worth compressing.
func (c *composer) text(raw []byte, f *variant.Filter) error {
	if f.IsZero() {
		splice.Literal(&c.answer, raw)
		return nil
	}
	c.scratch.raw = append(c.scratch.raw[:0], raw...) // which would else move the caller's piece to the heap
	if err := c.filter(c.scratch.raw, f); err != nil {
		return err
	}
	splice.Literal(&c.answer, c.scratch.thin)
	return nil
}

// literal adds the bytes that depend on the request rather than on the release. withID
// makes the response name its resource.
func (c *composer) literal(piece *release.Piece, page uint16, withID bool) {
	b := c.scratch.mark[:0]
	switch piece.Op {
	case release.OpIDMark:
		if !withID {
			return
		}
		b = append(strconv.AppendUint(append(b, `"id":`...), c.id, 10), ',')
	case release.OpIDEnd:
		if withID {
			b = strconv.AppendUint(append(b, `,"id":`...), c.id, 10)
		}
		b = append(b, '}')
	case release.OpPageMark:
		b = append(strconv.AppendUint(append(b, `"page":`...), uint64(page), 10), ',')
	case release.OpName:
		b = append(appendName(append(b, '"'), piece, &c.q.Params), '"')
	}
	c.scratch.mark = b
	splice.Literal(&c.answer, b)
}

// appendName appends the generic name of a season or an episode in the request's
// language. None of these names needs an escape in JSON.
func appendName(dst []byte, piece *release.Piece, p *route.Params) []byte {
	var buf [4]byte
	lang, region := buf[:0], buf[:0]
	if v := p.Language; p.HasLanguage {
		buf = [4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}
		lang = buf[:2]
		if v != v.Bare() {
			region = buf[2:]
		}
	}
	switch n := int(piece.Number); piece.Word {
	case release.WordSeason:
		return reference.AppendSeasonName(dst, lang, region, n)
	case release.WordEpisode:
		return reference.AppendEpisodeName(dst, lang, region, n)
	default:
		return reference.AppendSeasonName(dst, lang, region, 0)
	}
}

// reference adds a fragment that several resources share, in the request's language.
func (c *composer) reference(piece *release.Piece, depth int) error {
	e, ok := c.rel.Lookup(piece.Shared)
	if !ok {
		return fmt.Errorf("%w: reference leads nowhere", release.ErrCorrupt)
	}
	if len(c.q.Chain()) > 0 {
		return c.sharedInChain(e, piece.Sub, depth)
	}
	return c.shared(e, piece.Sub, depth)
}

// shared adds a fragment of e, which several resources share.
func (c *composer) shared(e release.Entry, s fragment.Sub, depth int) error {
	f, ok := variant.FindShared(e, s, &c.q.Params)
	if !ok {
		return fmt.Errorf("%w: reference to %s leads nowhere", release.ErrCorrupt, s)
	}
	return c.fragment(&variant.Choice{Fragment: f}, depth+1)
}

// include adds a fragment of any other resource, in the request's language.
func (c *composer) include(i *release.Include, depth int) error {
	if from, derived := fragment.RowSource(i.Kind, i.Sub); derived {
		return c.derivedRow(i, from)
	}
	e, ok := c.rel.Include(*i)
	var choice variant.Choice
	if ok {
		choice, ok = c.pick(e, i.Kind, i.Sub)
	}
	if !ok {
		return fmt.Errorf("%w: include of %s leads nowhere", release.ErrCorrupt, *i)
	}
	return c.stored(e, i.Kind, i.Sub, &choice, depth+1)
}

// segment adds a stored segment. Fast path: as it is. Slow path: inflated, thinned
// out and deflated anew.
func (c *composer) segment(s *release.Segment, f *variant.Filter) error {
	if f.IsZero() {
		c.answer.Segment(*s)
		return nil
	}
	err := c.lease.atLeast(c.bytes() + 2*int(s.RawLen)) // before and after filtering, until finish sets the rest
	if err != nil {
		return err
	}
	if c.scratch.raw, err = c.answer.AppendInflated(c.scratch.raw[:0], s); err != nil {
		return err
	}
	if err := c.filter(c.scratch.raw, f); err != nil {
		return err
	}
	return c.deflate(c.scratch.thin)
}

// filter leaves in c.scratch.thin the rows of raw that f keeps.
func (c *composer) filter(raw []byte, f *variant.Filter) (err error) {
	if c.scratch.thin, err = f.Append(c.scratch.thin[:0], raw); err != nil {
		return fmt.Errorf("%w: filter: %w", release.ErrCorrupt, err)
	}
	return nil
}

// deflaters hold the *flate.Writer that no composer uses.
var deflaters = sync.Pool{New: func() any {
	z, _ := flate.NewWriter(nil, flate.BestSpeed) // a level that there is
	return z
}}

// deflate adds raw as a segment made on the spot.
func (c *composer) deflate(raw []byte) error {
	// A compressor takes much memory, so it does not wait for a slow client with the rest.
	z := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(z)
	c.scratch.made.Reset()
	z.Reset(&c.scratch.made)
	if _, err := z.Write(raw); err != nil {
		return err
	}
	if err := z.Flush(); err != nil {
		return err
	}
	c.answer.Made(release.Segment{
		Stored: c.scratch.made.Bytes(),
		RawLen: uint32(len(raw)),
		CRC:    crc32.ChecksumIEEE(raw),
		Op:     release.CRCOp(uint64(len(raw))),
		Hash:   release.HashOf(raw),
	})
	return nil
}
