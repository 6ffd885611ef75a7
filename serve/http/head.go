package http

import (
	"bytes"
	"encoding/binary"
	"math"
	"net/http"
	"net/netip"
)

// A request is the head of a request. Its slices are valid until the response was sent. Absent fields are empty.
type request struct {
	method []byte
	target []byte // in origin form, or "*"
	minor  byte   // the digit after "1." in the HTTP version
	isHead bool
	reads  bool // GET or HEAD
	last   bool // the client ends the connection after the response
	plain  bool // without a body, over HTTP/1.1
	fields [nFields][]byte
	// sameFields is set if the header fields are, byte for byte, the same as in the previous request on this connection.
	sameFields bool
}

// A span is a part of a block of header fields. The zero span is empty.
type span struct{ from, to int }

// A parser checks heads against RFC 9110 and 9112. Most clients repeat their header fields
// in each request of a connection, so it keeps the last ones.
type parser struct {
	rq          request
	block       []byte // header fields with the empty line that ends them
	joinedLists []byte // values of lists in several lines
	framing     framing
	spans       [nFields]span // first line of each field in block
	repeated    [nFields]bool // fields with several lines
}

// A framing holds the fields that determine the end of a request and its connection.
type framing struct {
	close              bool // Connection: close
	hasLength, hasBody bool // Content-Length, and above 0
	hasCoding, chunked bool // Transfer-Encoding; its last coding is chunked
}

// The fields that a request has.
const (
	fieldHost = iota
	fieldAuthorization
	fieldAcceptEncoding
	fieldIfNoneMatch
	fieldOrigin
	fieldRequestMethod
	fieldUserAgent
	fieldTraceparent
	nFields
)

// fieldNames are their names.
var fieldNames = [nFields]string{
	"host", "authorization", "accept-encoding", "if-none-match", "origin", "access-control-request-method", "user-agent", "traceparent",
}

// parse reads the head at the start of b into p.rq and returns its length. The length is 0 for an incomplete
// head, and for an invalid one, which the caller refuses with status.
//
// It accepts all that RFC 9112 requires, but no head that parsers may read differently: no bare CR or LF, no folded line,
// no space before a colon, and no repeated field that must be unique.
func (p *parser) parse(b []byte) (n, status int) {
	skip := emptyLines(b)
	n = skip + bytes.IndexByte(b[skip:], '\n') + 1
	if n == skip {
		return 0, checkPartialLine(b[skip:])
	}
	text, ok := bytes.CutSuffix(b[skip:n], []byte("\r\n"))
	method, text, ok2 := bytes.Cut(text, []byte(" "))
	target, text, ok3 := bytes.Cut(text, []byte(" "))
	version, ok4 := bytes.CutPrefix(text, []byte("HTTP/"))
	switch {
	case !ok || !ok2 || !ok3 || !ok4 || !isToken(method):
		return 0, http.StatusBadRequest
	case len(target) == 0 || !isValue(target) || bytes.IndexByte(target, '\t') >= 0:
		// Clients send bytes that a URI must escape, mostly in searches: only spaces and control characters are
		// refused.
		return 0, http.StatusBadRequest
	case len(version) != len("1.1") || !isDigit(version[0]) || version[1] != '.' || !isDigit(version[2]):
		return 0, http.StatusBadRequest
	case version[0] != '1':
		return 0, http.StatusHTTPVersionNotSupported
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
		return 0, http.StatusBadRequest
	}
	if connect {
		return 0, http.StatusMethodNotAllowed // the next bytes may belong to a tunnel
	}
	rq := &p.rq
	rq.method, rq.target, rq.minor, rq.isHead = method, target, version[len("1.")], string(method) == http.MethodHead
	rq.reads = rq.isHead || string(method) == http.MethodGet
	block := b[n:]
	// Fast path: the same fields as before. The comparison takes constant time, or a client could guess the
	// fields of another one on the same connection.
	rq.sameFields = len(p.block) > 0 && len(block) >= len(p.block) && equalConstantTime(block[:len(p.block)], p.block)
	if !rq.sameFields {
		p.block = p.block[:0]
		length, status := p.parseBlock(block)
		if length == 0 {
			return 0, status
		}
		p.block, p.joinedLists = append(p.block, block[:length]...), p.joinedLists[:0]
		for i := range nFields {
			rq.fields[i] = p.block[p.spans[i].from:p.spans[i].to]
			switch {
			case !p.repeated[i]:
			case i == fieldAcceptEncoding, i == fieldIfNoneMatch:
				rq.fields[i] = p.joined(i)
			case i == fieldTraceparent: // invalid in several lines
				rq.fields[i] = nil
			}
		}
	}
	f, is10 := &p.framing, rq.minor == '0'
	if f.hasCoding && (f.hasLength || !f.chunked || is10) || p.spans[fieldHost].to == 0 && !is10 {
		return 0, http.StatusBadRequest // the end of the body is ambiguous (RFC 9112, 6.1 and 6.3), or the host is missing
	}
	rq.last, rq.plain = f.close, !f.hasCoding && !f.hasBody && !is10
	return n + len(p.block), 0
}

// joined returns the values of all lines of a list, joined by commas, which is equivalent.
func (p *parser) joined(field int) []byte {
	from := len(p.joinedLists)
	for line := range bytes.Lines(p.block) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if equalFold(name, fieldNames[field]) {
			p.joinedLists = append(append(p.joinedLists, bytes.Trim(value, " \t\r\n")...), ',')
		}
	}
	return p.joinedLists[from : len(p.joinedLists)-1]
}

