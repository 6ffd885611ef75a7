// Package page contains the documents that the edge serves to people: the page at "/", whose HTML, modules, styles and
// pictures are embedded without a build step, and the OpenAPI document. Each is compressed at the first request for it.
// A Summary describes the current release to the page.
package page

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/serve/static"
)

//go:embed assets
var assets embed.FS

// Paths of documents.
const (
	Folder      = "/page/" // has all but the page itself
	OpenAPIPath = "/openapi.json"
	FaviconPath = "/favicon.ico" // browsers request it unasked
)

// A Document is a body with its headers. It is shared and must not be changed.
type Document struct {
	*static.Body
	Type   string // value of Content-Type
	Policy string // value of Content-Security-Policy, "" without a page
}

// types are the values of Content-Type by the extension of a name. Other files are not documents.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".json": "application/json; charset=utf-8",
	".svg":  "image/svg+xml",
	".ico":  "image/x-icon",
}

// A Set has the documents by their path. It is safe for concurrent use.
type Set struct {
	policy    string
	documents map[string]func() *Document
}

// New returns the OpenAPI document. WithPage adds the documents of the page.
func New() *Set {
	s := &Set{documents: map[string]func() *Document{}}
	s.add(OpenAPIPath, "openapi.json", func() (body, packed []byte) { return api.OpenAPI(), api.OpenAPIGzip() })
	return s
}

// WithPage adds the page. Images lie at imageBaseURL, an absolute URL. The error names an embedded file that is not a
// document.
func (s *Set) WithPage(imageBaseURL string) error {
	s.policy = policy(imageBaseURL)
	files, err := fs.ReadDir(assets, "assets")
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	for _, f := range files {
		content, err := fs.ReadFile(assets, "assets/"+f.Name())
		if err == nil && types[path.Ext(f.Name())] == "" {
			err = errors.New("unknown type of file")
		}
		if err != nil {
			return fmt.Errorf("read the page: %s: %w", f.Name(), err)
		}
		s.add(Folder+f.Name(), f.Name(), func() (body, packed []byte) { return content, nil })
	}
	s.documents["/"] = s.documents[Folder+"index.html"]
	delete(s.documents, Folder+"index.html") // its relative links would not work there
	s.documents[FaviconPath] = s.documents[Folder+"favicon.ico"]
	return nil
}

// add adds a document with the type of name and the forms that read returns; see static.BodyOf.
func (s *Set) add(docPath, name string, read func() (body, packed []byte)) {
	s.documents[docPath] = sync.OnceValue(func() *Document {
		return &Document{Body: static.BodyOf(read()), Type: types[path.Ext(name)], Policy: s.policy}
	})
}

// Find returns the document at a path, and false for other paths.
func (s *Set) Find(docPath []byte) (*Document, bool) {
	document, ok := s.documents[string(docPath)]
	if !ok {
		return nil, false
	}
	return document(), true
}

// Policy returns the Content-Security-Policy of the page; "" without it.
func (s *Set) Policy() string { return s.policy }

// policy returns the Content-Security-Policy: nothing but this server's own files, and pictures from
// the base URL of images.
func policy(imageBaseURL string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: " + imageSource(imageBaseURL) +
		"; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// imageSource returns the origin of a URL for a policy, or only its scheme if a policy cannot name the host, such as
// one that is not ASCII.
func imageSource(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "https:"
	}
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:"
	if u.Host == "" || strings.ContainsFunc(u.Host, func(r rune) bool { return !strings.ContainsRune(plain, r) }) {
		return u.Scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}
