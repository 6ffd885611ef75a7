package edge

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/status"
)

// An Inspection is a response and the pieces that it is made of.
type Inspection struct {
	Status    int
	Body      []byte  // identity
	ETag      string  // "" unless Status is 200
	GzipBytes int     // length of the gzip form; 0 unless Status is 200
	Pieces    []Piece // none unless Status is 200
}

// A Piece is one run of bytes of a response.
type Piece struct {
	Kind   string // "segment", "literal", or "static" for a response that no release holds
	Offset int64  // of its first byte in the identity body
	Raw    int    // bytes in the identity body
	Stored int    // bytes in the gzip body
	CRC    uint32 // CRC-32 of the raw bytes
	Text   string // of a literal
}

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
	x.open(e, rel)
	defer x.lease.release()
	x.rq.Path, x.rq.Query = SplitTarget(afterHost([]byte(target)))
	err = release.Guard(func() error {
		in, err = x.inspect()
		return err
	})
	var refusal status.Code
	if errors.As(err, &refusal) {
		return Inspection{Status: refusal.HTTP(), Body: refusal.Body()}, nil
	}
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

func (x *exchange) inspect() (Inspection, error) {
	if code := route.Parse(x.rq.Path, x.rq.Query, &x.q); code != status.OK {
		return Inspection{}, code
	}
	switch op := x.q.Op.Operation(); {
	case op.Answerer == api.AnswerValidKey, op.Answerer == api.AnswerRequestToken, op.Answerer == api.AnswerGuestSession:
		return Inspection{}, fmt.Errorf("%s is answered by a running edge alone", x.rq.Path)
	case op.Auth != api.AuthBearer:
		return Inspection{}, status.AuthFailed
	}
	in := Inspection{Status: statusOK}
	x.rq.AcceptEncoding = []byte("gzip")
	x.rs.x = x
	if err := x.answer(); err != nil {
		return Inspection{}, err
	}
	in.GzipBytes = x.rs.Len()
	x.c.reset()
	x.open(x.edge, x.rel)
	x.rq.AcceptEncoding = nil
	if err := x.answer(); err != nil {
		return Inspection{}, err
	}
	var body bytes.Buffer
	if err := x.rs.WriteBody(&body); err != nil {
		return Inspection{}, err
	}
	in.Body, in.ETag = body.Bytes(), string(x.rs.ETag)
	if x.rs.Class == Ready { // its stored form is the whole gzip member
		in.Pieces = []Piece{{Kind: "static", Raw: len(in.Body), Stored: in.GzipBytes, CRC: crc32.ChecksumIEEE(in.Body)}}
	} else {
		in.Pieces = inspectPieces(&x.c.answer, in.Body)
	}
	return in, nil
}

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

func inspectPieces(a *splice.Answer, body []byte) []Piece {
	var out []Piece
	var off int64
	a.Parts(func(literal []byte, s *release.Segment) {
		piece := Piece{Kind: "literal", Offset: off, Raw: len(literal), Stored: storedBlock + len(literal), Text: string(literal)}
		if s != nil {
			piece = Piece{Kind: "segment", Offset: off, Raw: int(s.RawLen), Stored: len(s.Stored)}
		}
		end := off + int64(piece.Raw)
		piece.CRC = crc32.ChecksumIEEE(body[off:end])
		out = append(out, piece)
		off = end
	})
	return out
}
