package auth

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of a token file.
const (
	// MaxFileSize bounds a token file, in bytes: about 100 000 tokens.
	MaxFileSize = 16 << 20
	// MaxLine bounds one line, comments too, in bytes without its end.
	MaxLine = 4096
	// MaxName bounds the name of a token, in bytes.
	MaxName = 128
	// MaxAccount bounds the account of a token, in bytes: an id, or that of a guest's session.
	MaxAccount = 32
)

// A Kind is what a credential is for. A credential of one kind is never accepted as another.
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
}

// A file that starts with fileMark has the line fileEnd after its tokens. A file that was cut between two lines lacks
// it. Lines added by hand after it count too.
const (
	fileMark = "# Tokens of reelsplice, one a line, fields after tabs, down to the line \"# end\". Only the SHA-256 of a token is kept."
	fileEnd  = "# end"
)

// Parse returns the records of a token file; name is for messages. Each line is the SHA-256 of a token in hex, then
// fields of the form key=value, each after one tab:
//
//	name=      required; printable, at most MaxName bytes, unique among unrevoked tokens
//	scopes=    read, from files of earlier versions
//	kind=      token, session or guest; token when absent
//	account=   id of an account, 24 hex digits of one, or 32 of a guest's session; required
//	           for a session and a guest
//	created=   RFC 3339 time
//	expires=   RFC 3339 time, or never (also when absent)
//	revoked=   RFC 3339 time; the token is refused, the line stays as history
//
// Tokens have no scopes: they all allow every GET of the API. Files of earlier versions have the field with its one
// value.
//
// Blank lines and lines that start with # are ignored. One bad line makes the whole file an error: a
// typing error in a revocation must not read as "not revoked". A file that lost its end is an error too: its last line
// has no newline, it is empty, or it starts with fileMark and has no line fileEnd.
func Parse(name string, data []byte) ([]Record, error) {
	entries, err := parse(name, data)
	return records(entries), err
}

// appendRecord appends r as a line of a token file, with its newline.
func appendRecord(dst []byte, r *Record) []byte {
	dst = hex.AppendEncode(dst, r.Hash[:])
	for i := range fields {
		if value := fields[i].text(r); value != "" {
			dst = appendField(dst, fields[i].name, value)
		}
	}
	return append(dst, '\n')
}

func appendField(dst []byte, name, value string) []byte {
	return append(append(append(append(dst, '\t'), name...), '='), value...)
}

// entry is a Record and its place in the file, for edits that keep the rest of the file as it is.
type entry struct {
	Record
	line int // from 1
	end  int // offset after the last byte of the line, before its line end
}

func records(entries []entry) []Record {
	recs := make([]Record, len(entries))
	for i := range entries {
		recs[i] = entries[i].Record
	}
	return recs
}

