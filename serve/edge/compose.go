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

// A scratch holds the buffers of an exchange that do not belong to its response.
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

// end releases the references and the memory of the composed body.
func (x *exchange) end() {
	x.composed.Reset()
	_ = x.lease(0) // which never fails
	x.rel, x.answer, x.class, x.trace = nil, nil, classStored, nil
	clear(x.defaults[:])
}

// charge counts the memory of the response plus n bytes against Options.MaxInflight, until End or the next charge. The
// error is a refusal.
func (x *exchange) charge(n int) error { return x.lease(exchangeBytes + x.bytes() + n) }

// raiseClass raises the class of the response to k, unless it is higher.
func (x *exchange) raiseClass(k class) { x.class = max(x.class, k) }

// bytes returns about the memory that x holds while its response is sent.
func (x *exchange) bytes() int {
	s := &x.scratch
	n := x.composed.Bytes() + cap(x.body) + cap(x.keys) + cap(s.text) + cap(s.raw) + cap(s.row) + cap(s.json) + s.compressed.Cap()
	for _, a := range x.unused {
		n += a.Bytes()
	}
	return n
}

// composeJSON returns the JSON that compose adds, which becomes part of the response only after a change. It is valid
// until the next call.
func (x *exchange) composeJSON(compose func() error) ([]byte, error) {
	outer, class, trace := x.answer, x.class, x.trace
	if len(x.unused) == 0 {
		x.unused = append(x.unused, new(splice.Answer))
	}
	n := len(x.unused) - 1
	x.answer, x.unused = x.unused[n], x.unused[:n]
	x.class, x.trace = classPage, nil // the JSON is read, not sent: leave it uncompressed
	defer func() {
		x.answer.Reset()
		x.unused = append(x.unused, x.answer)
		x.answer, x.class, x.trace = outer, class, trace
	}()
	err := compose()
	if err == nil {
		x.scratch.json, err = x.answer.AppendIdentity(x.scratch.json[:0])
	}
	return x.scratch.json, err
}

// subRequest adds a sub-request of e, of kind k, after its opening brace. The resource's own fragment
// wins over tables of the release.
func (x *exchange) subRequest(e release.Entry, k fragment.Kind, s fragment.Sub, choice *variant.Choice) error {
	switch {
	case choice.Stored:
	case s == fragment.SubChanges:
		return addChanges(x, k, e.ID())
	case s == fragment.SubLists:
		if added, err := addHolding(x, accounts.Title{Kind: k, ID: e.ID()}, choice); added || err != nil {
			return err
		}
	}
	return x.fragment(choice, 0)
}

// appendedResource returns the season or episode of a series that a appends.
func appendedResource(q *route.Request, a *route.Append) release.Include {
	return release.Include{Kind: a.Kind, ID: uint64(q.ID), Season: a.Season, Episode: a.Episode}
}

// pick returns the fragment for a sub-request of e, or the default in its place. The defaults of a kind are looked up
// once for each response.
func (x *exchange) pick(e release.Entry, k fragment.Kind, s fragment.Sub) (choice variant.Choice, ok bool) {
	choice, ok = variant.Pick(e, k, s, &x.q)
	if choice.Stored = ok; ok || int(k) >= len(x.defaults) {
		return choice, ok
	}
	d := &x.defaults[k]
	if !d.loaded {
		var key [fragment.MaxKeyLen]byte
		d.entry, _ = x.rel.Lookup(fragment.AppendShared(key[:0], fragment.KindDefault, k, ""))
		d.loaded = true
	}
	return variant.PickDefault(d.entry, k, s, &x.q)
}

