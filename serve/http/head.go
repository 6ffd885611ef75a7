package http

import (
	"bytes"
	"encoding/binary"
	"math"
	"net/http"
	"net/netip"
)

// A plainRequest is the head of a plain request. Its slices point into the connection's buffer
// and are valid until the response was sent. Absent fields are empty.
type plainRequest struct {
	isHead bool // HEAD, else GET
	target []byte
	fields [nFields][]byte
	// same is set where the header fields are, byte for byte, those of the request before
	// it on this connection.
	same bool
}

// A verdict is the fate of the bytes that a client has sent.
type verdict uint8

const (
	partial     verdict = iota // the head is not complete; so far it may be valid
	plain                      // valid, for the fast path
	notEligible                // valid, for the server
	invalid                    // to be refused with parser.status
)

// A span is a part of a block of header fields; the zero span is none.
type span struct{ from, to int }

// A parser checks heads against RFC 9110 and 9112. Most clients repeat their header fields
// in each request of a connection, so it keeps those of the last plain one.
type parser struct {
	block  []byte // header fields with the empty line that ends them
	fields fields // of block
	line   line   // of the last head that was valid
	status int    // of the response to a head that is invalid
}

// A line is a request line. Its slices point into the head.
type line struct {
	method []byte
	target []byte // in origin form, or "*"
	minor  byte   // digit of the HTTP version after "1."
	usual  bool   // GET or HEAD of a path over HTTP/1.1
}

// fields are the header fields of one head.
type fields struct {
	spans [nFields]span // the first line of each
	// several is set where a field of those in spans has several lines.
	several bool
	// The options of Connection.
	close, keepAlive bool
	// The framing of the body.
	sized, sizeAbove0 bool // Content-Length
	coded, chunked    bool // Transfer-Encoding; its last coding is chunked
}

// The fields in spans.
const (
	fieldHost = iota
	fieldAuthorization
	fieldAcceptEncoding
	fieldIfNoneMatch
	fieldOrigin
	fieldUserAgent
	fieldTraceparent
	nFields
)

const version = " HTTP/1.1\r\n"

// parse reads the head at the start of b and returns its length.
//
// It accepts all that RFC 9112 requires, and nothing that parsers read differently: no bare CR
// or LF, no folded line, no blank before a colon, no field twice that may stand once.
func (p *parser) parse(b []byte, rq *plainRequest) (int, verdict) {
	skip := emptyLines(b)
	n, v := p.parseLine(b[skip:], rq)
	if v != plain {
		return 0, v
	}
	n += skip
	block := b[n:]
	// Fast path: the same fields as before. The time that this takes could show a client the fields of
	// another one on the same connection, so it does not stop early.
	rq.same = len(p.block) > 0 && len(block) >= len(p.block) && equal(block[:len(p.block)], p.block)
	if rq.same {
		block = block[:len(p.block)]
	} else {
		p.block = p.block[:0]
		end, v := p.parseBlock(block)
		if v != plain {
			return 0, v
		}
		block = block[:end]
	}
	if f := &p.fields; f.coded && (f.sized || !f.chunked || p.line.minor == '0') || f.spans[fieldHost].to == 0 && p.line.minor != '0' {
		// Where the body ends is in doubt (RFC 9112, 6.1 and 6.3), or there is no host.
		p.block = p.block[:0]
		return 0, p.refuse(http.StatusBadRequest)
	}
	n += len(block)
	if !p.line.usual || p.fields.several || p.last() {
		p.block = p.block[:0]
		return n, notEligible
	}
	if !rq.same {
		p.block = append(p.block, block...)
	}
	rq.target = p.line.target
	for i := fieldAuthorization; i < nFields; i++ { // Host is not asked for
		s := &p.fields.spans[i]
		rq.fields[i] = block[s.from:s.to]
	}
	return n, plain
}

func (p *parser) refuse(status int) verdict {
	p.status = status
	return invalid
}

// last reports whether the connection ends after the response to the last head. No body is
// read, so bytes after a body are never taken for a request.
func (p *parser) last() bool {
	return p.fields.coded || p.fields.sizeAbove0 || p.fields.close || p.line.minor == '0' && !p.fields.keepAlive
}

// emptyLines returns the length of the empty lines that b starts with, which some clients
// send after a body.
func emptyLines(b []byte) (n int) {
	for bytes.HasPrefix(b[n:], []byte("\r\n")) {
		n += len("\r\n")
	}
	return n
}

// parseLine reads the request line and returns its length.
func (p *parser) parseLine(b []byte, rq *plainRequest) (int, verdict) {
	n := bytes.IndexByte(b, '\n') + 1
	if n == 0 {
		return 0, p.unfinished(b)
	}
	const get, head = "GET /", "HEAD /"
	from := len(get) - 1
	rq.isHead = false
	if !bytes.HasPrefix(b, []byte(get)) {
		if !bytes.HasPrefix(b, []byte(head)) {
			return n, p.parseUnusual(b[:n])
		}
		from = len(head) - 1
		rq.isHead = true
	}
	to := n - len(version)
	if to <= from || string(b[to:n]) != version || !printable(b[from:to], '!') {
		return n, p.parseUnusual(b[:n])
	}
	p.line = line{method: b[:from-1], target: b[from:to], minor: '1', usual: true}
	return n, plain
}

