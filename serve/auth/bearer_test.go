package auth

import (
	"bytes"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func TestBearer(t *testing.T) {
	sharedtest.Cases(t, "testdata/bearer.txt", func(header string) string {
		token, ok := Bearer([]byte(header))
		if ok != (len(token) > 0) {
			t.Errorf("Bearer(%q) = %q, %v", header, token, ok)
		}
		return string(token)
	})
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
