package auth

import (
	"bytes"
	"strings"
	"testing"
)

func TestBearer(t *testing.T) {
	for header, want := range map[string]string{
		"Bearer abc": "abc", "bearer abc": "abc", "BEARER abc": "abc", "Bearer   abc": "abc", "Bearer\tabc": "abc", "Bearer \t abc \t ": "abc",
		"Bearer !a.b-c_d~e+f/g==": "!a.b-c_d~e+f/g==",
		// No token: none there, no blank, another scheme, one of them with a byte that is a letter but for one bit.
		"": "", "Bearer": "", "Bearer ": "", "Bearer  \t": "", "Bearerabc": "", "Bearer:abc": "", " Bearer abc": "", "Basic YTpi": "", "abc": "", "\"earer abc": "",
		// More than one parameter, or other bytes than visible ASCII.
		"Bearer abc def": "", `Bearer abc, realm="x"`: "", "Bearer a\x00c": "", "Bearer a\rc": "", "Bearer é": "",
	} {
		if token, ok := Bearer([]byte(header)); string(token) != want || ok != (want != "") {
			t.Errorf("Bearer(%q) = %q, %v, want %q", header, token, ok, want)
		}
	}
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
		NewTable(nil).Check(KindToken, token, 0)
	})
}
