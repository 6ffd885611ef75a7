// Package auth decides whether a credential may read, and signs the short-lived values of TMDB's
// session flow. It works on bytes and knows no server.
//
// A token file keeps the SHA-256 of every token, never the token ([ParseFile] describes it; [Issue],
// [Add], [List] and [Revoke] edit it). [Live] follows the file and holds a [Table], which answers one
// request without allocating. Tokens carry 256 random bits, so a plain hash is enough: there is no
// dictionary to try, and a slow hash would only cost the server.
package auth

import (
	"fmt"
	"strings"
)

// Scope is a set of things a token may do.
type Scope uint8

// ScopeRead allows every GET of the public API.
const ScopeRead Scope = 1 << 0

// knownScopes lists every single scope; its names are those in the token file.
var knownScopes = [...]struct {
	scope Scope
	name  string
}{
	{ScopeRead, "read"},
}

// Has reports whether s holds every scope of want.
func (s Scope) Has(want Scope) bool { return s&want == want }

// String returns the names joined by commas, as in the token file.
func (s Scope) String() string { return string(appendScopes(nil, s)) }

func appendScopes(dst []byte, s Scope) []byte {
	n := len(dst)
	for _, k := range knownScopes {
		if !s.Has(k.scope) {
			continue
		}
		if len(dst) > n {
			dst = append(dst, ',')
		}
		dst = append(dst, k.name...)
	}
	return dst
}

// ParseScopes reads names joined by commas, such as "read".
func ParseScopes(text string) (Scope, error) {
	var s Scope
	for name := range strings.SplitSeq(text, ",") {
		one := scopeOf(name)
		if one == 0 {
			return 0, fmt.Errorf("scope %q: want one of %s", clip(name), everyScope())
		}
		s |= one
	}
	return s, nil
}

func scopeOf(name string) Scope {
	for _, k := range knownScopes {
		if k.name == name {
			return k.scope
		}
	}
	return 0
}

// everyScope is the set of all scopes there are.
func everyScope() Scope {
	var all Scope
	for _, k := range knownScopes {
		all |= k.scope
	}
	return all
}

// clip keeps foreign text in messages short.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
