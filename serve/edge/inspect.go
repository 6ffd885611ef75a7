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
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/status"
)

// An Inspection is a response and the pieces that it is made of. Its JSON is what inspect --explain
// and /page/explain give.
type Inspection struct {
	Path    string `json:"path"` // and the query
	Status  int    `json:"status"`
	Release string `json:"release,omitempty"` // "" for a response that no release holds
	// Class is "stored" for a body of pieces as they lie in the release, "page" for one whose pieces
	// are compressed as a whole, "static" for facts, "private" for one client's; "" unless Status is 200.
	Class     string  `json:"class,omitempty"`
	ETag      string  `json:"etag"`       // "" unless Status is 200
	RawBytes  int     `json:"raw_bytes"`  // of the identity body
	GzipBytes int     `json:"gzip_bytes"` // of the gzip body; 0 unless Status is 200
	Pieces    []Piece `json:"pieces"`     // none unless Status is 200
	Body      []byte  `json:"-"`          // identity
}

// A Piece is one run of bytes of a response.
type Piece struct {
	Number int `json:"piece"` // from 1
	// Kind is "segment" for stored bytes of the release, "literal" for the bytes between them, "made" for
	// rows that were filtered or derived and compressed anew, "static" for a response that no release holds.
	Kind   string   `json:"kind"`
	Offset int64    `json:"offset"`       // of its first byte in the identity body
	Raw    int      `json:"raw_bytes"`    // in the identity body
	Stored int      `json:"stored_bytes"` // in the gzip body, unless that is compressed as a whole
	CRC    Checksum `json:"crc32"`        // of the raw bytes
	Origin
	File       string `json:"file,omitempty"`        // of a segment: the pack that has it
	FileOffset int64  `json:"file_offset,omitempty"` // of a segment there, in bytes
	Text       string `json:"text,omitempty"`        // of a literal: its first bytes, maxText at most
}

// maxText is how many bytes of a literal a Piece has.
const maxText = 1 << 10

// A Checksum is a CRC-32. Its text is eight hex digits.
type Checksum uint32

func (c Checksum) String() string { return fmt.Sprintf("%08x", uint32(c)) }

// MarshalText implements encoding.TextMarshaler.
func (c Checksum) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Inspect serves a GET of target, a path with its query, from rel as the edge does,
// but without asking for a credential. Refusals are responses; the error is about
// release bytes that break the format, and about tokens, which only a running edge issues.
// Static responses need no release: rel may be nil. All is as in the default configuration.
func Inspect(rel *release.Reader, target string) (in Inspection, err error) {
	e, err := inspector()
	if err != nil {
		return Inspection{}, err
	}
	x := new(exchange)
	defer x.lease.release()
	err = release.Guard(func() error {
		in, err = x.inspect(e, rel, target)
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

// errIssued is a request for what only a client of a running edge gets.
var errIssued = errors.New("is answered by a running edge alone")

// inspect serves target with a trace. A refusal is an Inspection too.
func (x *exchange) inspect(e *Edge, rel *release.Reader, target string) (Inspection, error) {
	x.open(e, rel)
	x.rq.Path, x.rq.Query = SplitTarget(afterHost([]byte(target)))
	in := Inspection{Path: target}
	var refusal status.Code
	switch err := x.traced(&in); {
	case errors.As(err, &refusal):
		body := x.edge.refusal(refusal)
		return Inspection{Path: target, Status: refusal.HTTP(), Body: body, RawBytes: len(body), Pieces: []Piece{}}, nil
	case err != nil:
		return Inspection{}, err
	}
	return in, nil
}

func (x *exchange) traced(in *Inspection) error {
	x.q.Pages, x.q.AppendLimit = uint16(x.edge.opts.MaxPage), uint8(x.edge.opts.AppendLimit)
	if code := route.Parse(x.rq.Path, x.rq.Query, &x.q); code != status.OK {
		return code
	}
	switch op := x.q.Op.Operation(); {
	case op.Answerer == api.AnswerValidKey, op.Answerer == api.AnswerRequestToken, op.Answerer == api.AnswerGuestSession:
		return fmt.Errorf("%s %w", x.rq.Path, errIssued)
	case op.Auth != api.AuthBearer:
		return status.AuthFailed
	}
	x.rq.AcceptEncoding, x.rs.x, x.c.trace = []byte("gzip"), x, new(trace)
	if err := x.answer(); err != nil {
		return err
	}
	rs, a := &x.rs, x.c.answer
	in.Status, in.Class, in.ETag, in.Release, in.GzipBytes = statusOK, classNames[rs.Class], string(rs.ETag), rs.Release, rs.Len()
	held := x.c.trace.bytes() + inspectionBytes(a) + a.RawLen()
	if err := x.lease.set(x.bytes() + held); err != nil {
		return err
	}
	if rs.Class == Ready { // its stored form is the whole gzip member
		body, _ := x.edge.facts.Response(&x.q)
		in.Body, in.RawBytes = body.Identity, len(body.Identity)
		in.Pieces = []Piece{{Number: 1, Kind: "static", Raw: in.RawBytes, Stored: in.GzipBytes, CRC: Checksum(crc32.ChecksumIEEE(in.Body))}}
		return nil
	}
	body, err := a.AppendIdentity(nil)
	if err != nil {
		return err
	}
	in.Body, in.RawBytes, in.Pieces = body, len(body), inspectPieces(a, body, x.c.trace, x.q.Appends())
	return x.lease.set(x.bytes() + held) // with the inflater
}

// classNames are the names of classes in an Inspection.
var classNames = [...]string{Stored: "stored", Ready: "static", Page: "page", Private: "private"}

// afterHost returns path and query of a URL, "/" without any, and a path as it is.
func afterHost(target []byte) []byte {
	_, rest, found := bytes.Cut(target, []byte("://"))
	if !found || target[0] == '/' {
		return target
	}
	if i := bytes.IndexAny(rest, "/?#"); i >= 0 {
		return rest[i:]
	}
	return []byte("/")
}

// storedBlock is the overhead of a stored deflate block in bytes (RFC 1951).
const storedBlock = 5

func inspectPieces(a *splice.Answer, body []byte, t *trace, appends []route.Append) []Piece {
	out := make([]Piece, 0, a.Len())
	t.name(body, appends)
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
		piece.CRC = Checksum(crc32.ChecksumIEEE(body[off:end]))
		piece.Origin = t.origin(int(off), int(end))
		out = append(out, piece)
		off = end
	})
	return out
}

// pieceJSON is about the longest JSON of a piece without its text, in bytes.
const pieceJSON = 256

// inspectionBytes is about how much memory the pieces of a take: as they are, and as JSON in the encoder's buffer
// and in the response.
func inspectionBytes(a *splice.Answer) (n int) {
	a.Parts(func(literal []byte, _ *release.Segment) {
		n += int(unsafe.Sizeof(Piece{})) + 2*pieceJSON + 3*min(len(literal), maxText)
	})
	return n
}

// shortened returns the first bytes of a literal, in whole letters.
func shortened(literal []byte) string {
	if len(literal) <= maxText {
		return string(literal)
	}
	return strings.ToValidUTF8(string(literal[:maxText]), "")
}
