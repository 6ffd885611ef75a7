package auth

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of a token file.
const (
	// maxFileSize bounds a token file, in bytes: about 100 000 tokens.
	maxFileSize = 16 << 20
	// maxLine bounds one line, comments too, in bytes without its end.
	maxLine = 4096
	// maxName bounds the name of a token, in bytes.
	maxName = 128
	// maxAccount bounds the account of a token, in bytes: its id, or a guest's session.
	maxAccount = 32
)

// A Kind is the use of a credential. A credential of one kind is never accepted as another.
type Kind uint8

// The kinds.
const (
	// KindToken is a bearer token, or the api_key of a request. With an account, it is a
	// user's token of version 4 of the API.
	KindToken Kind = iota
	// KindSession is the session_id of a user, which is sent with a token.
	KindSession
	// KindGuest is the guest_session_id of a guest, likewise.
	KindGuest
)

var kindNames = [...]string{KindToken: "token", KindSession: "session", KindGuest: "guest"}

// String returns the kind's name in the token file.
func (k Kind) String() string { return kindNames[k] }

// A Record is one line of a token file.
type Record struct {
	Hash    [sha256.Size]byte // SHA-256 of the token
	Kind    Kind
	Account string    // id of the account in the catalogue; "" for none
	Name    string    // for people and logs; unique among unrevoked tokens
	Created time.Time // UTC, whole seconds; zero when the file has none
	Expires time.Time // UTC, whole seconds: the first second it is refused; zero means never
	Revoked time.Time // UTC, whole seconds; zero means not revoked. A future time revokes at once too.
	Scopes  Scopes    // empty unless Kind is KindToken
	Limits            // zero unless Kind is KindToken
	// Void is why a token is always refused: it has a field, a kind or a scope of a later version. It is "" for
	// tokens that this version can read in full.
	Void string

	line int // in the file, from 1
	end  int // offset after the last byte of the line, before its line end
}

// A file that starts with fileMark has the line fileEnd after its tokens. A file cut between two lines lacks
// it. Lines added by hand after it count too.
const (
	fileMark = "# Tokens of reelsplice, one a line, fields after tabs, down to the line \"# end\". Only the SHA-256 of a token is kept."
	fileEnd  = "# end"
)

