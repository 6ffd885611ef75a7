package serve

import (
	"errors"
	"fmt"
	"hash/crc32"

	"reelsplice/schemas/api"
	"reelsplice/schemas/release"
	"reelsplice/serve/route"
	"reelsplice/serve/splice"
	"reelsplice/serve/status"
)

// An Inspection is an answer and what it is made of.
type Inspection struct {
	Status    int
	Body      []byte  // identity
	ETag      string  // "" unless Status is 200
	GzipBytes int     // length of the gzip form; 0 unless Status is 200
	Pieces    []Piece // none unless Status is 200
}

// A Piece is one run of bytes of an answer.
type Piece struct {
	Kind   string // "segment" or "literal"
	Offset int64  // of its first byte in the identity body
	Raw    int    // bytes in the identity body
	Stored int    // bytes in the gzip body
	CRC    uint32 // CRC-32 of the raw bytes
	Text   string // of a literal
}

// Inspect answers a GET of target, a path with its query, from rel as the edge does,
// but without asking for a credential. Refusals are answers; the error is about
// release bytes that break the format, and about what no release holds.
func Inspect(rel *release.Reader, target string) (Inspection, error) {
	var q route.Request
	path, query := splitURI([]byte(target))
	if code := route.Parse(path, query, &q); code != route.CodeOK {
		return inspectRefusal(refusal(code, ""))
	}
	if q.Kind == 0 || q.Op.Operation().Auth != api.AuthBearer {
		return Inspection{}, fmt.Errorf("%s is not answered from a release", path)
	}
	var c composer
	if err := c.compose(rel, &q); err != nil {
		return inspectRefusal(err)
	}
	body, err := c.answer.AppendIdentity(nil)
	if err != nil {
		return Inspection{}, err
	}
	return Inspection{
		Status: 200, Body: body, ETag: string(c.answer.AppendETag(nil)),
		GzipBytes: c.answer.GzipLen(), Pieces: inspectPieces(&c.answer, body),
	}, nil
}

// inspectRefusal turns a refusal into its answer and passes on any other error.
func inspectRefusal(err error) (Inspection, error) {
	var se *status.Error
	if !errors.As(err, &se) {
		return Inspection{}, err
	}
	return Inspection{Status: se.Code.HTTP(), Body: se.Code.Body()}, nil
}

// storedBlock is what a stored deflate block takes beside its bytes (RFC 1951).
const storedBlock = 5

func inspectPieces(a *splice.Answer, body []byte) []Piece {
	var out []Piece
	var off int64
	a.Parts(func(p splice.Part) {
		piece := Piece{Kind: "literal", Offset: off, Raw: len(p.Literal), Stored: storedBlock + len(p.Literal), Text: string(p.Literal)}
		if s := p.Segment; s != nil {
			piece = Piece{Kind: "segment", Offset: off, Raw: int(s.RawLen), Stored: len(s.Stored)}
		}
		end := off + int64(piece.Raw)
		piece.CRC = crc32.ChecksumIEEE(body[off:end])
		out = append(out, piece)
		off = end
	})
	return out
}
