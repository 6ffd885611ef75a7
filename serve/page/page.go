// Package page has the documents of the page at "/": HTML, modules, styles and pictures that are
// embedded as they are written, without a build step. Each is compressed at the first request for it.
package page

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/zeebo/xxh3"
)

//go:embed assets
var assets embed.FS

// Folder is where all documents but the page itself lie.
const Folder = "/page/"

// A Document is a body as it goes over the wire. It is shared and must not be changed.
type Document struct {
	Type     string // value of Content-Type
	Policy   string // value of Content-Security-Policy
	ETag     []byte // weak, the same for both encodings
	Identity []byte
	Gzip     []byte // one member
}

// types are the values of Content-Type by the extension of a name. Other files are no documents.
var types = map[string]string{
	".html":        "text/html; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".css":         "text/css; charset=utf-8",
	".json":        "application/json; charset=utf-8",
	".svg":         "image/svg+xml",
	".png":         "image/png",
	".webmanifest": "application/manifest+json",
}

// A Set has the documents by their path. It is safe for concurrent use.
type Set struct {
	policy    string
	documents map[string]func() *Document
}

// New returns the documents of a page whose images lie at imageBaseURL, an absolute URL.
// The error names an embedded file that is no document.
func New(imageBaseURL string) (*Set, error) {
	s := &Set{policy: policy(imageBaseURL), documents: map[string]func() *Document{}}
	files, err := fs.ReadDir(assets, "assets")
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	for _, f := range files {
		if types[path.Ext(f.Name())] == "" {
			return nil, fmt.Errorf("read the page: %s: unknown type of file", f.Name())
		}
		body, err := assets.ReadFile("assets/" + f.Name())
		if err != nil {
			return nil, fmt.Errorf("read the page: %w", err)
		}
		s.add(Folder+f.Name(), f.Name(), body)
	}
	s.documents["/"] = s.documents[Folder+"index.html"]
	return s, nil
}

// add adds a document whose type is that of name.
func (s *Set) add(at, name string, body []byte) {
	s.documents[at] = sync.OnceValue(func() *Document {
		return &Document{Type: types[path.Ext(name)], Policy: s.policy, ETag: etag(body), Identity: body, Gzip: compress(body)}
	})
}

// Find returns the document at a path, and false for other paths.
func (s *Set) Find(at []byte) (*Document, bool) {
	made, ok := s.documents[string(at)]
	if !ok {
		return nil, false
	}
	return made(), true
}

// Policy returns the Content-Security-Policy of the documents.
func (s *Set) Policy() string { return s.policy }

// compress returns body as one gzip member.
func compress(body []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // a level that there is
	_, _ = z.Write(body)                                    // a Buffer takes all
	_ = z.Close()
	return out.Bytes()
}

// etag returns the weak entity tag of a body.
func etag(body []byte) []byte {
	return fmt.Appendf(nil, `W/"%x"`, xxh3.Hash128(body).Bytes())
}
