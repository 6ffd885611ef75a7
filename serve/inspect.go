package serve

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"reelsplice/schemas/api"
	"reelsplice/schemas/release"
	"reelsplice/serve/query"
	"reelsplice/serve/route"
	"reelsplice/serve/splice"
	"reelsplice/serve/static"
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
	Kind   string // "segment", "literal", or "static" for an answer that no release holds
	Offset int64  // of its first byte in the identity body
	Raw    int    // bytes in the identity body
	Stored int    // bytes in the gzip body
	CRC    uint32 // CRC-32 of the raw bytes
	Text   string // of a literal
}

// Inspect answers a GET of target, a path with its query, from rel as the edge does,
// but without asking for a credential. Refusals are answers; the error is about
// release bytes that break the format, and about what only a running edge answers:
// tokens and the like. The answers of package static need no release: rel may be nil.
// They are those of the default configuration.
func Inspect(rel *release.Reader, target string) (in Inspection, err error) {
	err = release.Guard(func() error {
		in, err = inspect(rel, target)
		return err
	})
	return in, err
}

func inspect(rel *release.Reader, target string) (Inspection, error) {
	var q route.Request
	path, query := splitURI(afterHost([]byte(target)))
	if code := route.Parse(path, query, &q); code != route.CodeOK {
		return inspectRefusal(refusal(code, ""))
	}
	if isQuery(q.Op) {
		return inspectQuery(rel, &q)
	}
	if !isList(q.Op) && (q.Kind == 0 || q.Op.Operation().Auth != api.AuthBearer) {
		return inspectStatic(&q, path)
	}
	if rel == nil {
		return inspectRefusal(&errNoRelease)
	}
	var c composer
	compose := func() error { return c.compose(rel, &q) }
	if isList(q.Op) {
		compose = func() error { return c.publicList(rel, &q, query) }
	}
	if err := compose(); err != nil {
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

// afterHost returns what follows the host in a URL, "/" when nothing does, and a path as it is.
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

// inspectQuery answers an operation over the whole catalogue, as of today.
func inspectQuery(rel *release.Reader, q *route.Request) (Inspection, error) {
	if rel == nil {
		return inspectRefusal(&errNoRelease)
	}
	var c composer
	l := querier{engine: query.OpenCache(rel, 0), now: time.Now()}
	if err := l.compose(&c, rel, q); err != nil {
		return inspectRefusal(err)
	}
	return inspectPacked(&c)
}

// inspectPacked returns an answer that is compressed as a whole.
func inspectPacked(c *composer) (Inspection, error) {
	body, err := c.answer.AppendIdentity(nil)
	if err != nil {
		return Inspection{}, err
	}
	var p splice.Packer
	packed, err := p.AppendGzip(nil, &c.answer)
	return Inspection{
		Status: 200, Body: body, ETag: string(c.answer.AppendETag(nil)),
		GzipBytes: len(packed), Pieces: inspectPieces(&c.answer, body),
	}, err
}

// defaultStatic holds the static answers of the default configuration.
var defaultStatic = sync.OnceValues(func() (*static.Set, error) { return static.New(static.Options{}) })

// inspectStatic answers what needs no release. Its one piece is no literal of an
// answer that is spliced, so its stored form is the whole gzip member.
func inspectStatic(q *route.Request, path []byte) (Inspection, error) {
	set, err := defaultStatic()
	if err != nil {
		return Inspection{}, err
	}
	b, ok := set.Answer(q)
	switch {
	case ok:
	case isStateless(q.Op):
		return Inspection{}, fmt.Errorf("%s is answered by a running edge alone", path)
	case q.Op.Operation().Auth != api.AuthBearer:
		return inspectRefusal(&errNoSession)
	default:
		return inspectRefusal(&errNotFound)
	}
	if len(q.Appends()) > 0 {
		var c composer
		c.joinStatic(set, q, b)
		return inspectPacked(&c)
	}
	return Inspection{
		Status: 200, Body: b.Identity, ETag: string(b.ETag), GzipBytes: len(b.Gzip),
		Pieces: []Piece{{Kind: "static", Raw: len(b.Identity), Stored: len(b.Gzip), CRC: crc32.ChecksumIEEE(b.Identity)}},
	}, nil
}

// isStateless reports whether an operation is answered out of the credential and the
// edge's own key.
func isStateless(op api.Op) bool {
	switch op {
	case api.OpAuthenticationValidateKey, api.OpAuthenticationCreateRequestToken, api.OpAuthenticationCreateGuestSession:
		return true
	}
	return false
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
