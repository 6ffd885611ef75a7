package status

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// bodyKeys returns the keys of a JSON object in their order.
func bodyKeys(t *testing.T, body []byte) []string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(body))
	if _, err := dec.Token(); err != nil {
		t.Fatalf("body %s: %v", body, err)
	}
	var keys []string
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatalf("body %s: %v", body, err)
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			t.Fatalf("body %s: %v", body, err)
		}
		keys = append(keys, key.(string))
	}
	return keys
}

func TestTableMatchesReference(t *testing.T) {
	data, err := os.ReadFile("testdata/status-codes.tsv")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Code]bool{}
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		f := strings.Split(line, "\t")
		code := MissingQuery
		message := "query must be provided"
		if f[0] != "-" {
			n, err := strconv.Atoi(f[0])
			if err != nil {
				t.Fatalf("line %d: code %q", i+2, f[0])
			}
			code, message = Code(n), f[2]
		}
		if refusals[code].http == 0 {
			continue // the edge never sends it
		}
		seen[code] = true
		if got := strconv.Itoa(code.HTTP()); got != f[1] {
			t.Errorf("Code(%d).HTTP() = %s, want %s", code, got, f[1])
		}
		if got := code.Message(); got != message {
			t.Errorf("Code(%d).Message() = %q, want %q", code, got, message)
		}
		if got := strings.Join(bodyKeys(t, code.Body()), ","); got != f[4] {
			t.Errorf("Code(%d).Body() has keys %s, want %s", code, got, f[4])
		}
	}
	for c := range refusals {
		if refusals[c].http != 0 && !seen[Code(c)] {
			t.Errorf("code %d is in the table but not in the reference", c)
		}
	}
}

func TestBodyValues(t *testing.T) {
	for i := range refusals {
		c := Code(i)
		if refusals[i].http == 0 || c == MissingQuery {
			continue
		}
		var got struct {
			Code    int    `json:"status_code"`
			Message string `json:"status_message"`
			Success *bool  `json:"success"`
		}
		if err := json.Unmarshal(c.Body(), &got); err != nil {
			t.Fatalf("Code(%d).Body() = %s: %v", c, c.Body(), err)
		}
		if got.Code != i || got.Message != c.Message() {
			t.Errorf("Code(%d).Body() = %s, want its own code and message %q", c, c.Body(), c.Message())
		}
		if got.Success != nil && *got.Success {
			t.Errorf("Code(%d).Body() = %s, want no success", c, c.Body())
		}
	}
}

func TestBodyBytes(t *testing.T) {
	for _, tc := range []struct {
		code Code
		want string
	}{
		{InvalidKey, `{"status_code":7,"status_message":"Invalid API key: You must be granted a valid key.","success":false}`},
		{NotFound, `{"success":false,"status_code":34,"status_message":"The resource you requested could not be found."}`},
		{TooManyRequests, `{"status_code":25,"status_message":"Your request count (#) is over the allowed limit of (40)."}`},
		{MissingQuery, `{"errors":["query must be provided"]}`},
	} {
		if got := string(tc.code.Body()); got != tc.want {
			t.Errorf("Code(%d).Body() = %s, want %s", tc.code, got, tc.want)
		}
	}
}

func TestRecordedBodies(t *testing.T) {
	for file, code := range map[string]Code{
		"401-authentication--openapi-401.json":                InvalidKey,
		"404-movie-details-append--moviequeue-0-append3.json": NotFound,
		"400-body--adamayoung.json":                           InvalidPage,
		"422-body--adamayoung.json":                           InvalidDateRange,
		"422-validation-error--jdrouet.json":                  MissingQuery,
	} {
		data, err := os.ReadFile(sharedtest.Path(t, "recorded", "errors", file))
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer // the clients that recorded them indented some
		if err := json.Compact(&want, data); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if got := code.Body(); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("Code(%d).Body() = %s, want %s as in %s", code, got, want.Bytes(), file)
		}
	}
}

func TestUnknownCodeIsInternal(t *testing.T) {
	for _, c := range []Code{0, 1, 48, 199, 201, 255} {
		if c.HTTP() != 500 || c.Message() != Internal.Message() || !bytes.Equal(c.Body(), Internal.Body()) {
			t.Errorf("Code(%d) = %d %q %s, want the answer of Internal", c, c.HTTP(), c.Message(), c.Body())
		}
	}
}

func TestBodyIsClipped(t *testing.T) {
	b := NotFound.Body()
	if cap(b) != len(b) {
		t.Errorf("cap(NotFound.Body()) = %d, want its length %d", cap(b), len(b))
	}
}

func TestError(t *testing.T) {
	var err error = NotFound
	const want = "status 34 (HTTP 404): The resource you requested could not be found."
	if err.Error() != want {
		t.Errorf("Error() = %q, want %q", err, want)
	}
}
