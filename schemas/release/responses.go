package release

import "github.com/reelsplice/reelsplice/schemas/fragment"

// ResponseCounts counts the possible responses of resources. Manifests of earlier programs have none.
type ResponseCounts struct {
	// SubRequests counts the resources of a kind that have a sub-request: "movie/credits".
	SubRequests map[string]int64 `json:"sub_requests,omitempty"`
	// Languages counts the resources with details in a language, besides the one that all have: "de".
	Languages map[string]int64 `json:"languages,omitempty"`
}

// Add adds the counts of a part.
func (a *ResponseCounts) Add(o ResponseCounts) {
	for name, n := range o.SubRequests {
		a.SubRequests[name] += n
	}
	for name, n := range o.Languages {
		a.Languages[name] += n
	}
}

// A ResponseCounter makes ResponseCounts. Make it before use.
type ResponseCounter map[responseKey]int64

// A responseKey is a sub-request of a kind, or a language with kind and sub 0.
type responseKey struct {
	kind     fragment.Kind
	sub      fragment.Sub
	language fragment.Variant
}

// addRows counts each sub-request and language of a resource once. The rows of its fragments are sorted by sub-request,
// then by language.
func (c ResponseCounter) addRows(kind fragment.Kind, rows []byte) {
	if kind == 0 || kind >= fragment.KindAlias { // no path leads to it
		return
	}
	var last responseKey
	for ; len(rows) >= fragmentLen; rows = rows[fragmentLen:] {
		a := fragment.AddressOf(le.Uint64(rows))
		if a.Sub != last.sub {
			last.sub = a.Sub
			if !a.Sub.Internal() {
				c[responseKey{kind: kind, sub: a.Sub}]++
			}
		}
		if language := a.Variant.Bare(); a.Sub == fragment.SubDetails && language != last.language && a.Variant.IsLanguage() {
			last.language = language
			c[responseKey{language: language}]++
		}
	}
}

// Add counts the sub-requests and languages of a resource.
func (c ResponseCounter) Add(e Entry) {
	n := fragmentLen * uint64(e.Len())
	e.p.check(e.table, n)
	c.addRows(fragment.Kind(e.Key()[0]), e.p.data[e.table:][:n])
}

// Counts returns the counts by their names in a manifest.
func (c ResponseCounter) Counts() ResponseCounts {
	a := ResponseCounts{map[string]int64{}, map[string]int64{}}
	for key, n := range c {
		if key.kind == 0 {
			a.Languages[key.language.String()] = n
		} else {
			a.SubRequests[key.kind.String()+"/"+key.sub.String()] = n
		}
	}
	return a
}
