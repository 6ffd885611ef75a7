package page

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

func TestDocuments(t *testing.T) {
	s := New()
	if err := s.WithPage("https://images.example/t/p/"); err != nil {
		t.Fatal(err)
	}
	for at := range s.documents {
		d, ok := s.Find([]byte(at))
		if !ok || d.Type == "" || d.Policy == "" || len(d.ETag) != 36 || len(d.Identity) == 0 {
			t.Errorf("%s = type %q, policy %q, tag %s, %d bytes", at, d.Type, d.Policy, d.ETag, len(d.Identity))
		}
		z, err := gzip.NewReader(bytes.NewReader(d.Gzip))
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		z.Multistream(false)
		if plain, err := io.ReadAll(z); err != nil || !bytes.Equal(plain, d.Identity) {
			t.Errorf("%s: gzip has %d bytes, %v, want the %d of identity", at, len(plain), err, len(d.Identity))
		}
	}
	for _, at := range []string{"", "/page/", "/page/none", "//", "/page/assets/index.html"} {
		if _, ok := s.Find([]byte(at)); ok {
			t.Errorf("%q is a document", at)
		}
	}
}

func TestImageSource(t *testing.T) {
	for base, want := range map[string]string{
		"https://image.tmdb.org/t/p/":       "https://image.tmdb.org",
		"http://127.0.0.1:9000/p":           "http://127.0.0.1:9000",
		"https://[::1]:8443/p/":             "https:",
		"https://bücher.example/p/":         "https:",
		"http://a;script-src.example/p/":    "http:",
		"https://user:secret@host.example/": "https://host.example",
		"ftp://host/":                       "https:",
		"":                                  "https:",
	} {
		if got := imageSource(base); got != want {
			t.Errorf("imageSource(%q) = %q, want %q", base, got, want)
		}
		if p := policy(base); strings.Count(p, ";") != 8 {
			t.Errorf("policy(%q) = %q, want nine directives", base, p)
		}
	}
}
