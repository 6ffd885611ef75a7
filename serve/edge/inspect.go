package edge

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"sync"
	"unsafe"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/status"
)

// An Inspection is a response and its pieces. Its JSON is the output of inspect --explain
// and /page/explain.
type Inspection struct {
	Path    string `json:"path"` // and the query
	Status  int    `json:"status"`
	Release string `json:"release,omitempty"` // "" for a static response
	// Class is "stored" for a body of stored pieces, "page" for a body that is compressed as a whole,
	// "static" for facts, "private" for a private response; "" unless Status is 200.
	Class     string  `json:"class,omitempty"`
	ETag      string  `json:"etag"`       // "" unless Status is 200
	RawBytes  int     `json:"raw_bytes"`  // size of the identity body
	GzipBytes int     `json:"gzip_bytes"` // size of the gzip body; 0 unless Status is 200
	Pieces    []Piece `json:"pieces"`     // empty unless Status is 200
	Body      []byte  `json:"-"`          // identity
}

// A Piece is one run of bytes of a response.
type Piece struct {
	Number int `json:"piece"` // from 1
	// Kind is "segment" for stored bytes of the release, "literal" for the bytes between them, "made" for
	// rows that were filtered or derived and compressed again, "static" for a static response.
	Kind   string `json:"kind"`
	Offset int64  `json:"offset"`       // offset of its first byte in the identity body
	Raw    int    `json:"raw_bytes"`    // size in the identity body
	Stored int    `json:"stored_bytes"` // size in the gzip body, unless that is compressed as a whole
	CRC    string `json:"crc32"`        // checksum of the raw bytes, eight hex digits
	Origin
	File       string `json:"file,omitempty"`        // segment: the pack that holds it
	FileOffset int64  `json:"file_offset,omitempty"` // segment: its offset there, in bytes
	Text       string `json:"text,omitempty"`        // literal: its first bytes, maxText at most
}

// maxText bounds Piece.Text, in bytes.
const maxText = 1 << 10

// checksum returns the CRC-32 of b in hex.
func checksum(b []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(b)) }

// Inspect serves a GET of target, a path with its query, from rel as an edge with default
// options does, but without a credential. A refusal is a response. The error is about
// release bytes that break the format, or a token, which only a running edge issues.
// rel may be nil for static responses.
func Inspect(rel *release.Reader, target string) (in Inspection, err error) {
	e, err := inspector()
	if err != nil {
		return Inspection{}, err
	}
	x := new(exchange)
	defer func() { _ = x.lease(0) }() // which never fails
	err = release.Guard(func() error {
		in, err = inspect(x, e, rel, target)
		return err
	})
	return in, err
}

// inspector returns the Edge of Inspect.
var inspector = sync.OnceValues(func() (*Edge, error) {
	signer, err := auth.OpenSigner("")
	if err != nil {
		return nil, err
	}
	none := auth.NewTable(nil)
	return New(DefaultOptions(), func() *auth.Table { return none }, signer, nil)
})

// errIssued is the error of requests for tokens and sessions.
var errIssued = errors.New("needs a running edge")

// inspect serves target by x with a trace. A refusal is an Inspection too.
func inspect(x *exchange, e *Edge, rel *release.Reader, target string) (Inspection, error) {
	x.open(e, rel)
	x.rq.Path, x.rq.Query = SplitTarget(afterHost([]byte(target)))
	in := Inspection{Path: target}
	var refusal status.Code
	switch err := in.fill(x); {
	case errors.As(err, &refusal):
		body := refusal.Body()
		return Inspection{Path: target, Status: refusal.HTTP(), Body: body, RawBytes: len(body), Pieces: []Piece{}}, nil
	case err != nil:
		return Inspection{}, err
	}
	return in, nil
}

// pieceJSON is the approximate length of the longest JSON of a piece without its text.
const pieceJSON = 256