// parse checks data line by line, and the rules that span lines.
func parse(name string, data []byte) ([]entry, error) {
	if word := bytes.TrimSpace(data); len(word) == TokenLen && bytes.HasPrefix(word, []byte(Prefix)) {
		return nil, fmt.Errorf("%s: %w", name, ErrIsToken)
	}
	if err := checkEnd(name, data); err != nil {
		return nil, err
	}
	var entries []entry
	seen := lineIndex{hashes: map[[sha256.Size]byte]int{}, names: map[string]int{}}
	for off, line := 0, 1; off < len(data); line++ {
		text, _, _ := bytes.Cut(data[off:], []byte{'\n'})
		next := off + len(text) + 1
		text = bytes.TrimSuffix(text, []byte{'\r'}) // some editors end lines with CR LF
		e, err := parseLine(text)
		if err == nil && e != nil {
			e.line, e.end = line, off+len(text)
			err = seen.add(e)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if e != nil {
			entries = append(entries, *e)
		}
		off = next
	}
	return entries, nil
}

// checkEnd refuses a file that lost its end, to a full disk or in a broken copy: the lost part may have held a
// revocation.
func checkEnd(name string, data []byte) error {
	var what string
	switch {
	case len(data) == 0:
		what = "empty: want a line at least, if only a comment"
	case data[len(data)-1] != '\n':
		what = "cut off: want a newline at the end of the last line"
	case bytes.HasPrefix(data, []byte(fileMark)) && !bytes.Contains(data, []byte("\n"+fileEnd+"\n")):
		what = fmt.Sprintf("cut off: want the line %q after the tokens", fileEnd)
	default:
		return nil
	}
	return fmt.Errorf("%s:%d: %s", name, bytes.Count(data, []byte{'\n'})+1, what)
}

// lineIndex finds hashes and names that occur twice in a file.
type lineIndex struct {
	hashes map[[sha256.Size]byte]int
	names  map[string]int // of unrevoked tokens
}

func (x lineIndex) add(e *entry) error {
	if line, ok := x.hashes[e.Hash]; ok {
		return fmt.Errorf("hash: already on line %d: want each token once", line)
	}
	x.hashes[e.Hash] = e.line
	if !e.Revoked.IsZero() {
		return nil
	}
	if line, ok := x.names[e.Name]; ok {
		return fmt.Errorf("field \"name\": %q: already on line %d: want a name unique among unrevoked tokens", e.Name, line)
	}
	x.names[e.Name] = e.line
	return nil
}

// parseLine returns nil for a blank line or a comment.
func parseLine(text []byte) (*entry, error) {
	if len(text) > MaxLine {
		return nil, fmt.Errorf("line of %d bytes: want at most %d", len(text), MaxLine)
	}
	if trimmed := bytes.TrimSpace(text); len(trimmed) == 0 || trimmed[0] == '#' {
		return nil, nil
	}
	hash, rest, more := strings.Cut(string(text), "\t")
	e := new(entry)
	if err := parseHash(&e.Hash, hash); err != nil {
		return nil, err
	}
	var have [len(fields)]bool
	for i := 2; more; i++ {
		var field string
		field, rest, more = strings.Cut(rest, "\t")
		if err := e.parseField(field, i, &have); err != nil {
			return nil, err
		}
	}
	if !have[fieldName] {
		return nil, errors.New(`field "name": missing: want name=... after the hash and a tab`)
	}
	if e.Kind != KindToken && e.Account == "" {
		return nil, fmt.Errorf("field \"account\": missing: want account=... of a %s", e.Kind)
	}
	return e, nil
}

// parseHash keeps the text out of its message: it may be a token, put there by mistake.
func parseHash(hash *[sha256.Size]byte, text string) error {
	const want = "want 64 hex digits (the SHA-256 of the token, not the token) followed by a tab"
	if len(text) != hex.EncodedLen(len(hash)) {
		return fmt.Errorf("hash: %d bytes: %s", len(text), want)
	}
	if _, err := hex.Decode(hash[:], []byte(text)); err != nil {
		return fmt.Errorf("hash: not hex: %s", want)
	}
	return nil
}

// A field is a field of a line, in the order in which appendRecord writes them.
type field struct {
	name string
	text func(r *Record) string                      // "" where r has none
	set  func(r *Record, value string) (want string) // want is the allowed values if value is not one
}

const wantTime = "RFC 3339 time"

var fields = [...]field{
	fieldName: {"name", func(r *Record) string { return r.Name }, func(r *Record, value string) string {
		r.Name = value
		return wantName(value)
	}},
	{"scopes", func(*Record) string { return "" }, func(_ *Record, value string) string {
		if value != "read" {
			return "read"
		}
		return ""
	}},
	{"kind", func(r *Record) string {
		if r.Kind == KindToken {
			return ""
		}
		return r.Kind.String()
	}, func(r *Record, value string) string {
		i := slices.Index(kindNames[:], value)
		if i < 0 {
			return "token, session or guest"
		}
		r.Kind = Kind(i)
		return ""
	}},
	{"account", func(r *Record) string { return r.Account }, func(r *Record, value string) string {
		r.Account = value
		return wantAccount(value)
	}},
	{"created", func(r *Record) string { return timeText(r.Created) }, func(r *Record, value string) string { return setTime(&r.Created, value) }},
	{"expires", func(r *Record) string { return cmp.Or(timeText(r.Expires), "never") }, func(r *Record, value string) string {
		if value != "never" && setTime(&r.Expires, value) != "" {
			return wantTime + ` or "never"`
		}
		return ""
	}},
	{"revoked", func(r *Record) string { return timeText(r.Revoked) }, func(r *Record, value string) string { return setTime(&r.Revoked, value) }},
}

// fieldName is the index of the field that each line must have.
const fieldName = 0

// timeText returns t in the form of a token file, "" for the zero time.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func setTime(t *time.Time, value string) (want string) {
	var ok bool
	if *t, ok = parseTime(value); !ok {
		return wantTime
	}
	return ""
}

// parseField reads the number-th tab-separated part of a line into r.
func (r *Record) parseField(text string, number int, have *[len(fields)]bool) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("field number %d: no \"=\": want key=value", number)
	}
	f := slices.IndexFunc(fields[:], func(f field) bool { return f.name == key })
	if f < 0 {
		return fmt.Errorf("field %q: unknown: want name, scopes, kind, account, created, expires or revoked", clip(key))
	}
	if have[f] {
		return fmt.Errorf("field %q: %q: given twice: want it once", key, clip(value))
	}
	have[f] = true
	if want := fields[f].set(r, value); want != "" {
		return fmt.Errorf("field %q: %q: want %s", key, clip(value), want)
	}
	return nil
}

// wantName refuses names that a terminal or a log line would not show as they are.
func wantName(name string) (want string) {
	if name == "" || len(name) > MaxName {
		return fmt.Sprintf("1 to %d bytes", MaxName)
	}
	if strings.TrimSpace(name) != name || !utf8.ValidString(name) || strings.ContainsFunc(name, isUnprintable) {
		return "printable characters without blanks at the ends"
	}
	return ""
}

// wantAccount accepts only hex digits, which include those of decimal ids.
func wantAccount(account string) (want string) {
	if account == "" || len(account) > MaxAccount || strings.Trim(account, "0123456789abcdef") != "" {
		return "the number of an account, its 24 hex digits, or the 32 of a guest's session"
	}
	return ""
}

func isUnprintable(r rune) bool { return !unicode.IsPrint(r) }

// parseTime refuses the years that Go or RFC 3339 cannot write back, and above all the year 1, whose
// first second is Go's zero time and would read as "never".
func parseTime(text string) (time.Time, bool) {
	const lastSecond = 253402300799 // 9999-12-31T23:59:59Z
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Unix() <= 0 || t.Unix() > lastSecond {
		return time.Time{}, false
	}
	return time.Unix(t.Unix(), 0).UTC(), true
}

// clip keeps foreign text in messages short.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