// parse returns the records of a token file; name is for messages. Each line is the SHA-256 of a token in hex, then
// fields of the form key=value, each after one tab:
//
//	name=      required; printable, at most maxName bytes, unique among unrevoked tokens
//	scopes=    of a token: read, for all but accounts' data, or account:ID, for the data of one account
//	           too; with commas between them; all, or absent, for every GET of the API
//	kind=      token, session or guest; token when absent
//	account=   id of an account, 24 hex digits of one, or 32 of a guest's session; required
//	           for a session and a guest
//	created=   RFC 3339 time
//	rate=      of a token: requests a second, on average; burst= at once after a pause, as many as
//	           rate when absent; concurrent= at the same time; without bound when absent
//	expires=   RFC 3339 time, or never (also when absent)
//	revoked=   RFC 3339 time; the token is refused, the line stays as history
//
// Blank lines and lines that start with # are ignored. An unknown field, kind or scope makes its token void, since a
// later version may restrict the token by it: the other lines count, revocations among them. Any other fault makes the
// whole file an error: a typo in a revocation must not mean "not revoked". A truncated file is an error too, because
// the lost part may contain a revocation: its last line has no newline, it is empty, or it starts with fileMark and has
// no line fileEnd.
func parse(name string, data []byte) ([]Record, error) {
	if word := bytes.TrimSpace(data); len(word) == TokenLen && bytes.HasPrefix(word, []byte(tokenPrefix)) {
		return nil, fmt.Errorf("%s: %w", name, ErrIsToken)
	}
	cut := ""
	switch {
	case len(data) == 0:
		cut = "empty: want a line at least, if only a comment"
	case data[len(data)-1] != '\n':
		cut = "cut off: want a newline at the end of the last line"
	case bytes.HasPrefix(data, []byte(fileMark)) && !bytes.Contains(data, []byte("\n"+fileEnd+"\n")):
		cut = fmt.Sprintf("cut off: want the line %q after the tokens", fileEnd)
	}
	if cut != "" {
		return nil, fmt.Errorf("%s:%d: %s", name, bytes.Count(data, []byte{'\n'})+1, cut)
	}
	var records []Record
	hashes, names := map[[sha256.Size]byte]int{}, map[string]int{} // lines; names of unrevoked tokens
	for off, line := 0, 1; off < len(data); line++ {
		text, _, _ := bytes.Cut(data[off:], []byte{'\n'})
		next := off + len(text) + 1
		text = bytes.TrimSuffix(text, []byte{'\r'}) // some editors end lines with CR LF
		r, err := parseLine(text)
		switch {
		case err != nil:
		case r == nil:
			off = next
			continue
		case hashes[r.Hash] > 0:
			err = fmt.Errorf("hash: already on line %d: want each token once", hashes[r.Hash])
		case r.Revoked.IsZero() && names[r.Name] > 0:
			err = fmt.Errorf("field \"name\": %q: already on line %d: want a name unique among unrevoked tokens", r.Name, names[r.Name])
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		r.line, r.end = line, off+len(text)
		if hashes[r.Hash] = line; r.Revoked.IsZero() {
			names[r.Name] = line
		}
		records = append(records, *r)
		off = next
	}
	return records, nil
}

// appendRecord appends r as a line of a token file, with its newline.
func appendRecord(dst []byte, r *Record) []byte {
	dst = appendField(hex.AppendEncode(dst, r.Hash[:]), "name", r.Name)
	if r.Kind != KindToken {
		dst = appendField(dst, "kind", r.Kind.String())
	}
	dst = appendField(dst, "account", r.Account)
	if r.Scopes != AllScopes { // earlier versions refuse a file with the word
		dst = appendField(dst, "scopes", string(r.Scopes))
	}
	for _, l := range []struct {
		name string
		n    int
	}{{"rate", r.Rate}, {"burst", r.Burst}, {"concurrent", r.Concurrent}} {
		if l.n > 0 {
			dst = appendField(dst, l.name, strconv.Itoa(l.n))
		}
	}
	dst = appendField(dst, "created", timeText(r.Created))
	dst = appendField(dst, "expires", cmp.Or(timeText(r.Expires), "never"))
	return append(appendField(dst, "revoked", timeText(r.Revoked)), '\n')
}

// appendField appends a field that has a value.
func appendField(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	return fmt.Appendf(dst, "\t%s=%s", name, value)
}

// parseLine returns nil for a blank line or a comment.
func parseLine(text []byte) (*Record, error) {
	if len(text) > maxLine {
		return nil, fmt.Errorf("line of %d bytes: want at most %d", len(text), maxLine)
	}
	if trimmed := bytes.TrimSpace(text); len(trimmed) == 0 || trimmed[0] == '#' {
		return nil, nil
	}
	hash, rest, more := strings.Cut(string(text), "\t")
	r := new(Record)
	// Messages omit the text: it may be a token, put there by mistake.
	const wantHash = "want 64 hex digits (the SHA-256 of the token, not the token) followed by a tab"
	if len(hash) != hex.EncodedLen(len(r.Hash)) {
		return nil, fmt.Errorf("hash: %d bytes: %s", len(hash), wantHash)
	}
	if _, err := hex.Decode(r.Hash[:], []byte(hash)); err != nil {
		return nil, fmt.Errorf("hash: not hex: %s", wantHash)
	}
	present := map[string]bool{}
	for i := 2; more; i++ {
		var field string
		field, rest, more = strings.Cut(rest, "\t")
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			return nil, fmt.Errorf("field number %d: no \"=\": want key=value", i)
		}
		if present[key] {
			return nil, fmt.Errorf("field %q: %q: given twice: want it once", key, clip(value))
		}
		present[key] = true
		if err := r.set(key, value); err != nil {
			return nil, err
		}
	}
	if !present["name"] {
		return nil, errors.New(`field "name": missing: want name=... after the hash and a tab`)
	}
	if r.Void != "" {
		return r, nil // the unknown field may change the meaning of the others
	}
	if r.Kind != KindToken && r.Account == "" {
		return nil, fmt.Errorf("field \"account\": missing: want account=... of a %s", r.Kind)
	}
	if r.Kind == KindToken && !present["scopes"] {
		r.Scopes = AllScopes
	}
	if want := r.wantLimits(); want != "" {
		return nil, errors.New(want)
	}
	return r, nil
}

