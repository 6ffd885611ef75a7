package auth

import (
	"bytes"
	"crypto/rand"
	"math/big"
	"strings"
	"testing"
)

func TestGenerate(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		token, err := Generate(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if len(token) != 53 || !ParseToken([]byte(token)) || !wellFormed([]byte(token)) {
			t.Fatalf("Generate() = %q (%d bytes), want 53 bytes that ParseToken accepts", token, len(token))
		}
		if seen[token] {
			t.Fatalf("Generate() returned %q twice", token)
		}
		seen[token] = true
	}
}

// The form is a promise to secret scanners and to files already written: these bytes never change.
func TestGenerateGolden(t *testing.T) {
	for _, tc := range []struct {
		fill byte
		want string
	}{
		{0x00, "rsp_00000000000000000000000000000000000000000000etRtZ"},
		{0xff, "rsp_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp12cyscD"},
	} {
		got, err := Generate(bytes.NewReader(bytes.Repeat([]byte{tc.fill}, 32)))
		if err != nil || got != tc.want {
			t.Errorf("Generate(32 times %#x) = %q, %v, want %q", tc.fill, got, err, tc.want)
		}
	}
}

func TestSecretHoldsAllBits(t *testing.T) {
	secret := bytes.Repeat([]byte{0xa5, 0x5a}, 16)
	digits := appendSecret(nil, secret)
	n := new(big.Int)
	for _, c := range digits {
		n.Mul(n, big.NewInt(62)).Add(n, big.NewInt(int64(strings.IndexByte(base62, c))))
	}
	if got := n.FillBytes(make([]byte, 32)); !bytes.Equal(got, secret) {
		t.Errorf("appendSecret(%x) reads back as %x", secret, got)
	}
}

func TestGenerateShortRandom(t *testing.T) {
	if token, err := Generate(bytes.NewReader(make([]byte, 31))); err == nil {
		t.Errorf("Generate(31 bytes) = %q, want an error", token)
	}
}

func TestParseTokenRefuses(t *testing.T) {
	token := []byte(newToken(t))
	// Every change of one byte.
	for i := range token {
		bad := bytes.Clone(token)
		bad[i] ^= 1
		if ParseToken(bad) {
			t.Errorf("ParseToken(%q) = true, byte %d is wrong", bad, i)
		}
	}
	f := func(s string) {
		t.Helper()
		if ParseToken([]byte(s)) {
			t.Errorf("ParseToken(%q) = true, want false", s)
		}
	}
	f("")
	f("rsp_")
	f(string(token[:52]))
	f(string(token) + "0")
	// A right checksum does not excuse a digit that is none.
	body := "rsp_" + strings.Repeat("-", 43)
	f(string(appendChecksum([]byte(body), []byte(body))))
}

func TestWellFormed(t *testing.T) {
	f := func(s string, want bool) {
		t.Helper()
		if got := wellFormed([]byte(s)); got != want {
			t.Errorf("wellFormed(%q) = %v, want %v", s, got, want)
		}
	}
	// Tokens of other makers.
	f("0123456789abcdef0123456789abcdef", true)
	f("eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiIxIn0.c2ln", true)
	f("x", true)
	f("rsp", true)
	f("RSP_not-ours", true)
	f(strings.Repeat("~", 512), true)
	// Ours, broken.
	f("rsp_", false)
	f("rsp_0123456789", false)
	// Nobody's.
	f("", false)
	f(strings.Repeat("~", 513), false)
	f("a b", false)
	f("a\x00", false)
	f("a\x7f", false)
	f("é", false)
}

// newToken returns a fresh token.
func newToken(tb testing.TB) string {
	tb.Helper()
	token, err := Generate(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return token
}

func TestCheckChosen(t *testing.T) {
	f := func(token string, weak bool, want string) {
		t.Helper()
		err := CheckChosen([]byte(token), weak)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || token != "" && strings.Contains(err.Error(), token)) {
			t.Errorf("CheckChosen(%q, %v) = %v, want an error with %q that does not quote it", token, weak, err, want)
		}
		if err == nil && NewTable([]Record{{Hash: HashToken([]byte(token)), Scopes: ScopeRead}}).Check([]byte(token), 0).Reason != None {
			t.Errorf("CheckChosen takes %q, and no Table does", token)
		}
	}
	f("0123456789abcdef0123456789abcdef", false, "")
	f("4d2bf1c9aa7e48e6a3b1", false, "")
	f("4d2bf1c9aa7e48e6a3b", false, "easy to guess")
	f("abababababababababababababab", false, "easy to guess")
	f("k", true, "")
	f("", true, "want 1 to 512")
	f(strings.Repeat("x", MaxTokenLen+1), true, "want 1 to 512")
	f("a b", true, "visible ASCII")
	f("schl\u00fcssel", true, "visible ASCII")
	f("rsp_abc", true, "start with rsp_")
}
