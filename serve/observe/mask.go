package observe

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// masked replaces a secret.
const masked = "***"

// Maximum lengths of fields, in bytes. The edge refuses longer paths and queries.
const (
	maxMethod = 32
	maxPath   = 2 << 10
	maxQuery  = 5 << 10
	maxAgent  = 512
	maxText   = 8 * maxAgent // before escapes are decoded
)

// secretEnds are the ends of the names of parameters that hold credentials: api_key, session_id, guest_session_id,
// request_token, and others that clients send by mistake.
var secretEnds = []string{"key", "token", "session_id", "session", "password", "secret", "authorization", "auth", "signature", "jwt"}

// tokenStarts are the first letters of tokens, in lower case: our own, and a JWT such as TMDB's read access tokens.
var tokenStarts = []string{"rsp_", "eyjhbgci", "bearer "}

// guestPath comes before the session of a guest in a path.
const guestPath = "guest_session/"

// guestEnds may follow that session.
var guestEnds = []string{"/rated/movies", "/rated/tv", "/rated/tv/episodes"}

// maskQuery returns a raw query without credentials, as text of visible ASCII.
func maskQuery(raw []byte) string {
	pairs := strings.Split(string(raw), "&")
	for i, pair := range pairs {
		pairs[i] = mask(pair)
	}
	return clip(visible(strings.Join(pairs, "&")), maxQuery)
}

// mask returns a text up to its first credential. A text with a credential loses its escapes.
func mask(escaped string) string {
	plain, first := decoded(escaped), -1
	text := lower(plain)
	found := func(i int) {
		if i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	for _, s := range tokenStarts {
		found(strings.Index(text, s))
	}
	for i := range text {
		switch text[i] {
		case '=':
		case ':': // only after a name in JSON, because titles have colons
			if !strings.HasSuffix(strings.TrimRight(text[:i], " "), `"`) {
				continue
			}
		default:
			continue
		}
		if namesSecret(text[:i]) {
			found(i + 1)
		}
	}
	if first < 0 {
		return escaped
	}
	return plain[:first] + masked
}

// namesSecret reports whether a text in lower case ends with the name of a credential, as programs write it: api_key,
// api_key[], api_key[0], x[api_key], "api_key".
func namesSecret(text string) bool {
	for range maxIndexes {
		text = strings.TrimRight(text, " \t")
		name := strings.TrimRight(text, "[]\"' \t")
		for _, end := range secretEnds {
			if strings.HasSuffix(name, end) {
				return true
			}
		}
		open := strings.LastIndexByte(text, '[')
		if open < 0 || !strings.HasSuffix(text, "]") {
			return false
		}
		text = text[:open] // without the last index
	}
	return false
}

// maxIndexes bounds the indexes after a name that are examined.
const maxIndexes = 4

// MaskPath returns a raw path without credentials, as text of visible ASCII.
func MaskPath(raw []byte) string {
	path := string(raw)
	plain := decoded(path)
	if i := strings.Index(lower(plain), guestPath); i >= 0 {
		head, rest := plain[:i+len(guestPath)], strings.TrimRight(plain[i+len(guestPath):], "/")
		if rest != "new" {
			path = head + masked
			for _, end := range guestEnds {
				if strings.HasSuffix(rest, end) {
					path += end
					break
				}
			}
		}
	}
	return clip(visible(mask(path)), maxPath)
}

// maskMethod returns a method, which clients choose, without credentials.
func maskMethod(method []byte) string {
	return clip(visible(mask(string(method))), maxMethod)
}

// MaskText returns a text of a client, such as the value of a header, without credentials.
func MaskText(value []byte) string {
	return clip(printable(mask(string(value[:min(len(value), maxText)]))), maxAgent)
}

// maxEscapes bounds the levels of escapes that are decoded.
const maxEscapes = 4

// decoded returns a text without percent-escapes, nested ones included. Malformed escapes stay.
func decoded(s string) string {
	for range maxEscapes {
		if !strings.ContainsAny(s, "%+") {
			break
		}
		next := escape.ReplaceAllStringFunc(strings.ReplaceAll(s, "+", " "), func(code string) string {
			b, _ := hex.DecodeString(code[1:]) // two digits
			return string(b)
		})
		if next == s {
			break
		}
		s = next
	}
	return s
}

var escape = regexp.MustCompile("%[0-9A-Fa-f]{2}")

// lower returns s with its ASCII letters in lower case, as long as s is.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// visible returns s with all bytes but visible ASCII percent-escaped.
func visible(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) < 0 {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// printable returns s with a replacement for each rune that is not printable.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// clip cuts s after n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}
