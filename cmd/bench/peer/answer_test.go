package peer

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitParts(t *testing.T) {
	got, err := SplitParts([]byte(`{"id":5,"title":"A"}`), []byte(`{"id":5,"title":"A","videos":{"results":[]},"season/1":{"a":"}"}}`))
	want := []Part{{"videos", []byte(`{"results":[]}`)}, {"season/1", []byte(`{"a":"}"}`)}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("splitParts: %v (-want +got):\n%s", err, d)
	}
	for _, c := range []struct{ details, whole, want string }{
		{`{"id":5}`, `{"id":6,"videos":{}}`, "does not begin as the details do"},
		{`[]`, `[]`, "does not begin as the details do"},
		{`{"id":5}`, `{"id":5,"videos":{`, "split the answer"},
		{`{"id":5}`, `{"id":5, "videos":{}}`, "joined again, are not the answer"},
	} {
		if _, err := SplitParts([]byte(c.details), []byte(c.whole)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("splitParts(%s, %s) = %v, want an error with %q", c.details, c.whole, err, c.want)
		}
	}
}

// packed returns a text as an answer with gzip.
func packed(t *testing.T, text string) Answer {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return Answer{Status: http.StatusOK, Header: http.Header{"Content-Encoding": {"gzip"}, "Etag": {`W/"1"`}}, Body: b.Bytes()}
}

func TestIdentity(t *testing.T) {
	a := packed(t, "text")
	if got, err := a.Identity(); err != nil || string(got) != "text" {
		t.Errorf("identity = %q, %v", got, err)
	}
	plain := Answer{Header: http.Header{}, Body: []byte("text")}
	if got, err := plain.Identity(); err != nil || string(got) != "text" {
		t.Errorf("identity of a plain answer = %q, %v", got, err)
	}
	two, short := a, a
	two.Body = append(bytes.Clone(a.Body), a.Body...)
	short.Body = a.Body[:len(a.Body)-3]
	for name, bad := range map[string]Answer{"of two members": two, "that is cut off": short} {
		if _, err := bad.Identity(); err == nil {
			t.Errorf("identity of an answer %s succeeds", name)
		}
	}
}
