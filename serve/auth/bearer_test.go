package auth

import (
	"bytes"
	"strings"
	"testing"
)

func TestBearer(t *testing.T) {
	f := func(header, want string) {
		t.Helper()
		token, ok := Bearer([]byte(header))
		if !ok || string(token) != want {
			t.Errorf("Bearer(%q) = %q, %v, want %q", header, token, ok, want)
		}
	}
	f("Bearer abc", "abc")
	f("bearer abc", "abc")
	f("BEARER abc", "abc")
	// Blanks before and after the token.
	f("Bearer   abc", "abc")
	f("Bearer\tabc", "abc")
	f("Bearer \t abc \t ", "abc")
	// Any visible ASCII.
	f("Bearer !a.b-c_d~e+f/g==", "!a.b-c_d~e+f/g==")

	bad := func(header string) {
		t.Helper()
		if token, ok := Bearer([]byte(header)); ok || token != nil {
			t.Errorf("Bearer(%q) = %q, %v, want no token", header, token, ok)
		}
	}
	bad("")
	bad("Bearer")
	bad("Bearer ")
	bad("Bearer  \t")
	bad("Bearerabc")
	bad("Bearer:abc")
	bad(" Bearer abc")
	// Other schemes, one of them with a byte that is a letter but for one bit.
	bad("Basic YTpi")
	bad("abc")
	bad("\"earer abc")
	// More than one parameter.
	bad("Bearer abc def")
	bad(`Bearer abc, realm="x"`)
	// Not visible ASCII.
	bad("Bearer a\x00c")
	bad("Bearer a\rc")
	bad("Bearer é")
}

func FuzzBearer(f *testing.F) {
	for _, s := range []string{"Bearer abc", "bearer  \tx ", "Basic abc", "Bearer", "Bearer a b", "Bearer \xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, header []byte) {
		token, ok := Bearer(header)
		if !ok {
			if token != nil {
				t.Fatalf("Bearer(%q) = %q without ok", header, token)
			}
			return
		}
		if len(token) == 0 || bytes.ContainsAny(token, " \t\r\n") || !bytes.Contains(header, token) {
			t.Fatalf("Bearer(%q) = %q, want a part of it without blanks", header, token)
		}
		if !strings.EqualFold(string(header[:6]), "bearer") {
			t.Fatalf("Bearer(%q) accepts another scheme", header)
		}
		again, ok := Bearer(append([]byte("Bearer "), token...))
		if !ok || !bytes.Equal(again, token) {
			t.Fatalf("Bearer(%q) = %q, but written back it gives %q, %v", header, token, again, ok)
		}
		NewTable(nil).Check(token, 0)
	})
}
