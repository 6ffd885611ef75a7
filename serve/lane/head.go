package lane

import (
	"bytes"
	"encoding/binary"
)

// A Request is the head of a plain request. Its slices point into the connection's buffer
// and are valid until the answer was sent. What the request does not have is nil.
type Request struct {
	Head           bool // HEAD, else GET
	Target         []byte
	Authorization  []byte
	AcceptEncoding []byte
	IfNoneMatch    []byte
	Origin         []byte
	// Same tells that the header fields are, byte for byte, those of the request before
	// it on this connection.
	Same bool
}

// A verdict is what becomes of the bytes that a connection has sent.
type verdict uint8

const (
	partial verdict = iota // the head is not complete; so far it may be plain
	plain
	foreign // not for the lane
)

// A span is a part of a block of header fields; the zero span is none.
type span struct{ from, to int }

func (s span) of(block []byte) []byte {
	if s.to == 0 {
		return nil
	}
	return block[s.from:s.to]
}

// A parser reads heads. Most clients repeat their header fields in each request of a
// connection, so it keeps the last ones and where in them what counts is.
type parser struct {
	block  []byte // header fields with the empty line that ends them
	fields [nFields]span
}

// The fields that count.
const (
	fieldHost = iota
	fieldAuthorization
	fieldAcceptEncoding
	fieldIfNoneMatch
	fieldOrigin
	nFields
)

const version = " HTTP/1.1\r\n"

// parse reads the head at the start of b and returns how many bytes it takes.
//
// It takes less than HTTP allows, so that whatever it takes means the same to every other
// parser of HTTP: one GET or HEAD of a path, no body, no field line folded or repeated
// that matters, no byte but printable ASCII.
func (p *parser) parse(b []byte, rq *Request) (int, verdict) {
	line, v := parseLine(b, rq)
	if v != plain {
		return 0, v
	}
	block := b[line:]
	// Fast path: the same fields as before. A client may learn from the time that this
	// takes what another one sent over the same connection, so it does not stop early.
	if n := len(p.block); n > 0 && len(block) >= n && equal(block[:n], p.block) {
		block, rq.Same = block[:n], true
	} else if v := p.parseBlock(block); v != plain {
		return 0, v
	} else {
		block, rq.Same = block[:len(p.block)], false
	}
	rq.Authorization = p.fields[fieldAuthorization].of(block)
	rq.AcceptEncoding = p.fields[fieldAcceptEncoding].of(block)
	rq.IfNoneMatch = p.fields[fieldIfNoneMatch].of(block)
	rq.Origin = p.fields[fieldOrigin].of(block)
	return line + len(block), plain
}

// parseLine reads the request line and returns its length.
func parseLine(b []byte, rq *Request) (int, verdict) {
	const get, head = "GET /", "HEAD /"
	var from int
	switch {
	case hasPrefix(b, get):
		rq.Head, from = false, len(get)-1
	case hasPrefix(b, head):
		rq.Head, from = true, len(head)-1
	case len(b) < len(head) && (startOf(b, get) || startOf(b, head)):
		return 0, partial
	default:
		return 0, foreign
	}
	n := bytes.IndexByte(b, '\n') + 1
	if n == 0 {
		return 0, partial
	}
	to := n - len(version)
	if to <= from || string(b[to:n]) != version {
		return 0, foreign
	}
	rq.Target = b[from:to]
	// A target with a scheme inside is taken apart by some parsers.
	if !printable(rq.Target, '!') || bytes.Contains(rq.Target, []byte("://")) {
		return 0, foreign
	}
	return n, plain
}

// parseBlock reads header fields up to the empty line and keeps them.
func (p *parser) parseBlock(b []byte) verdict {
	p.block = p.block[:0]
	clear(p.fields[:])
	for at := 0; ; {
		n := bytes.IndexByte(b[at:], '\n') + 1
		if n == 0 {
			return partial
		}
		line := b[at : at+n]
		if len(line) < 2 || line[n-2] != '\r' {
			return foreign
		}
		if n == 2 {
			if p.fields[fieldHost].to == 0 {
				return foreign
			}
			p.block = append(p.block, b[:at+2]...)
			return plain
		}
		if !p.parseField(line[:n-2], at) {
			return foreign
		}
		at += n
	}
}

