package http

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// A rule is a requirement of RFC 9110 or 9112, or a choice that they leave to a server.
type rule struct {
	section string // "9112 6.3"
	stream  string // what a client sends; see expand
	want    []int  // the status of each response
	open    bool   // the connection takes another request then
}

// Parts of streams.
const (
	ruleHost = "Host: x\r\n"
	ruleAuth = "Authorization: Bearer $T\r\n"
	ruleGet  = "GET /3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth
	ruleNext = ruleGet + "\r\n" // a whole request that must, or must not, be read
)

var rules = []rule{
	// Messages and lines.
	{"9112 2.1", ruleGet + "\r\n", []int{200}, true},
	{"9112 2.2 empty lines before a request", "\r\n\r\n" + ruleNext, []int{200}, true},
	{"9112 2.2 empty line between requests", ruleNext + "\r\n" + ruleNext, []int{200, 200}, true},
	{"9112 2.2 bare LF after the request line", "GET / HTTP/1.1\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 2.2 bare LF after a field", "GET / HTTP/1.1\r\nHost: x\n\r\n", []int{400}, false},
	{"9112 2.2 bare LF in all lines", "GET / HTTP/1.1\nHost: x\n\n" + ruleNext, []int{400}, false},
	{"9112 2.2 bare LF at the end", "GET / HTTP/1.1\r\nHost: x\r\n\n" + ruleNext, []int{400}, false},
	{"9112 2.2 bare LF before a request", "\n" + ruleNext, []int{400}, false},
	{"9112 2.2 bare CR in the request line", "GET /\r HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 2.2 bare CR in a value", ruleGet + "A: b\rc\r\n\r\n", []int{400}, false},
	{"9112 2.2 bare CR before CRLF", ruleGet + "A: b\r\r\n\r\n", []int{400}, false},
	{"9112 2.2 bare CR in a name", ruleGet + "A\rB: c\r\n\r\n", []int{400}, false},
	{"9112 2.2 bare CR in all lines", "GET / HTTP/1.1\rHost: x\r\r", []int{400}, false},
	{"9112 2.2 blank before the first field", "GET / HTTP/1.1\r\n Host: x\r\n\r\n", []int{400}, false},
	{"9112 2.2 line of a blank", "GET / HTTP/1.1\r\n \r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 2.2 another protocol", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", []int{400}, false},
	{"9112 2.2 nonsense", "nonsense\r\n\r\n", []int{400}, false},

	// Versions.
	{"9112 2.3 a later minor version", "GET /3/authentication HTTP/1.2\r\n" + ruleHost + ruleAuth + "\r\n" + ruleNext, []int{200, 200}, true},
	{"9112 2.3 minor version 9 needs a Host", "GET / HTTP/1.9\r\n\r\n", []int{400}, false},
	{"9110 15.6.6 HTTP/2.0", "GET / HTTP/2.0\r\nHost: x\r\n\r\n" + ruleNext, []int{505}, false},
	{"9110 15.6.6 HTTP/3.0", "GET / HTTP/3.0\r\nHost: x\r\n\r\n", []int{505}, false},
	{"9110 15.6.6 HTTP/0.9", "GET / HTTP/0.9\r\n\r\n", []int{505}, false},
	{"9113 3.4 preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", []int{505}, false},
	{"9112 2.3 two digits", "GET / HTTP/1.10\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 2.3 no minor version", "GET / HTTP/1\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 2.3 lower case", "GET / http/1.1\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 2.3 another protocol's name", "GET / HTTQ/1.1\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 2.3 no version, as HTTP/0.9", "GET /\r\n\r\n", []int{400}, false},
	{"9112 2.3 a comma", "GET / HTTP/1,1\r\nHost: x\r\n\r\n", []int{400}, false},

	// Request lines.
	{"9112 3 two blanks before the target", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 3 two blanks after the target", "GET /  HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 3 tab", "GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 3 blank at the end", "GET / HTTP/1.1 \r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 3 blank at the start", " GET / HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 3 no target", "GET HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 3 no method", "/ HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 3 blank in the target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 3 too long a line", "GET /" + strings.Repeat("x", 3000) + " HTTP/1.1\r\nHost: x\r\n\r\n", []int{414}, false},
	{"9112 3 a line without end", strings.Repeat("x", 3000), []int{414}, false},
	{"9112 3.1 method that is no token", "G@T / HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 3.1 unknown method", "FROB /3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n" + ruleNext, []int{405, 200}, true},
	{"9110 9.1 methods have a case", "get /3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n", []int{405}, true},
	{"9110 9.3.2 HEAD", "HEAD /3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n" + ruleNext, []int{200, 200}, true},
	{"9110 9.3.2 HEAD that is invalid", "HEAD / HTTP/1.1\r\n\r\n", []int{400}, false},
	{"9110 9.3.3 POST without a body", "POST /3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n", []int{405}, true},
	{"9110 9.3.7 OPTIONS", "OPTIONS /3/authentication HTTP/1.1\r\n" + ruleHost + "\r\n" + ruleNext, []int{204, 200}, true},
	{"9110 9.3.8 TRACE", "TRACE /3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n", []int{405}, true},

	// Targets.
	{"9112 3.2.1 control character", "GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 3.2.1 NUL", "GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 3.2.1 DEL", "GET /\x7f HTTP/1.1\r\nHost: x\r\n\r\n", []int{400}, false},
	{"9112 3.2.1 no slash", "GET 3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n", []int{400}, false},
	{"9112 3.2.1 bytes of UTF-8, as clients send them", "GET /3/authentication?a=\xc3\xa4 HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n", []int{200}, true},
	{"9112 3.2.1 URL in the query", "GET /3/authentication?a=http://b@[c HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n", []int{200}, true},
	{"9112 3.2.1 two slashes are no host", "GET //3/authentication?a=b://c HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n", []int{200}, true},
	{"9112 3.2.1 two slashes are no host", "POST //[x@3/authentication?a=b://c HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n", []int{404}, true},
	{"9112 3.2.2 absolute form", "GET http://example.org/3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n" + ruleNext, []int{200, 200}, true},
	{"9112 3.2.2 absolute form, port, https, case", "GET HTTPS://[::1]:8080/3/authentication?a HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n", []int{200}, true},
	{"9112 3.2.2 absolute form without a path", "GET http://example.org HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n", []int{200}, true},
	{"9112 3.2.2 absolute form needs a Host", "GET http://example.org/ HTTP/1.1\r\n\r\n", []int{400}, false},
	{"9110 4.2.1 no host in the target", "GET http:///3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n", []int{400}, false},
	{"9110 4.2.1 nothing after the scheme", "GET http:// HTTP/1.1\r\n" + ruleHost + "\r\n", []int{400}, false},
	{"9110 4.2.4 user in the target", "GET http://a:b@example.org/ HTTP/1.1\r\n" + ruleHost + "\r\n", []int{400}, false},
	{"9112 3.2.2 another scheme", "GET ftp://example.org/ HTTP/1.1\r\n" + ruleHost + "\r\n", []int{400}, false},
	{"9112 3.2.3 CONNECT", "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n" + ruleNext, []int{405}, false},
	{"9112 3.2.3 CONNECT of a path", "CONNECT /3/authentication HTTP/1.1\r\n" + ruleHost + "\r\n", []int{400}, false},
	{"9112 3.2.3 authority form of GET", "GET example.org:443 HTTP/1.1\r\n" + ruleHost + "\r\n", []int{400}, false},
	{"9112 3.2.4 OPTIONS *", "OPTIONS * HTTP/1.1\r\n" + ruleHost + "\r\n" + ruleNext, []int{204, 200}, true},
	{"9112 3.2.4 GET *", "GET * HTTP/1.1\r\n" + ruleHost + "\r\n", []int{400}, false},

	// Host.
	{"9112 3.2 no Host", "GET / HTTP/1.1\r\nA: b\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 3.2 no field at all", "GET / HTTP/1.1\r\n\r\n", []int{400}, false},
	{"9112 3.2 two Hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 3.2 two Hosts of other cases", "GET / HTTP/1.1\r\nHost: x\r\nhOST: y\r\n\r\n", []int{400}, false},
	{"9112 3.2 empty Host", "GET /3/authentication HTTP/1.1\r\nHost:\r\n" + ruleAuth + "\r\n", []int{200}, true},
	{"9110 7.2 Host with a port", "GET /3/authentication HTTP/1.1\r\nHost: example.org:8080\r\n" + ruleAuth + "\r\n", []int{200}, true},
	{"9110 7.2 Host of IPv6", "GET /3/authentication HTTP/1.1\r\nHost: [2001:db8::1]:80\r\n" + ruleAuth + "\r\n", []int{200}, true},
	{"9110 7.2 Host with a user", "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", []int{400}, false},
	{"9110 7.2 Host of 8-bit bytes", "GET / HTTP/1.1\r\nHost: b\xc3\xbccher.example\r\n\r\n", []int{400}, false},
	{"9110 7.2 Host with a path", "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n", []int{400}, false},
	{"9110 7.2 Host with a blank", "GET / HTTP/1.1\r\nHost: x y\r\n\r\n", []int{400}, false},
	{"9110 7.2 Host, port no number", "GET / HTTP/1.1\r\nHost: x:http\r\n\r\n", []int{400}, false},
	{"9110 7.2 Host, port above 65535", "GET / HTTP/1.1\r\nHost: x:65536\r\n\r\n", []int{400}, false},
	{"9110 7.2 Host, port only", "GET / HTTP/1.1\r\nHost: :80\r\n\r\n", []int{400}, false},
	{"9110 7.2 Host, IPv6 without end", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", []int{400}, false},
	{"9110 7.2 Host, no IPv6", "GET / HTTP/1.1\r\nHost: [::g]\r\n\r\n", []int{400}, false},
	{"9110 7.2 Host, IPv4 in brackets", "GET / HTTP/1.1\r\nHost: [1.2.3.4]\r\n\r\n", []int{400}, false},
	{"9110 7.2 Host, half an escape", "GET / HTTP/1.1\r\nHost: %4\r\n\r\n", []int{400}, false},
	{"9110 7.2 Host with a scheme", "GET / HTTP/1.1\r\nHost: http://x\r\n\r\n", []int{400}, false},
	{"9112 3.2 HTTP/1.0 without a Host", "GET /3/authentication HTTP/1.0\r\n" + ruleAuth + "\r\n", []int{200}, false},
	{"9112 3.2 HTTP/1.0 with an invalid Host", "GET /3/authentication HTTP/1.0\r\nHost: a@b\r\n" + ruleAuth + "\r\n", []int{400}, false},

	// Fields.
	{"9112 5.1 blank before the colon", ruleGet + "A : b\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 5.1 tab before the colon", ruleGet + "Content-Length\t: 5\r\n\r\nhello", []int{400}, false},
	{"9112 5 no colon", ruleGet + "A\r\n\r\n", []int{400}, false},
	{"9112 5 no name", ruleGet + ": a\r\n\r\n", []int{400}, false},
	{"9112 5.1 blanks around a value", "GET /3/authentication HTTP/1.1\r\nHost:\t x \t\r\nAuthorization:Bearer $T \t\r\n\r\n", []int{200}, true},
	{"9112 5.1 empty value", ruleGet + "A:\r\n\r\n", []int{200}, true},
	{"9112 5.2 folded line", ruleGet + "A: b\r\n c\r\n\r\n", []int{400}, false},
	{"9112 5.2 folded line, tab", ruleGet + "A: b\r\n\tc\r\n\r\n", []int{400}, false},
	{"9112 5.2 folded Transfer-Encoding", ruleGet + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" + ruleNext, []int{400}, false},
	{"9110 5.1 blank in a name", ruleGet + "A B: c\r\n\r\n", []int{400}, false},
	{"9110 5.1 parentheses in a name", ruleGet + "A(): c\r\n\r\n", []int{400}, false},
	{"9110 5.1 8-bit byte in a name", ruleGet + "\xc4: c\r\n\r\n", []int{400}, false},
	{"9110 5.1 NUL in a name", ruleGet + "A\x00: c\r\n\r\n", []int{400}, false},
	{"9110 5.1 quote in a name", ruleGet + "\"A\": c\r\n\r\n", []int{400}, false},
	{"9110 5.1 all that a token may have", ruleGet + "!#$%&'*+-.^_`|~09AZaz: c\r\n\r\n", []int{200}, true},
	{"9110 5.5 NUL in a value", ruleGet + "A: b\x00c\r\n\r\n", []int{400}, false},
	{"9110 5.5 control character in a value", ruleGet + "A: \x01\r\n\r\n", []int{400}, false},
	{"9110 5.5 DEL in a value", ruleGet + "A: \x7f\r\n\r\n", []int{400}, false},
	{"9110 5.5 8-bit bytes in a value", ruleGet + "A: b\xc3\xbccher \xff\r\n\r\n", []int{200}, true},
	{"9110 5.5 tab in a value", ruleGet + "A: b\tc\r\n\r\n", []int{200}, true},
	{"9110 5.3 list in several lines", ruleGet + "Accept-Encoding: br\r\nAccept-Encoding: gzip\r\n\r\n" + ruleNext, []int{200, 200}, true},
	{"9110 5.3 Authorization twice", ruleGet + ruleAuth + "\r\n", []int{400}, false},
	{"9110 5.4 long header", ruleGet + "A: " + strings.Repeat("x", 3000) + "\r\n\r\n", []int{431}, false},
	{"9110 5.4 many fields", ruleGet + strings.Repeat("A: b\r\n", 500) + "\r\n", []int{431}, false},

	// Bodies: none is read, and nothing after one is a request.
	{"9112 6 GET with a body", ruleGet + "Content-Length: 5\r\n\r\nhello" + ruleNext, []int{200}, false},
	{"9112 6 body that looks like a request", ruleGet + "Content-Length: 100\r\n\r\n" + ruleNext, []int{200}, false},
	{"9112 6 body that does not come", ruleGet + "Content-Length: 5\r\n\r\n", []int{200}, false},
	{"9112 6 HEAD with a body", "HEAD /3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "Content-Length: 5\r\n\r\nhello" + ruleNext, []int{200}, false},
	{"9112 6 POST with a body", "POST /3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "Content-Length: 5\r\n\r\nhello" + ruleNext, []int{405}, false},
	{"9112 6 body without a credential", "POST /3/authentication HTTP/1.1\r\n" + ruleHost + "Content-Length: 5\r\n\r\nhello" + ruleNext, []int{401}, false},
	{"9112 6 OPTIONS with a body", "OPTIONS /3/authentication HTTP/1.1\r\n" + ruleHost + "Content-Length: 5\r\n\r\nhello" + ruleNext, []int{204}, false},
	{"9112 6 body after another request", ruleNext + ruleGet + "Content-Length: 5\r\n\r\nhello" + ruleNext, []int{200, 200}, false},
	{"9112 6.1 chunked", ruleGet + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + ruleNext, []int{200}, false},
	{"9112 6.1 chunked, POST", "POST /3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + ruleNext, []int{405}, false},
	{"9112 6.1 codings have no case", ruleGet + "transfer-encoding: CHUNKED\r\n\r\n0\r\n\r\n" + ruleNext, []int{200}, false},
	{"9112 6.1 chunked last", ruleGet + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + ruleNext, []int{200}, false},
	{"9112 6.1 chunked last, two lines", ruleGet + "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + ruleNext, []int{200}, false},
	{"9112 6.1 tab before chunked", ruleGet + "Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n" + ruleNext, []int{200}, false},
	{"9112 6.1 chunked twice", ruleGet + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 6.1 HTTP/1.0 with Transfer-Encoding", "GET /3/authentication HTTP/1.0\r\n" + ruleAuth + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 6.3 chunked not last", ruleGet + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 6.3 chunked not last, two lines", ruleGet + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 6.3 not chunked", ruleGet + "Transfer-Encoding: gzip\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 6.3 identity", ruleGet + "Transfer-Encoding: identity\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 6.3 empty Transfer-Encoding", ruleGet + "Transfer-Encoding:\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 6.3 nearly chunked", ruleGet + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 6.3 quoted chunked", ruleGet + "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 7 chunked with a parameter", ruleGet + "Transfer-Encoding: chunked;a=b\r\n\r\n0\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 6.1 vertical tab before chunked", ruleGet + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 6.3 both lengths", ruleGet + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 6.3 both lengths, other order, 0", ruleGet + "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n" + ruleNext, []int{400}, false},
	{"9112 6.2 Content-Length 0", ruleGet + "Content-Length: 0\r\n\r\n" + ruleNext, []int{200, 200}, true},
	{"9112 6.2 POST, Content-Length 0", "POST /3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "Content-Length: 0\r\n\r\n" + ruleNext, []int{405, 200}, true},
	{"9112 6.3 two lengths that differ", ruleGet + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello" + ruleNext, []int{400}, false},
	{"9112 6.3 two equal lengths", ruleGet + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello" + ruleNext, []int{400}, false},
	{"9112 6.3 list of lengths", ruleGet + "Content-Length: 5, 5\r\n\r\nhello" + ruleNext, []int{400}, false},
	{"9110 8.6 negative length", ruleGet + "Content-Length: -5\r\n\r\n" + ruleNext, []int{400}, false},
	{"9110 8.6 plus", ruleGet + "Content-Length: +5\r\n\r\nhello" + ruleNext, []int{400}, false},
	{"9110 8.6 hexadecimal", ruleGet + "Content-Length: 0x5\r\n\r\nhello" + ruleNext, []int{400}, false},
	{"9110 8.6 blank inside", ruleGet + "Content-Length: 1 0\r\n\r\nhello" + ruleNext, []int{400}, false},
	{"9110 8.6 empty length", ruleGet + "Content-Length:\r\n\r\n" + ruleNext, []int{400}, false},
	{"9110 8.6 quoted length", ruleGet + "Content-Length: \"5\"\r\n\r\nhello" + ruleNext, []int{400}, false},
	{"9110 8.6 a length beyond all integers", ruleGet + "Content-Length: 99999999999999999999999999\r\n\r\n" + ruleNext, []int{200}, false},
	{"9110 8.6 leading zeros", ruleGet + "Content-Length: 0005\r\n\r\nhello" + ruleNext, []int{200}, false},
	{"9112 6.3 no length, no body", "POST /3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n" + ruleNext, []int{405, 200}, true},

	// The connection ends after every 400, also where a valid head asks for what is not.
	{"9112 9.6 400 of a path", "GET /3/movie/%zz HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n" + ruleNext, []int{400}, false},
	{"9112 9.6 400 of a page", ruleNext + "GET /3/movie/popular?page=0 HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n" + ruleNext, []int{200, 400}, false},
	{"9112 9.6 404 goes on", "GET /3/nothing HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n" + ruleNext, []int{404, 200}, true},

	// Connections.
	{"9112 9.3 persistent", ruleNext + ruleNext, []int{200, 200}, true},
	{"9112 9.3.2 pipelined", ruleNext + "FROB /3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "\r\n" + ruleNext + ruleNext, []int{200, 405, 200, 200}, true},
	{"9112 9.3.2 pipelined, not plain", strings.Repeat("OPTIONS * HTTP/1.1\r\n"+ruleHost+"\r\n", 5), []int{204, 204, 204, 204, 204}, true},
	{"9112 9.3.2 the second invalid", ruleNext + "GET / HTTP/1.1\r\n\r\n" + ruleNext, []int{200, 400}, false},
	{"9112 9.6 close", ruleGet + "Connection: close\r\n\r\n" + ruleNext, []int{200}, false},
	{"9110 7.6.1 options have no case", ruleGet + "Connection: Close\r\n\r\n" + ruleNext, []int{200}, false},
	{"9110 7.6.1 a list", ruleGet + "Connection: keep-alive, close\r\n\r\n" + ruleNext, []int{200}, false},
	{"9110 7.6.1 a list, close first", ruleGet + "Connection: close ,\tfoo\r\n\r\n" + ruleNext, []int{200}, false},
	{"9110 7.6.1 a list with empty items", ruleGet + "Connection: ,, CLOSE,\r\n\r\n" + ruleNext, []int{200}, false},
	{"9110 7.6.1 two lines", ruleGet + "Connection: keep-alive\r\nConnection: close\r\n\r\n" + ruleNext, []int{200}, false},
	{"9110 7.6.1 two lines, close first", ruleGet + "Connection: close\r\nConnection: keep-alive\r\n\r\n" + ruleNext, []int{200}, false},
	{"9110 7.6.1 another option", ruleGet + "Connection: closed\r\n\r\n" + ruleNext, []int{200, 200}, true},
	{"9110 7.6.1 fields that it names", ruleGet + "Connection: Authorization, Host\r\n\r\n" + ruleNext, []int{200, 200}, true},
	{"9112 9.3 keep-alive", ruleGet + "Connection: Keep-Alive\r\n\r\n" + ruleNext, []int{200, 200}, true},
	{"9112 9.3 HTTP/1.0", "GET /3/authentication HTTP/1.0\r\n" + ruleAuth + "\r\n" + ruleNext, []int{200}, false},
	{"9112 9.3 HTTP/1.0, keep-alive is an offer", "GET /3/authentication HTTP/1.0\r\n" + ruleAuth + "Connection: keep-alive\r\n\r\n" + ruleNext, []int{200}, false},
	{"9112 9.3 HTTP/1.0, Keep-Alive in a list", "GET /3/authentication HTTP/1.0\r\n" + ruleAuth + "Connection: a, Keep-Alive\r\n\r\n" + ruleNext, []int{200}, false},
	{"9112 9.3 HTTP/1.0, both", "GET /3/authentication HTTP/1.0\r\n" + ruleAuth + "Connection: keep-alive, close\r\n\r\n" + ruleNext, []int{200}, false},
	{"9112 9.3 HTTP/1.0, body", "GET /3/authentication HTTP/1.0\r\n" + ruleAuth + "Connection: keep-alive\r\nContent-Length: 5\r\n\r\nhello" + ruleNext, []int{200}, false},
	{"9112 C.2.2 Proxy-Connection", ruleGet + "Proxy-Connection: close\r\n\r\n" + ruleNext, []int{200, 200}, true},
	{"9110 7.8 Upgrade", ruleGet + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n" + ruleNext, []int{200, 200}, true},
	{"9110 10.1.4 TE", ruleGet + "TE: trailers, deflate\r\nConnection: TE\r\n\r\n" + ruleNext, []int{200, 200}, true},
	{"9110 6.6.2 Trailer", "POST /3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "Trailer: Content-Length\r\n\r\n" + ruleNext, []int{405, 200}, true},

	// Expect: a final response, never 100.
	{"9110 10.1.1 Expect", "POST /3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n", []int{405}, false},
	{"9110 10.1.1 Expect and the body", "POST /3/authentication HTTP/1.1\r\n" + ruleHost + ruleAuth + "Content-Length: 5\r\nExpect: 100-Continue\r\n\r\nhello" + ruleNext, []int{405}, false},
	{"9110 10.1.1 Expect without a body", ruleGet + "Expect: 100-continue\r\n\r\n" + ruleNext, []int{200, 200}, true},
	{"9110 10.1.1 Expect in HTTP/1.0", "POST /3/authentication HTTP/1.0\r\n" + ruleAuth + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n", []int{405}, false},
	{"9110 10.1.1 another expectation may be ignored", ruleGet + "Expect: x\r\n\r\n" + ruleNext, []int{200, 200}, true},

	// What a conditional or range request may not do.
	{"9110 13.1.2 If-None-Match: *", "GET /3/movie/550 HTTP/1.1\r\n" + ruleHost + ruleAuth + "If-None-Match: *\r\n\r\n" + ruleNext, []int{304, 200}, true},
	{"9110 14.2 Range is ignored", ruleGet + "Range: bytes=0-1\r\n\r\n" + ruleNext, []int{200, 200}, true},
}

// TestRules sends the stream of each rule, whole and byte by byte. What no handler sees is in the metrics too.
func TestRules(t *testing.T) {
	w := writtenWorld(t, func(c *config) { c.MaxHeader = 2048 }, servetest.Catalogue()...)
	for _, name := range []string{"TCP", "TLS"} {
		var server *Server
		steps := []int{1 << 20, 1}
		if name == "TCP" {
			server = w.start(t)
		} else { // the bytes of its records
			server, steps = w.startTLS(t), steps[:1]
		}
		refused, failures := map[int]int{}, 0
		for i := range rules {
			r := &rules[i]
			stream := strings.ReplaceAll(r.stream, "$T", w.token)
			for _, step := range steps {
				if err := r.check(server.dial(t), stream, w.token, step); err != nil {
					failures++
					t.Errorf("RFC %s: %.300q over %s, %d bytes at a time: %v", r.section, r.stream, name, step, err)
				}
				for _, status := range r.want {
					refused[status]++
				}
			}
		}
		t.Logf("%d rules over %s: %d failures", len(rules), name, failures)
		for _, status := range sentStatuses {
			if n := server.meters.refused(status); status >= 400 && n != uint64(refused[status]) {
				t.Errorf("%d responses of %d over %s are counted, want %d", n, status, name, refused[status])
			}
		}
	}
}

// TestBodiesTakeNoMemory: many clients that send a long body at a time cost what as many
// without one do.
func TestBodiesTakeNoMemory(t *testing.T) {
	w := writtenWorld(t, nil, servetest.Catalogue()...)
	s := w.start(t)
	const clients = 150
	body := make([]byte, 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var all errgroup.Group
	for i := range clients {
		all.Go(func() error {
			c, err := net.Dial("tcp", s.addr().String())
			if err != nil {
				return err
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(sharedtest.Patience))
			framing := []string{"Content-Length: 1048576", "Transfer-Encoding: chunked"}[i%2]
			if _, err := fmt.Fprintf(c, "POST /3/authentication HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", framing); err != nil {
				return err
			}
			if _, err := c.Write(body); err != nil {
				return err
			}
			rs, err := response(bufio.NewReaderSize(c, 1<<10), http.MethodPost)
			if err == nil && rs.StatusCode != http.StatusUnauthorized {
				err = fmt.Errorf("status %d, want 401", rs.StatusCode)
			}
			return err
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / clients; each > 100<<10 {
		t.Errorf("a client with a body of 1 MiB took %d bytes, want less than 100 KiB", each)
	}
}

// check sends a stream, step bytes at a time, and tells what differs from the rule.
func (r *rule) check(c net.Conn, stream, token string, step int) error {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(sharedtest.Patience))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for rest := []byte(stream); len(rest) > 0; {
			n, err := c.Write(rest[:min(step, len(rest))])
			if err != nil {
				return // the server may stop reading
			}
			rest = rest[n:]
		}
	}()
	in := bufio.NewReader(c)
	method, _, _ := strings.Cut(strings.TrimLeft(stream, "\r\n"), " ")
	var got []int
	var last *http.Response
	for range r.want {
		rs, err := response(in, method)
		if err != nil {
			return fmt.Errorf("after responses %v: %w, want %v", got, err, r.want)
		}
		last, method = rs, http.MethodGet
		got = append(got, rs.StatusCode)
	}
	if !slices.Equal(got, r.want) {
		return fmt.Errorf("responses %v, want %v", got, r.want)
	}
	if last.Close == r.open {
		return fmt.Errorf("the last response announces the end: %v, want %v", last.Close, !r.open)
	}
	if !r.open {
		if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
			return errors.Join(fmt.Errorf("after the last response %.100q, want the end", rest), err)
		}
		return nil
	}
	<-sent
	if _, err := io.WriteString(c, strings.ReplaceAll(ruleNext, "$T", token)); err != nil {
		return err
	}
	rs, err := response(in, http.MethodGet)
	if err == nil && rs.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d of another request, want 200", rs.StatusCode)
	}
	return err
}

var errNoJSON = errors.New("an error without JSON")

// response reads a response with its body.
func response(in *bufio.Reader, method string) (*http.Response, error) {
	rs, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(rs.Body)
	if err != nil {
		return nil, err
	}
	if rs.StatusCode >= 400 && method != http.MethodHead && !bytes.Contains(body, []byte(`"status_code":`)) {
		return nil, errNoJSON
	}
	return rs, nil
}
