package edge

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strconv"
	"sync"

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
	edge     *Edge
	rel      *release.Reader
	q        *route.Request
	prefetch bool // see Options.FromDisk
	leased   int  // bytes of memory that the response counts

	answer   *splice.Answer
	body     splice.Answer    // body of the response
	unused   []*splice.Answer // for composeJSON
	class    class            // highest class so far
	key      [fragment.MaxKeyLen]byte
	defaults [fragment.KindEpisodeGroup + 1]defaults // by kind, looked up on first use
	scratch  scratch
	trace    *trace // sources of the bytes; nil unless the response is inspected
}

// A scratch holds the buffers of one composer that do not belong to its response.
type scratch struct {
	text       []byte       // the current literal
	raw        []byte       // a segment before filtering
	row        []byte       // a derived row, or the rows of raw after filtering
	json       []byte       // result of composeJSON
	compressed bytes.Buffer // row
	includes   []release.Include
}

// defaults is the resource with the sub-requests that records of a kind lack.
type defaults struct {
	entry  release.Entry
	loaded bool // entry was looked up
}

// end releases the body's references and memory.
func (c *composer) end() {
	c.body.Reset()
	_ = c.lease(0) // which never fails
	c.rel, c.answer, c.class, c.trace = nil, nil, classStored, nil
	clear(c.defaults[:])
}

// charge counts the memory of the response plus n bytes against Options.MaxInflight, until End or the next charge. The
// error is a refusal.
func (c *composer) charge(n int) error { return c.lease(exchangeBytes + c.bytes() + n) }

// raiseClass raises the class of the response to k, unless it is higher.
func (c *composer) raiseClass(k class) { c.class = max(c.class, k) }

// bytes returns about the memory that c holds while its response is sent.
func (c *composer) bytes() int {
	s := &c.scratch
	n := c.body.Bytes() + cap(s.text) + cap(s.raw) + cap(s.row) + cap(s.json) + s.compressed.Cap()
	for _, a := range c.unused {
		n += a.Bytes()
	}
	return n
}

// composeJSON returns the JSON that compose adds, which becomes part of the response only after a change. It is valid
// until the next call.
func (c *composer) composeJSON(compose func() error) ([]byte, error) {
	outer, class, trace := c.answer, c.class, c.trace
	if len(c.unused) == 0 {
		c.unused = append(c.unused, new(splice.Answer))
	}
	n := len(c.unused) - 1
	c.answer, c.unused = c.unused[n], c.unused[:n]
	c.class, c.trace = classPage, nil // the JSON is read, not sent: leave it uncompressed
	defer func() {
		c.answer.Reset()
		c.unused = append(c.unused, c.answer)
		c.answer, c.class, c.trace = outer, class, trace
	}()
	err := compose()
	if err == nil {
		c.scratch.json, err = c.answer.AppendIdentity(c.scratch.json[:0])
	}
	return c.scratch.json, err
}

// subRequest adds a sub-request of e, of kind k, after its opening brace. The resource's own fragment
// wins over tables of the release.
func (c *composer) subRequest(e release.Entry, k fragment.Kind, s fragment.Sub, choice *variant.Choice) error {
	switch {
	case choice.Stored:
	case s == fragment.SubChanges:
		return addChanges(c, k, e.ID())
	case s == fragment.SubLists:
		if added, err := addHolding(c, accounts.Title{Kind: k, ID: e.ID()}, choice); added || err != nil {
			return err
		}
	}
	return c.fragment(choice, 0)
}

// appendedResource returns the season or episode of a series that a appends.
func appendedResource(q *route.Request, a *route.Append) release.Include {
	return release.Include{Kind: a.Kind, ID: uint64(q.ID), Season: a.Season, Episode: a.Episode}
}

// pick returns the fragment for a sub-request of e, or the default in its place. The defaults of a kind are looked up
// once for each response.
func (c *composer) pick(e release.Entry, k fragment.Kind, s fragment.Sub) (choice variant.Choice, ok bool) {
	choice, ok = variant.Pick(e, k, s, c.q)
	if choice.Stored = ok; ok || int(k) >= len(c.defaults) {
		return choice, ok
	}
	d := &c.defaults[k]
	if !d.loaded {
		var key [fragment.MaxKeyLen]byte
		d.entry, _ = c.rel.Lookup(fragment.AppendShared(key[:0], fragment.KindDefault, k, ""))
		d.loaded = true
	}
	return variant.PickDefault(d.entry, k, s, c.q)
}