// parseUnusual is parseLine for all other lines, with their end.
func (p *parser) parseUnusual(b []byte) verdict {
	text, ok := bytes.CutSuffix(b, []byte("\r\n"))
	method, text, found := bytes.Cut(text, []byte(" "))
	target, version, found2 := bytes.Cut(text, []byte(" "))
	if !ok || !found || !found2 || !token(method) || !isTarget(target) || !isVersion(version) {
		return p.refuse(http.StatusBadRequest)
	}
	if version[len("HTTP/")] != '1' {
		return p.refuse(http.StatusHTTPVersionNotSupported)
	}
	connect := string(method) == http.MethodConnect
	switch {
	case target[0] == '/':
		ok = !connect
	case string(target) == "*":
		ok = string(method) == http.MethodOptions
	case connect:
		ok = isAuthority(target)
	default:
		target, ok = originForm(target)
	}
	if !ok {
		return p.refuse(http.StatusBadRequest)
	}
	if connect {
		return p.refuse(http.StatusMethodNotAllowed) // the next bytes may be for a tunnel
	}
	p.line = line{method: method, target: target, minor: version[len("HTTP/1.")]}
	return plain
}

// isVersion reports whether b is an HTTP version of any number.
func isVersion(b []byte) bool {
	return len(b) == len("HTTP/1.1") && bytes.HasPrefix(b, []byte("HTTP/")) && isDigit(b[5]) && b[6] == '.' && isDigit(b[7])
}

// isTarget reports whether b may be a request target. Clients send bytes unescaped that a
// URI does not have, in searches above all, so all but blanks and control characters may be.
func isTarget(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c == '\x7f' {
			return false
		}
	}
	return len(b) > 0
}

// originForm returns path and query of a target in absolute form.
func originForm(b []byte) ([]byte, bool) {
	scheme, rest, found := bytes.Cut(b, []byte("://"))
	if !found || !isName(scheme, "http") && !isName(scheme, "https") {
		return nil, false
	}
	n := bytes.IndexAny(rest, "/?#")
	if n < 0 {
		return []byte("/"), len(rest) > 0 && isAuthority(rest)
	}
	ok := n > 0 && isAuthority(rest[:n])
	if rest[n] != '/' {
		return append([]byte("/"), rest[n:]...), ok
	}
	return rest[n:], ok
}

// unfinished checks the start of a line.
func (p *parser) unfinished(b []byte) verdict {
	for i, c := range b {
		if c < ' ' && c != '\t' && (c != '\r' || i+1 < len(b)) || c == '\x7f' {
			return p.refuse(http.StatusBadRequest)
		}
	}
	return partial
}

// parseBlock reads header fields up to the empty line and returns their length.
func (p *parser) parseBlock(b []byte) (int, verdict) {
	p.fields = fields{}
	for at := 0; ; {
		n := bytes.IndexByte(b[at:], '\n') + 1
		if n == 0 {
			return 0, p.unfinished(b[at:])
		}
		line := b[at : at+n]
		if len(line) < 2 || line[n-2] != '\r' {
			return 0, p.refuse(http.StatusBadRequest)
		}
		if n == 2 {
			return at + 2, plain
		}
		if !p.parseField(line[:n-2], at) {
			return 0, p.refuse(http.StatusBadRequest)
		}
		at += n
	}
}

// parseField reads one line, which starts at the offset at of its block. It is false for an
// invalid one.
func (p *parser) parseField(line []byte, at int) bool {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || !token(line[:colon]) || !printable(line, ' ') && !isValue(line[colon+1:]) {
		return false
	}
	from, to := colon+1, len(line)
	for from < to && (line[from] == ' ' || line[from] == '\t') {
		from++
	}
	for to > from && (line[to-1] == ' ' || line[to-1] == '\t') {
		to--
	}
	name, value := line[:colon], line[from:to]
	f := &p.fields
	field := nFields
	switch len(name) {
	case len("Host"):
		if isName(name, "host") {
			field = fieldHost
		}
	case len("Origin"):
		if isName(name, "origin") {
			field = fieldOrigin
		}
	case len("Authorization"): // If-None-Match is as long
		if isName(name, "if-none-match") {
			field = fieldIfNoneMatch
		}
		if isName(name, "authorization") {
			field = fieldAuthorization
		}
	case len("Accept-Encoding"):
		if isName(name, "accept-encoding") {
			field = fieldAcceptEncoding
		}
	case len("Traceparent"):
		if isName(name, "traceparent") {
			field = fieldTraceparent
		}
	case len("Connection"): // User-Agent is as long
		if isName(name, "user-agent") {
			field = fieldUserAgent
		}
		if isName(name, "connection") {
			eachItem(value, func(option []byte) {
				f.close = f.close || isName(option, "close")
				f.keepAlive = f.keepAlive || isName(option, "keep-alive")
			})
		}
	case len("Content-Length"):
		if isName(name, "content-length") {
			return f.addLength(value)
		}
	case len("Transfer-Encoding"):
		if isName(name, "transfer-encoding") {
			return f.addCodings(value)
		}
	}
	switch {
	case field == nFields:
		return true
	case f.spans[field].to == 0:
		f.spans[field] = span{at + from, at + to}
		return field != fieldHost || len(value) == 0 || isAuthority(value)
	}
	f.several = true
	return field != fieldHost && field != fieldAuthorization
}

