package observe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

const secret = "rsp_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

func entry() *Entry {
	return &Entry{
		Time: time.Date(2026, 11, 25, 21, 0, 0, 123456789, time.UTC), Client: &net.TCPAddr{IP: net.ParseIP("192.0.2.7"), Port: 4711},
		Method: []byte("GET"), Path: []byte("/3/movie/550"), Query: []byte("language=de&api_key=" + secret), Protocol: "HTTP/1.1",
		Status: 200, Bytes: 1234, Took: 1500 * time.Microsecond, Class: "detail", Token: "my phone", UserAgent: []byte("curl/8 \"x\"\x1b[31m"),
		Traceparent: []byte("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), Release: "r1",
	}
}

// logged returns what a log writes of entries.
func logged(t *testing.T, entries ...*Entry) string {
	t.Helper()
	var b servetest.LockedBuffer
	l, err := OpenAccessLog(AccessLogConfig{Path: Stdout, Stdout: &b})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		l.Write(e)
	}
	l.closeWithin(sharedtest.Patience)
	if l.Lines() != int64(len(entries)) || l.Lost() != 0 {
		t.Errorf("%d lines, %d lost, want %d, 0", l.Lines(), l.Lost(), len(entries))
	}
	return b.String()
}

func TestJSON(t *testing.T) {
	const want = `{"time":"2026-11-25T21:00:00.123456789Z","client":"192.0.2.7","method":"GET","path":"/3/movie/550","query":"language=de&api_key=***",` +
		`"protocol":"HTTP/1.1","status":200,"bytes":1234,"duration_seconds":0.0015,"class":"detail","token":"my phone",` +
		`"user_agent":"curl/8 \"x\"` + "\uFFFD" + `[31m","trace_id":"0af7651916cd43dd8448eb211c80319c","parent_id":"b7ad6b7169203331","release":"r1"}` + "\n"
	if got := logged(t, entry()); got != want {
		t.Errorf("line = %s, want %s", got, want)
	}
	bare := &Entry{Time: entry().Time, Status: 400, Class: "error"}
	const wantBare = `{"time":"2026-11-25T21:00:00.123456789Z","status":400,"bytes":0,"duration_seconds":0,"class":"error"}` + "\n"
	if got := logged(t, bare); got != wantBare {
		t.Errorf("line of no request = %s, want %s", got, wantBare)
	}
}

// FuzzEntry: each line is one line of JSON, and holds no token that the
// client sent as such.
func FuzzEntry(f *testing.F) {
	f.Add([]byte("/3/movie/550"), []byte("api_key=x"), []byte("curl"), []byte("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
	f.Add([]byte("/3/guest%5fsession/%"), []byte("a=%&%%%2&+"), []byte("\x00\u009b\"\\"), []byte("ff"))
	f.Fuzz(func(t *testing.T, path, query, agent, trace []byte) {
		e := entry()
		e.Path, e.UserAgent, e.Traceparent = path, agent, trace
		e.Query = append(append(append([]byte(nil), query...), "&api_key="...), secret...)
		var b bytes.Buffer
		if err := newJSON(&b).Handle(t.Context(), e.record()); err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(b.Bytes(), &v); err != nil || bytes.Count(b.Bytes(), []byte("\n")) != 1 || strings.Contains(b.String(), secret) {
			t.Errorf("JSON line = %q: %v", b.String(), err)
		}
	})
}

func TestTraceparent(t *testing.T) {
	sharedtest.Cases(t, "testdata/traceparent.txt", func(header string) string {
		trace, parent, ok := parseTraceparent([]byte(header))
		if !ok {
			return ""
		}
		return trace + " " + parent
	})
}

// TestRotation: a file that was renamed gets no more lines, on request at once and by itself a little later.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "access.log")
	l, err := OpenAccessLog(AccessLogConfig{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	lines := func(name string) int {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return bytes.Count(data, []byte("\n"))
	}
	written := func(name string, n int) {
		t.Helper()
		sharedtest.Eventually(t, fmt.Sprintf("%s has %d lines", name, n), func() bool { return lines(name) == n })
	}
	move := func(to string) {
		t.Helper()
		if err := os.Rename(path, filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	l.Write(entry())
	written("access.log", 1)
	move("access.1")
	l.Reopen()
	l.Write(entry())
	l.Write(entry())
	written("access.log", 2)
	move("access.2")
	l.file.comparedAt.Store(time.Now().Add(-compareEvery).UnixNano())
	l.Write(entry())
	l.closeWithin(sharedtest.Patience)
	written("access.log", 1)
	written("access.1", 1)
	written("access.2", 2)
	if l.Lost() != 0 || l.Lines() != 4 {
		t.Errorf("%d lines, %d lost, want 4, 0", l.Lines(), l.Lost())
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o007 != 0 {
		t.Errorf("mode = %v, %v, want nothing for others", info.Mode(), err)
	}
}