// fragment adds the pieces of a fragment's recipe. depth is the number of enclosing includes.
func (x *exchange) fragment(choice *variant.Choice, depth int) error {
	if x.trace != nil {
		defer x.trace.begin(&choice.Fragment, x.answer)()
	}
	if depth > release.MaxDepth {
		return fmt.Errorf("%w: fragments are nested more than %d deep", release.ErrCorrupt, release.MaxDepth)
	}
	if choice.Titles != 0 {
		return filmography(x, choice)
	}
	if x.prefetch {
		x.scratch.awaitIncludes(x.rel, &choice.Fragment)
	}
	var piece release.Piece
	pieces := choice.Fragment.Pieces()
	for pieces.Next(&piece) {
		var err error
		switch piece.Op {
		case release.OpSegment, release.OpLiteral:
			switch {
			case !choice.Filter.IsZero():
				err = x.filtered(&piece, &choice.Filter)
			case piece.Op == release.OpSegment:
				x.answer.Segment(&piece.Segment)
			default:
				splice.Literal(x.answer, piece.Text())
			}
		case release.OpReference:
			err = x.reference(&piece, depth)
		case release.OpInclude:
			err = x.include(&piece.Include, depth)
		default:
			x.mark(&piece, choice)
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
func (x *exchange) mark(piece *release.Piece, choice *variant.Choice) {
	b := x.scratch.text[:0]
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
		b = append(appendName(append(b, '"'), piece, &x.q.Params), '"')
	}
	x.scratch.text = b
	splice.Literal(x.answer, b)
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
func (x *exchange) reference(piece *release.Piece, depth int) error {
	e, ok := x.rel.Lookup(piece.Shared)
	if !ok {
		return fmt.Errorf("%w: dangling reference", release.ErrCorrupt)
	}
	f, ok := variant.FindShared(e, piece.Sub, &x.q.Params)
	if !ok {
		return fmt.Errorf("%w: dangling reference to %s", release.ErrCorrupt, piece.Sub)
	}
	return x.fragment(&variant.Choice{Fragment: f}, depth+1)
}

// include adds a fragment of any other resource, in the request's language.
func (x *exchange) include(i *release.Include, depth int) error {
	if from, derived := fragment.RowSource(i.Kind, i.Sub); derived {
		return derivedRow(x, i, from)
	}
	e, ok := x.rel.Include(*i)
	var choice variant.Choice
	if ok {
		choice, ok = x.pick(e, i.Kind, i.Sub)
	}
	if !ok {
		return fmt.Errorf("%w: dangling include of %s", release.ErrCorrupt, *i)
	}
	return x.fragment(&choice, depth+1)
}

// filtered adds the rows of a segment or a literal that f keeps. It compresses rows of a segment again; literals are too
// short for it.
func (x *exchange) filtered(piece *release.Piece, f *variant.Filter) error {
	if piece.Op == release.OpSegment {
		if err := x.charge(2 * int(piece.Segment.RawLen)); err != nil { // before and after filtering
			return err
		}
	}
	text, err := x.pieceText(piece)
	if err != nil {
		return err
	}
	if x.scratch.row, err = f.Append(x.scratch.row[:0], text); err != nil {
		return fmt.Errorf("%w: filter: %w", release.ErrCorrupt, err)
	}
	if piece.Op == release.OpSegment {
		return x.deflate(x.scratch.row)
	}
	splice.Literal(x.answer, x.scratch.row)
	return nil
}

// pieceText returns the bytes of a segment or a literal. They are valid until the next call.
func (x *exchange) pieceText(piece *release.Piece) (_ []byte, err error) {
	s := &x.scratch
	if piece.Op == release.OpSegment {
		s.raw, err = x.answer.AppendInflated(s.raw[:0], &piece.Segment)
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
func (x *exchange) deflate(raw []byte) error {
	// A compressor takes much memory, so it goes back to the pool before a slow client reads the body.
	z := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(z)
	x.scratch.compressed.Reset()
	z.Reset(&x.scratch.compressed)
	if _, err := z.Write(raw); err != nil {
		return err
	}
	if err := z.Flush(); err != nil {
		return err
	}
	x.answer.SegmentCopy(&release.Segment{
		Stored: x.scratch.compressed.Bytes(),
		RawLen: uint32(len(raw)),
		CRC:    crc32.ChecksumIEEE(raw),
		Op:     release.CRCOp(uint64(len(raw))),
		Hash:   release.HashOf(raw),
	})
	return nil
}
