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

// TestTableMatchesReference: each code has the status, the message and the order of properties of the API.
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
		values := map[string]string{"success": "false", "status_code": f[0], "status_message": strconv.Quote(message), "errors": `["` + message + `"]`}
		var properties []string
		for _, key := range strings.Split(f[4], ",") {
			properties = append(properties, `"`+key+`":`+values[key])
		}
		if got, want := string(code.Body()), "{"+strings.Join(properties, ",")+"}"; got != want {
			t.Errorf("Code(%d).Body() = %s, want %s", code, got, want)
		}
	}
	for c := range refusals {
		if refusals[c].http != 0 && !seen[Code(c)] {
			t.Errorf("code %d is in the table but not in the reference", c)
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
