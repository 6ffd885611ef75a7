package http

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
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
	stream  string // what a client sends
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

// readRules returns the rules of testdata/rules.txt.
func readRules(t *testing.T) (rules []rule) {
	t.Helper()
	data, err := os.ReadFile("testdata/rules.txt")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.NewReplacer("<get>", ruleGet, "<next>", ruleNext, "<host>", ruleHost, "<auth>", ruleAuth,
		"<x>", strings.Repeat("x", 3000), "<fields>", strings.Repeat("A: b\r\n", 500))
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		section, rest, _ := strings.Cut(line, `: "`)
		stream, want, _ := strings.Cut(rest, `" => `)
		stream, err := strconv.Unquote(`"` + stream + `"`)
		r := rule{section: section, stream: parts.Replace(stream), open: true}
		for word := range strings.FieldsSeq(want) {
			if r.open = word != "end"; !r.open {
				break
			}
			status, bad := strconv.Atoi(word)
			r.want, err = append(r.want, status), errors.Join(err, bad)
		}
		if err != nil || len(r.want) == 0 {
			t.Fatalf("rule %s: %v", line, err)
		}
		rules = append(rules, r)
	}
	return rules
}

// TestRules sends the stream of each rule, whole and byte by byte. What no handler sees is in the metrics too.
func TestRules(t *testing.T) {
	w := writtenWorld(t, func(c *config) { c.MaxHeader = 2048 }, servetest.Catalogue()...)
	rules := readRules(t)
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
