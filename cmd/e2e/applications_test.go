package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// A replay is an application's requests to the API, from its source. The files lie in scripts/clients/replay, whose
// README describes them.
type replay struct {
	Application string          `json:"application"`
	Page        string          `json:"page"`     // page in docs/how-to/applications
	Read        string          `json:"read"`     // the files with the requests
	Encoding    string          `json:"encoding"` // header Accept-Encoding
	Requests    []replayRequest `json:"requests"`
}

type replayRequest struct {
	For    string            `json:"for"` // "" continues the previous one
	Method string            `json:"method"`
	Target string            `json:"get"` // without api_key, which all applications send
	Status int               `json:"status"`
	Reads  map[string]string `json:"reads"` // path of a field -> its types, separated by |
}

// TestApplications sends the requests of applications, over the sample: each has the expected status, and the fields
// that the application reads have their types.
func TestApplications(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "scripts", "clients", "replay", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d replays: %v", len(files), err)
	}
	e, _ := sampleEdge(t)
	for _, file := range files {
		r := readReplay(t, file)
		t.Run(r.Application, func(t *testing.T) {
			for i := range r.Requests {
				if err := r.send(t, e, &r.Requests[i]); err != nil {
					t.Errorf("%s %s: %v", r.Requests[i].method(), r.Requests[i].Target, err)
				}
			}
		})
	}
}

// TestApplicationPages: the page of an application lists the replayed requests.
func TestApplicationPages(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "scripts", "clients", "replay", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- begin requests -->\n", "<!-- end requests -->"
	for _, file := range files {
		r := readReplay(t, file)
		page := filepath.Join("..", "..", "docs", "how-to", "applications", r.Page)
		b, err := os.ReadFile(page)
		if err != nil {
			t.Error(err)
			continue
		}
		head, rest, found := strings.Cut(string(b), begin)
		_, tail, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Errorf("%s: want a part between %q and %q", page, begin, end)
			continue
		}
		want := head + begin + r.table() + end + tail
		switch {
		case want == string(b):
		case !*sharedtest.Update:
			t.Errorf("%s does not list the requests of %s: run go test ./cmd/e2e -run TestApplicationPages -update", page, file)
		default:
			if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func readReplay(t *testing.T, file string) *replay {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r replay
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if r.Application == "" || r.Page == "" || r.Read == "" || len(r.Requests) == 0 {
		t.Fatalf("%s: want application, page, read and requests", file)
	}
	for _, q := range r.Requests {
		if !strings.HasPrefix(q.Target, "/3/") || len(q.Reads) == 0 {
			t.Errorf("%s: %q: want a target below /3/ and what the application reads", file, q.Target)
		}
	}
	return &r
}

func (q *replayRequest) method() string {
	if q.Method == "" {
		return "GET"
	}
	return q.Method
}

// send makes one request and checks the response.
func (r *replay) send(t *testing.T, e *testEdge, q *replayRequest) error {
	t.Helper()
	mark := "?"
	if strings.Contains(q.Target, "?") {
		mark = "&"
	}
	target := q.Target + mark + "api_key=" + e.token
	change := func(rq *edge.Request) {
		rq.Method, rq.Authorization = []byte(q.method()), nil
		rq.Gzip = edge.AcceptsGzip([]byte(r.Encoding))
	}
	a := e.do(target, change)
	if strings.HasPrefix(a.body, "\x1f\x8b") {
		a = e.getGzipAs(t, target, change)
	} else if len(a.body) > 1024 && strings.Contains(r.Encoding, "gzip") {
		return fmt.Errorf("a body of %d bytes is not compressed, want gzip", len(a.body))
	}
	want := q.Status
	if want == 0 {
		want = 200
	}
	if a.status != want {
		return fmt.Errorf("status %d, want %d: %.200s", a.status, want, a.body)
	}
	var doc any
	if err := json.Unmarshal([]byte(a.body), &doc); err != nil {
		return err
	}
	var errs []error
	for path, types := range q.Reads {
		if err := reads(doc, strings.Split(path, "."), strings.Split(types, "|")); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
		}
	}
	return errors.Join(errs...)
}

// reads checks the types of the field at a path of names. A name that ends with [] is an array, and the rest of the
// path applies to each of its items, at least one.
func reads(v any, path, types []string) error {
	if len(path) == 0 {
		if got := typeName(v); !slices.Contains(types, got) {
			return fmt.Errorf("%s, want %s", got, strings.Join(types, " or "))
		}
		return nil
	}
	name, list := strings.CutSuffix(path[0], "[]")
	if name != "" {
		object, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("%s in place of the object with %s", typeName(v), name)
		}
		if v, ok = object[name]; !ok {
			return fmt.Errorf("%s is missing", name)
		}
	}
	if !list {
		return reads(v, path[1:], types)
	}
	items, ok := v.([]any)
	if !ok || len(items) == 0 {
		return fmt.Errorf("%s is %s of %d items, want an array with some", name, typeName(v), len(items))
	}
	for i, item := range items {
		if err := reads(item, path[1:], types); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return nil
}

// typeName names the type of a decoded JSON value.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// table lists the requests for the page.
func (r *replay) table() string {
	var b strings.Builder
	b.WriteString("| for | request |\n| --- | --- |\n")
	for i := range r.Requests {
		q := &r.Requests[i]
		target, err := url.QueryUnescape(q.Target)
		if err != nil {
			target = q.Target
		}
		status := ""
		if q.Status != 0 {
			status = fmt.Sprintf(": %d", q.Status)
		}
		fmt.Fprintf(&b, "| %s | `%s %s`%s |\n", q.For, q.method(), strings.ReplaceAll(target, "|", `\|`), status)
	}
	return b.String()
}