// fill serves the request of x.
func (in *Inspection) fill(x *exchange) error {
	if code := route.Parse(x.rq.Path, x.rq.Query, &x.q); code != status.OK {
		return code
	}
	switch op := x.q.Op.Operation(); {
	case op.Answerer == api.AnswerValidKey, op.Answerer == api.AnswerRequestToken, op.Answerer == api.AnswerGuestSession:
		return fmt.Errorf("%s %w", x.rq.Path, errIssued)
	case op.Session:
		return status.AuthFailed
	}
	x.rq.Gzip, x.trace = true, new(trace)
	if err := x.callAnswerer(); err != nil {
		return err
	}
	rs, a := &x.rs, x.answer
	in.Status, in.Class, in.ETag, in.Release, in.GzipBytes = statusOK, classNames[rs.class], string(rs.ETag), rs.Release, rs.Len()
	// An estimate of the trace, and of the pieces: in Go, and as JSON in the encoder's buffer and in the response.
	memory := cap(x.trace.spans)*int(unsafe.Sizeof(span{})) + a.RawLen()
	a.Parts(func(literal []byte, _ *release.Segment) {
		memory += int(unsafe.Sizeof(Piece{})) + 2*pieceJSON + 3*min(len(literal), maxText)
	})
	if err := x.charge(memory); err != nil {
		return err
	}
	if rs.class == classStatic { // the stored form is the complete gzip member
		body, _ := x.edge.facts.Response(x.q.Op, &x.q)
		in.Body, in.RawBytes = body.Identity, len(body.Identity)
		in.Pieces = []Piece{{Number: 1, Kind: "static", Raw: in.RawBytes, Stored: in.GzipBytes, CRC: checksum(in.Body)}}
		return nil
	}
	body, err := a.AppendIdentity(nil)
	if err != nil {
		return err
	}
	in.Body, in.RawBytes, in.Pieces = body, len(body), inspectPieces(a, body, x.trace)
	return x.charge(memory) // with the inflater
}

// classNames are the names of classes in an Inspection.
var classNames = [...]string{classStored: "stored", classStatic: "static", classPage: "page", classPrivate: "private"}

// afterHost returns the path and query of a URL, or "/". It returns a path unchanged.
func afterHost(target []byte) []byte {
	_, rest, ok := bytes.Cut(target, []byte("://"))
	if !ok || target[0] == '/' {
		return target
	}
	if i := bytes.IndexAny(rest, "/?#"); i >= 0 {
		return rest[i:]
	}
	return []byte("/")
}

// storedBlock is the overhead of a stored deflate block in bytes (RFC 1951).
const storedBlock = 5

func inspectPieces(a *splice.Answer, body []byte, t *trace) []Piece {
	out := []Piece{}
	var off int64
	a.Parts(func(literal []byte, s *release.Segment) {
		piece := Piece{Kind: "literal", Raw: len(literal), Stored: storedBlock + len(literal), Text: shortened(literal)}
		if s != nil {
			piece = Piece{Kind: "segment", Raw: int(s.RawLen), Stored: len(s.Stored)}
			if piece.File, piece.FileOffset = s.Place(); piece.File == "" {
				piece.Kind = "made"
			}
		}
		piece.Number, piece.Offset = len(out)+1, off
		end := off + int64(piece.Raw)
		piece.CRC = checksum(body[off:end])
		piece.Origin = t.origin(int(off), int(end))
		out = append(out, piece)
		off = end
	})
	return out
}

// shortened returns the first bytes of a literal, without a cut letter.
func shortened(literal []byte) string {
	if len(literal) <= maxText {
		return string(literal)
	}
	return strings.ToValidUTF8(string(literal[:maxText]), "")
}

// An Origin is the source of a piece, if one fragment has all of it.
type Origin struct {
	// Sub is the part of the response that the piece belongs to: "details", or the name of the
	// requested or appended sub-request, such as "credits" or "season/1".
	Sub string `json:"sub,omitempty"`
	// Fragment is the sub-request whose fragment has the piece: Sub, or a row's.
	Fragment string `json:"fragment,omitempty"`
	Language string `json:"language,omitempty"` // language of the fragment: "de" or "de-AT"; "" for none
	Resource string `json:"resource,omitempty"` // resource with the fragment: "movie/550"
}