// fragment adds the pieces of a fragment's recipe. depth is 0 for a part of the response, and counts includes
// above others.
func (c *composer) fragment(choice *variant.Choice, depth int) error {
	if c.trace != nil {
		defer c.trace.begin(&choice.Fragment, c.answer)()
	}
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
		case release.OpSegment, release.OpLiteral:
			switch {
			case !choice.Filter.IsZero():
				err = c.filtered(&piece, &choice.Filter)
			case piece.Op == release.OpSegment:
				c.answer.Segment(&piece.Segment)
			default:
				splice.Literal(c.answer, piece.Text())
			}
		case release.OpReference:
			err = c.reference(&piece, depth)
		case release.OpInclude:
			err = c.include(&piece.Include, depth)
		default:
			c.mark(&piece, choice)
		}
		if err != nil {
			return err
		}
	}
	if pieces.Broken {
		return errBroken
	}
	return nil
}

var errBroken = fmt.Errorf("%w: a fragment has a piece that breaks the format", release.ErrCorrupt)

// mark adds the bytes that depend on the request rather than on the release.
func (c *composer) mark(piece *release.Piece, choice *variant.Choice) {
	b := c.scratch.text[:0]
	switch piece.Op {
	case release.OpIDMark:
		if choice.ID == 0 {
			return
		}
		b = append(strconv.AppendUint(append(b, `"id":`...), choice.ID, 10), ',')
	case release.OpIDEnd:
		if choice.ID != 0 {
			b = strconv.AppendUint(append(b, `,"id":`...), choice.ID, 10)
		}
		b = append(b, '}')
	case release.OpPageMark:
		b = append(strconv.AppendUint(append(b, `"page":`...), uint64(choice.Page), 10), ',')
	case release.OpName:
		b = append(appendName(append(b, '"'), piece, &c.q.Params), '"')
	}
	c.scratch.text = b
	splice.Literal(c.answer, b)
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
	f, ok := variant.FindShared(e, piece.Sub, &c.q.Params)
	if !ok {
		return fmt.Errorf("%w: reference to %s leads nowhere", release.ErrCorrupt, piece.Sub)
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
	return c.fragment(&choice, depth+1)
}

// filtered adds the rows of a segment or a literal that f keeps. It compresses rows of a segment again; literals are too
// short for it.
func (c *composer) filtered(piece *release.Piece, f *variant.Filter) error {
	if piece.Op == release.OpSegment {
		if err := c.charge(2 * int(piece.Segment.RawLen)); err != nil { // before and after filtering
			return err
		}
	}
	text, err := c.pieceText(piece)
	if err != nil {
		return err
	}
	if c.scratch.row, err = f.Append(c.scratch.row[:0], text); err != nil {
		return fmt.Errorf("%w: filter: %w", release.ErrCorrupt, err)
	}
	if piece.Op == release.OpSegment {
		return c.deflate(c.scratch.row)
	}
	splice.Literal(c.answer, c.scratch.row)
	return nil
}

// pieceText returns the bytes of a segment or a literal. They are valid until the next call.
func (c *composer) pieceText(piece *release.Piece) (_ []byte, err error) {
	s := &c.scratch
	if piece.Op == release.OpSegment {
		s.raw, err = c.answer.AppendInflated(s.raw[:0], &piece.Segment)
	} else {
		s.raw = append(s.raw[:0], piece.Text()...)
	}
	return s.raw, err
}

// deflaters hold free *flate.Writers.
var deflaters = sync.Pool{New: func() any {
	z, _ := flate.NewWriter(nil, flate.BestSpeed) // the level is valid
	return z
}}

// deflate adds raw as a new segment.
func (c *composer) deflate(raw []byte) error {
	// A compressor takes much memory, so it goes back to the pool before a slow client reads the body.
	z := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(z)
	c.scratch.compressed.Reset()
	z.Reset(&c.scratch.compressed)
	if _, err := z.Write(raw); err != nil {
		return err
	}
	if err := z.Flush(); err != nil {
		return err
	}
	c.answer.SegmentCopy(&release.Segment{
		Stored: c.scratch.compressed.Bytes(),
		RawLen: uint32(len(raw)),
		CRC:    crc32.ChecksumIEEE(raw),
		Op:     release.CRCOp(uint64(len(raw))),
		Hash:   release.HashOf(raw),
	})
	return nil
}