// parseField reads one line, which starts at the offset at of its block. It is false for
// what the lane leaves to others.
func (p *parser) parseField(line []byte, at int) bool {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || !printable(line, ' ') {
		return false
	}
	for _, c := range line[:colon] {
		if !isToken[c] {
			return false
		}
	}
	value := span{at + colon + 1, at + len(line)}
	for raw := line[colon+1:]; len(raw) > 0 && raw[0] == ' '; raw = raw[1:] {
		value.from++
	}
	for raw := line; value.to > value.from && raw[len(raw)-1] == ' '; raw = raw[:len(raw)-1] {
		value.to--
	}
	field, known := fieldOf(line[:colon])
	if !known {
		return isHarmless(line[:colon], line[value.from-at:value.to-at])
	}
	if p.fields[field].to != 0 {
		return false
	}
	if field == fieldHost && !isHost(line[value.from-at:value.to-at]) {
		return false
	}
	p.fields[field] = value
	return true
}

// fieldOf returns which of the fields that count a name is.
func fieldOf(name []byte) (field int, known bool) {
	switch len(name) {
	case len("Host"):
		return fieldHost, isName(name, "host")
	case len("Origin"):
		return fieldOrigin, isName(name, "origin")
	case len("Authorization"):
		if isName(name, "if-none-match") {
			return fieldIfNoneMatch, true
		}
		return fieldAuthorization, isName(name, "authorization")
	case len("Accept-Encoding"):
		return fieldAcceptEncoding, isName(name, "accept-encoding")
	}
	return 0, false
}

// isHarmless reports whether a field has no say in how a request is read and answered.
func isHarmless(name, value []byte) bool {
	switch name[0] | 0x20 {
	case 'c':
		if isName(name, "connection") {
			return isName(value, "keep-alive")
		}
		return !isName(name, "content-length")
	case 'e':
		return !isName(name, "expect")
	case 't':
		return !isName(name, "te") && !isName(name, "trailer") && !isName(name, "transfer-encoding")
	case 'u':
		return !isName(name, "upgrade")
	}
	return true
}

// isHost reports whether a value of Host is a name or an IPv4 address, perhaps with a port.
func isHost(b []byte) bool {
	host, port, _ := bytes.Cut(b, []byte(":"))
	for _, c := range host {
		if !isAlnum(c) && c != '-' && c != '.' {
			return false
		}
	}
	for _, c := range port {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(host) > 0 && (len(port) > 0 || len(host) == len(b))
}

// isName reports whether b is lower but for the case of its letters.
func isName(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

func hasPrefix(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }

// startOf reports whether s starts with b.
func startOf(b []byte, s string) bool { return len(b) <= len(s) && s[:len(b)] == string(b) }

func isAlnum(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

// isToken tells of each byte whether it may stand in the name of a field.
var isToken = func() (t [256]bool) {
	for c := range t {
		t[c] = isAlnum(byte(c))
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		t[c] = true
	}
	return t
}()

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// printable reports whether all bytes of b are ASCII from least, at most '\x7f', up to '~'.
func printable(b []byte, least byte) bool {
	low := ones * uint64(least)
	bad := uint64(0)
	for ; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		// With no high bit in w, the high bit of a byte of each term is set if, seen from
		// the lowest byte that is bad, it is below least or 0x7f.
		bad |= (w | (w - low) | (w + ones)) & highs
	}
	for _, c := range b {
		if c < least || c > '~' {
			return false
		}
	}
	return bad == 0
}

// equal reports whether a and b, of one length, are the same, in a time that depends on
// the length alone.
func equal(a, b []byte) bool {
	diff := uint64(0)
	for ; len(a) >= 8 && len(b) >= 8; a, b = a[8:], b[8:] {
		diff |= binary.LittleEndian.Uint64(a) ^ binary.LittleEndian.Uint64(b)
	}
	for i, c := range a {
		diff |= uint64(c ^ b[i])
	}
	return diff == 0
}