// String returns, for instance, "credits: movie/550 de" or "similar: movie/551 row de".
func (o Origin) String() string {
	if o.Resource == "" {
		return ""
	}
	s := o.Sub + ": " + o.Resource
	if o.Fragment != o.Sub {
		s += " " + o.Fragment
	}
	if o.Language != "" {
		s += " " + o.Language
	}
	return s
}

// A trace lists the fragments of a response in the order of their starts. Only inspected
// responses have one.
type trace struct {
	spans []span
	sub   string // name of the current appended object; "" for none
	open  []int  // spans around the piece of the last call of origin, innermost last
	next  int    // first span after the calls of origin
}

// A span is the range of the identity body that one fragment and its included fragments fill.
type span struct {
	from, to int
	fragment release.Fragment
	sub      string // name of the enclosing appended object; "" for none
}

// begin begins the span of a fragment at the end of a, and returns the function that ends it.
func (t *trace) begin(f *release.Fragment, a *splice.Answer) (end func()) {
	i := len(t.spans)
	t.spans = append(t.spans, span{from: a.RawLen(), fragment: *f, sub: t.sub})
	return func() { t.spans[i].to = a.RawLen() }
}

// origin returns the origin of a piece. Calls must follow the order of the pieces.
func (t *trace) origin(from, to int) Origin {
	for ; t.next < len(t.spans) && t.spans[t.next].from <= from; t.next++ {
		t.leave(t.spans[t.next].from)
		t.open = append(t.open, t.next)
	}
	t.leave(from)
	for i := len(t.open) - 1; i >= 0; i-- {
		if inner := &t.spans[t.open[i]]; inner.to >= to {
			return originOf(&t.spans[t.open[0]], inner)
		}
	}
	return Origin{}
}

// leave closes the spans that end at or before an offset.
func (t *trace) leave(offset int) {
	for len(t.open) > 0 && t.spans[t.open[len(t.open)-1]].to <= offset {
		t.open = t.open[:len(t.open)-1]
	}
}

// originOf describes a piece of inner, which is outer or a span in it.
func originOf(outer, inner *span) Origin {
	e, a, ok := inner.fragment.Owner()
	if !ok {
		return Origin{}
	}
	o := Origin{Sub: outer.sub, Fragment: a.Sub.String(), Language: languageName(a.Variant), Resource: resourceName(e.Key())}
	if o.Sub == "" {
		if _, address, ok := outer.fragment.Owner(); ok {
			o.Sub = address.Sub.String()
		}
	}
	return o
}

// languageName returns a variant as in requests: "de", "de-AT", "null" for rows without a language, ""
// for the base.
func languageName(v fragment.Variant) string {
	switch v {
	case fragment.Base, fragment.Untranslated, fragment.All:
		return ""
	case fragment.NoLanguage:
		return "null"
	}
	lang := v.Bare().String()
	if v == v.Bare() || v == v.OfAnyRegion() {
		return lang
	}
	return lang + "-" + v.String()[len(lang):]
}

// resourceName returns a key in the form of a path: "movie/550", "tv/1399/season/1/episode/2",
// "default/movie" for the defaults of a kind.
func resourceName(key []byte) string {
	if len(key) == 0 {
		return ""
	}
	k, rest := fragment.Kind(key[0]), key[1:]
	switch r, known := fragment.ParseKey(key); {
	case known && k == fragment.KindSeason:
		return fmt.Sprintf("tv/%d/season/%d", r.ID, r.Season)
	case known && k == fragment.KindEpisode:
		return fmt.Sprintf("tv/%d/season/%d/episode/%d", r.ID, r.Season, r.Episode)
	case known && k == fragment.KindFind:
		return fmt.Sprintf("%s/%s/%s", k, r.Source.Name(), r.Text)
	case known && r.Text != "":
		return fmt.Sprintf("%s/%s", k, r.Text)
	case known:
		return fmt.Sprintf("%s/%d", k, r.ID)
	case k >= fragment.KindAlias && len(rest) == 1:
		return fmt.Sprintf("%s/%s", k, fragment.Kind(rest[0]))
	case k >= fragment.KindAlias && len(rest) > 1:
		return fmt.Sprintf("%s/%s/%s", k, fragment.Kind(rest[0]), rest[1:])
	}
	return k.String()
}
