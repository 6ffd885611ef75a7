package edge

import (
	"bytes"
	"fmt"
	"slices"
	"unsafe"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/splice"
)

// An Origin says what a piece is, as far as one fragment has all of it.
type Origin struct {
	// Sub is the part of the response that the piece belongs to: "details", or the name of the
	// sub-request that was asked for or appended, such as "credits" or "season/1".
	Sub string `json:"sub,omitempty"`
	// Fragment is the sub-request whose fragment has the piece: Sub's own, or that of a row in it.
	Fragment string `json:"fragment,omitempty"`
	Language string `json:"language,omitempty"` // of the fragment: "de" or "de-AT"; "" for none
	Resource string `json:"resource,omitempty"` // that has the fragment: "movie/550"
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

// A trace is the fragments of a response in the order in which they begin. Only people who look at
// a response have one.
type trace struct {
	spans []span
	open  []int // spans around the piece that origin was asked for last, innermost last
	next  int   // the first span that origin has not come to
}

// A span is the bytes of the identity body that come from one fragment and those in it.
type span struct {
	from, to int
	fragment release.Fragment
	sub      string // the appended name of the object around it; "" for none
}

// bytes is how much memory t holds.
func (t *trace) bytes() int { return cap(t.spans) * int(unsafe.Sizeof(span{})) }

// begin begins the span of a fragment where a ends, and returns what ends it.
func (t *trace) begin(f *release.Fragment, a *splice.Answer) (end func()) {
	i := len(t.spans)
	t.spans = append(t.spans, span{from: a.RawLen(), fragment: *f})
	return func() { t.spans[i].to = a.RawLen() }
}

// name gives the spans the names of the appended objects that they are in.
func (t *trace) name(body []byte, appends []route.Append) {
	next := 0
	for at := 1; at < len(body)-1 && len(appends) > 0; at++ {
		colon, end := fragment.FieldEnd(body, at)
		if end < 0 {
			return // the spans keep the names of their fragments
		}
		sub := ""
		if slices.ContainsFunc(appends, func(a route.Append) bool { return bytes.Equal(a.Property, body[at+1:colon-1]) }) {
			sub = string(body[at+1 : colon-1])
		}
		for ; next < len(t.spans) && t.spans[next].from < end; next++ {
			t.spans[next].sub = sub
		}
		at = end // at the comma
	}
}

// origin returns the origin of a piece. Pieces are asked for in their order.
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

// leave closes the spans that end at an offset or before it.
func (t *trace) leave(at int) {
	for len(t.open) > 0 && t.spans[t.open[len(t.open)-1]].to <= at {
		t.open = t.open[:len(t.open)-1]
	}
}

// originOf describes a piece of inner, which is in outer or is outer.
func originOf(outer, inner *span) Origin {
	e, a, ok := inner.fragment.Owner()
	if !ok {
		return Origin{}
	}
	o := Origin{Sub: outer.sub, Fragment: a.Sub.String(), Language: languageName(a.Variant), Resource: resourceName(e.Key())}
	if o.Sub == "" {
		if _, whole, ok := outer.fragment.Owner(); ok {
			o.Sub = whole.Sub.String()
		}
	}
	return o
}

// languageName returns a variant as requests name it: "de", "de-AT", "null" for rows of no language, ""
// for the form without one.
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
// "default/movie" for what resources of a kind have in common.
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