// addLength adds a Content-Length.
func (f *fields) addLength(value []byte) bool {
	if f.sized || len(value) == 0 {
		return false
	}
	f.sized = true
	for _, c := range value {
		if !isDigit(c) {
			return false
		}
		f.sizeAbove0 = f.sizeAbove0 || c != '0'
	}
	return true
}

// addCodings adds a line of Transfer-Encoding.
func (f *fields) addCodings(value []byte) bool {
	f.coded = true
	ok := true
	eachItem(value, func(coding []byte) {
		ok = ok && !f.chunked // which stands last, and once
		f.chunked = isName(coding, "chunked")
	})
	return ok
}

// eachItem calls visit for each item of a list that is not empty.
func eachItem(list []byte, visit func(item []byte)) {
	for len(list) > 0 {
		var item []byte
		item, list, _ = bytes.Cut(list, []byte(","))
		if item = bytes.Trim(item, " \t"); len(item) > 0 {
			visit(item)
		}
	}
}

// appendHead appends a valid head as the server gets it: with the fields that the edge reads, and
// nothing from which the server would expect a body or another protocol. The fields are those
// in head, whose request line was parsed last.
func (p *parser) appendHead(dst, head []byte) []byte {
	head = head[emptyLines(head):]
	block := head[bytes.IndexByte(head, '\n')+1:]
	target := p.line.target
	// The server would take the text between two slashes and a third one for a host.
	for bytes.HasPrefix(target, []byte("//")) && bytes.Contains(target, []byte("://")) {
		target = target[1:]
	}
	dst = append(append(dst, p.line.method...), ' ')
	dst = append(append(dst, target...), " HTTP/1."...)
	dst = append(dst, min(p.line.minor, '1'))
	dst = append(dst, "\r\nHost: x\r\n"...)
	switch {
	case p.last():
		dst = append(dst, "Connection: close\r\n"...)
	case p.line.minor == '0':
		dst = append(dst, "Connection: keep-alive\r\n"...)
	}
	for len(block) > 0 {
		n := bytes.IndexByte(block, '\n') + 1
		if name, _, _ := bytes.Cut(block[:n], []byte(":")); !ofConnection(name) {
			dst = append(dst, block[:n]...)
		}
		block = block[n:]
	}
	return dst
}

// slack is at most how much longer a head becomes in appendHead.
const slack = len("\r\nHost: x\r\nConnection: keep-alive\r\n")

// ofConnection reports whether a field is about the connection or the body rather than about
// the resource.
func ofConnection(name []byte) bool {
	for _, s := range connectionFields {
		if isName(name, s) {
			return true
		}
	}
	return false
}

var connectionFields = [...]string{
	"connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
}

// isAuthority reports whether b is a host, perhaps with a port: no user, and what RFC 3986
// lets a host have.
func isAuthority(b []byte) bool {
	var host, port []byte
	if bytes.HasPrefix(b, []byte("[")) {
		n := bytes.IndexByte(b, ']') + 1
		if n == 0 || n < len(b) && b[n] != ':' {
			return false
		}
		host, port = b[:n], bytes.TrimPrefix(b[n:], []byte(":"))
		ip, err := netip.ParseAddr(string(b[1 : n-1]))
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return false
		}
	} else {
		host, port, _ = bytes.Cut(b, []byte(":"))
		for i, c := range host { // a name of RFC 3986, or an IPv4 address
			escape := c == '%' && i+2 < len(host) && isHex(host[i+1]) && isHex(host[i+2])
			if !isAlnum(c) && !escape && bytes.IndexByte([]byte("-._~!$&'()*+,;="), c) < 0 {
				return false
			}
		}
	}
	number := 0
	for _, c := range port {
		if number = number*10 + int(c-'0'); !isDigit(c) || number > math.MaxUint16 {
			return false
		}
	}
	return len(host) > 0
}

// isValue reports whether b may be the value of a field.
func isValue(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == '\x7f' {
			return false
		}
	}
	return true
}

// token reports whether b may be a method or the name of a field.
func token(b []byte) bool {
	for _, c := range b {
		if !isToken[c] {
			return false
		}
	}
	return len(b) > 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

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

func isAlnum(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

// isToken is true for each byte that may stand in a token.
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
