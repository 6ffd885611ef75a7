package auth

import (
	"fmt"
	"hash/crc32"
	"regexp"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func TestGenerate(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		token := newToken(t)
		if !regexp.MustCompile(`^rsp_[0-9A-Za-z]{49}$`).MatchString(token) || len(token) != TokenLen {
			t.Fatalf("generate() = %q (%d bytes), want the prefix and 49 letters and digits", token, len(token))
		}
		secret, sum := token[:len(token)-8], token[len(token)-8:]
		if want := fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(secret))); sum != want {
			t.Errorf("generate() = %q, want the checksum %s at its end", token, want)
		}
		if seen[token] {
			t.Fatalf("generate() returned %q twice", token)
		}
		seen[token] = true
	}
}

func TestMalformed(t *testing.T) {
	f := func(s string, want Reason) {
		t.Helper()
		if got := NewTable(nil).Check(KindToken, []byte(s), 0).Reason; got != want {
			t.Errorf("Check(%q) = %v, want %v", s, got, want)
		}
	}
	f("0123456789abcdef0123456789abcdef", Unknown)
	f("eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiIxIn0.c2ln", Unknown)
	f("x", Unknown)
	f("rsp_0123456789", Unknown)
	f(strings.Repeat("~", 512), Unknown)
	f("", Malformed)
	f(strings.Repeat("~", 513), Malformed)
	f("a b", Malformed)
	f("a\x00", Malformed)
	f("a\x7f", Malformed)
	f("é", Malformed)
}

// newToken returns a fresh token.
func newToken(tb testing.TB) string {
	tb.Helper()
	return generate(KindToken)
}

func TestCheckChosen(t *testing.T) {
	sharedtest.Cases(t, "testdata/chosen.txt", func(input string) string {
		strength, token, _ := strings.Cut(input, " ")
		if err := CheckChosen([]byte(token), strength == "weak"); err != nil {
			return err.Error()
		}
		if NewTable([]Record{{Hash: HashToken([]byte(token))}}).Check(KindToken, []byte(token), 0).Reason != None {
			t.Errorf("CheckChosen takes %q, and no Table does", token)
		}
		return ""
	})
}