// emptyLines returns the length of the empty lines that b starts with, which some clients
// send after a body.
func emptyLines(b []byte) (n int) {
	for bytes.HasPrefix(b[n:], []byte("\r\n")) {
		n += len("\r\n")
	}
	return n
}

// originForm returns path and query of a target in absolute form.
func originForm(b []byte) ([]byte, bool) {
	scheme, rest, ok := bytes.Cut(b, []byte("://"))
	if !ok || !equalFold(scheme, "http") && !equalFold(scheme, "https") {
		return nil, false
	}
	n := bytes.IndexAny(rest, "/?#")
	if n < 0 {
		return []byte("/"), len(rest) > 0 && isAuthority(rest)
	}
	ok = n > 0 && isAuthority(rest[:n])
	if rest[n] != '/' {
		return append([]byte("/"), rest[n:]...), ok
	}
	return rest[n:], ok
}

// checkPartialLine checks the start of a line. It returns the status of a refusal, or 0.
func checkPartialLine(b []byte) (status int) {
	if !isValue(bytes.TrimSuffix(b, []byte("\r"))) {
		return http.StatusBadRequest
	}
	return 0
}

// parseBlock reads header fields up to the empty line and returns their length, as parse does.
func (p *parser) parseBlock(b []byte) (n, status int) {
	f := &p.framing
	*f, p.spans, p.repeated = framing{}, [nFields]span{}, [nFields]bool{}
	for start := 0; ; {
		n := bytes.IndexByte(b[start:], '\n') + 1
		if n == 0 {
			return 0, checkPartialLine(b[start:])
		}
		line, ok := bytes.CutSuffix(b[start:start+n], []byte("\r\n"))
		if ok && len(line) == 0 {
			return start + n, 0
		}
		colon := bytes.IndexByte(line, ':')
		if !ok || colon <= 0 || !isToken(line[:colon]) || !isValue(line[colon+1:]) {
			return 0, http.StatusBadRequest
		}
		from, to := colon+1, len(line)
		for from < to && (line[from] == ' ' || line[from] == '\t') {
			from++
		}
		for to > from && (line[to-1] == ' ' || line[to-1] == '\t') {
			to--
		}
		name, value := line[:colon], line[from:to]
		switch {
		case equalFold(name, "connection"):
			eachItem(value, func(option []byte) {
				f.close = f.close || equalFold(option, "close")
			})
		case equalFold(name, "content-length"):
			ok = !f.hasLength && len(value) > 0
			f.hasLength = true
			for _, c := range value {
				ok = ok && isDigit(c)
				f.hasBody = f.hasBody || c != '0'
			}
		case equalFold(name, "transfer-encoding"):
			f.hasCoding = true
			eachItem(value, func(coding []byte) {
				ok = ok && !f.chunked // chunked must be last and unique
				f.chunked = equalFold(coding, "chunked")
			})
		}
		for field := range fieldNames {
			switch {
			case !equalFold(name, fieldNames[field]):
			case p.spans[field].to == 0:
				p.spans[field] = span{start + from, start + to}
				ok = field != fieldHost || len(value) == 0 || isAuthority(value)
			default:
				p.repeated[field] = true
				ok = field != fieldHost && field != fieldAuthorization
			}
		}
		if !ok {
			return 0, http.StatusBadRequest
		}
		start += n
	}
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

// appendNormalized appends the last parsed head in an unambiguous form: with the fields that the edge
// reads, without a body, and with Connection: close.
func (p *parser) appendNormalized(dst []byte) []byte {
	rq, target := &p.rq, p.rq.target
	// fasthttp would treat the text between two slashes and a third one as a host.
	for bytes.HasPrefix(target, []byte("//")) && bytes.Contains(target, []byte("://")) {
		target = target[1:]
	}
	dst = append(append(dst, rq.method...), ' ')
	dst = append(append(dst, target...), " HTTP/1."...)
	dst = append(append(dst, min(rq.minor, '1')), "\r\nHost: x\r\nConnection: close\r\n"...)
	for i := fieldAuthorization; i < nFields; i++ {
		if value := rq.fields[i]; len(value) > 0 {
			dst = append(append(append(append(dst, fieldNames[i]...), ": "...), value...), "\r\n"...)
		}
	}
	return append(dst, "\r\n"...)
}

// isAuthority reports whether b is a host of RFC 3986 with an optional port, and without
// a user.
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

// isToken reports whether b may be a method or the name of a field.
func isToken(b []byte) bool {
	for _, c := range b {
		if !tokenChars[c] {
			return false
		}
	}
	return len(b) > 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// equalFold reports whether b equals lower, ignoring case.
func equalFold(b []byte, lower string) bool {
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

// tokenChars is true for each byte allowed in a token.
var tokenChars = func() (t [256]bool) {
	for c := range t {
		t[c] = isAlnum(byte(c))
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		t[c] = true
	}
	return t
}()

// equalConstantTime reports whether a and b, which have the same length, are equal. Its time depends on
// the length alone. crypto/subtle takes longer: it compares single bytes.
func equalConstantTime(a, b []byte) bool {
	diff := uint64(0)
	for ; len(a) >= 8 && len(b) >= 8; a, b = a[8:], b[8:] {
		diff |= binary.LittleEndian.Uint64(a) ^ binary.LittleEndian.Uint64(b)
	}
	for i, c := range a {
		diff |= uint64(c ^ b[i])
	}
	return diff == 0
}