// wantLimits returns the fault of r's limits as a whole, or "".
func (r *Record) wantLimits() (want string) {
	switch {
	case r.Kind != KindToken && (r.Limits != Limits{} || r.Scopes != ""):
		return fmt.Sprintf("a %s has scopes or limits: want them of the token that is sent with it", r.Kind)
	case min(r.Rate, r.Burst, r.Concurrent) < 0 || max(r.Rate, r.Burst, r.Concurrent) > maxLimit:
		return fmt.Sprintf("rate, burst and concurrent are %d, %d and %d: want 0 to %d", r.Rate, r.Burst, r.Concurrent, maxLimit)
	case r.Burst > 0 && r.Rate == 0:
		return fmt.Sprintf("burst is %d without a rate: want both", r.Burst)
	}
	return ""
}

// maxLimit bounds the numbers of Limits, beyond any use.
const maxLimit = 1_000_000

func parseLimit(text string) (n int, want string) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, "a number of 1 or more"
	}
	return n, ""
}

const wantTime = "RFC 3339 time"

// set sets a field of r.
func (r *Record) set(key, value string) error {
	want := ""
	setTime := func(t *time.Time, wantForm string) {
		// Later years have no form in RFC 3339, and the first second of the year 1 is Go's zero time: "never".
		const lastSecond = 253402300799 // 9999-12-31T23:59:59Z
		parsed, err := time.Parse(time.RFC3339, value)
		if err != nil || parsed.Unix() <= 0 || parsed.Unix() > lastSecond {
			want = wantForm
			return
		}
		*t = time.Unix(parsed.Unix(), 0).UTC()
	}
	switch key {
	case "name":
		r.Name, want = value, wantName(value)
	case "scopes":
		if want := Scopes(value).want(); want != "" {
			r.void("field %q: %q: want %s", key, clip(value), want)
		} else {
			r.Scopes = Scopes(value)
		}
	case "rate":
		r.Rate, want = parseLimit(value)
	case "burst":
		r.Burst, want = parseLimit(value)
	case "concurrent":
		r.Concurrent, want = parseLimit(value)
	case "kind":
		if i := slices.Index(kindNames[:], value); i >= 0 {
			r.Kind = Kind(i)
		} else {
			r.void("field %q: %q: want token, session or guest", key, clip(value))
		}
	case "account":
		r.Account, want = value, wantAccount(value)
	case "created":
		setTime(&r.Created, wantTime)
	case "expires":
		if value != "never" {
			setTime(&r.Expires, wantTime+` or "never"`)
		}
	case "revoked":
		setTime(&r.Revoked, wantTime)
	default:
		r.void("field %q: unknown: want name, kind, account, scopes, rate, burst, concurrent, created, expires or revoked", clip(key))
	}
	if want != "" {
		return fmt.Errorf("field %q: %q: want %s", key, clip(value), want)
	}
	return nil
}

// void makes a token void. The first reason stays.
func (r *Record) void(format string, args ...any) {
	if r.Void == "" {
		r.Void = fmt.Sprintf(format, args...)
	}
}

// timeText returns t in the form of a token file, "" for the zero time.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// wantName refuses names that a terminal or a log line would not show unchanged.
func wantName(name string) (want string) {
	if name == "" || len(name) > maxName {
		return fmt.Sprintf("1 to %d bytes", maxName)
	}
	if strings.TrimSpace(name) != name || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "printable characters without blanks at the ends"
	}
	return ""
}

// wantAccount accepts only hex digits, so decimal ids too.
func wantAccount(account string) (want string) {
	if account == "" || len(account) > maxAccount || strings.Trim(account, "0123456789abcdef") != "" {
		return "the number of an account, its 24 hex digits, or the 32 of a guest's session"
	}
	return ""
}

// clip shortens foreign text for messages.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
