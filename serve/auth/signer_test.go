package auth

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

func newSigner(tb testing.TB, fill byte) *Signer {
	tb.Helper()
	s, err := NewSigner(bytes.Repeat([]byte{fill}, 16))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestRequestToken(t *testing.T) {
	s := newSigner(t, 1)
	token, expires, err := s.RequestToken(testNow, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(token) {
		t.Errorf("RequestToken() = %q, want 40 lowercase hex digits", token)
	}
	if want := time.Date(2026, 8, 16, 13, 0, 0, 0, time.UTC); !expires.Equal(want) {
		t.Errorf("RequestToken() expires %v, want %v", expires, want)
	}
	f := func(s *Signer, token string, now time.Time, want bool) {
		t.Helper()
		if got := s.check(requestToken(), []byte(token), now); got != want {
			t.Errorf("check(%q, %v) = %v, want %v", token, now, got, want)
		}
	}
	f(s, token, testNow, true)
	f(s, token, expires.Add(-time.Nanosecond), true)
	f(s, token, expires, false)
	f(newSigner(t, 2), token, testNow, false)
	f(s, strings.ToUpper(token), testNow, false)
	f(s, token[:38], testNow, false)
	f(s, token+"00", testNow, false)
	f(s, "", testNow, false)
	f(s, strings.Repeat("x", 40), testNow, false)
	// Every change of one digit, the expiry included, even when the clock is past it.
	for i := range token {
		bad := []byte(token)
		bad[i] = "0123456789abcdef"[(strings.IndexByte("0123456789abcdef", bad[i])+1)%16]
		f(s, string(bad), expires.Add(time.Hour), false)
	}
}

func TestGuestSession(t *testing.T) {
	s := newSigner(t, 1)
	id, expires, err := s.GuestSession(testNow, rand.Reader)
	if err != nil || len(id) != 32 || !expires.Equal(testNow.Truncate(time.Second).Add(24*time.Hour)) {
		t.Fatalf("GuestSession() = %q, %v, %v, want 32 digits for a day", id, expires, err)
	}
	if !s.CheckGuestSession([]byte(id), testNow) {
		t.Error("CheckGuestSession() = false")
	}
	if s.CheckGuestSession([]byte(id), expires) {
		t.Error("CheckGuestSession(at its end) = true")
	}
	token, _, err := s.RequestToken(testNow, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	// Neither passes for the other, nor does one cut to the length of the other.
	for _, bad := range []string{token, token[:32]} {
		if s.CheckGuestSession([]byte(bad), testNow) {
			t.Errorf("CheckGuestSession(%q) = true", bad)
		}
	}
}

// Values signed before an update stay good after it.
func TestSignedGolden(t *testing.T) {
	s := newSigner(t, 1)
	token, _, err := s.RequestToken(testNow, bytes.NewReader([]byte{1, 2, 3, 4}))
	const wantToken = "6a81b450" + "01020304" + "7aa141243919449670efde11"
	if err != nil || token != wantToken {
		t.Errorf("RequestToken() = %q, %v, want %q", token, err, wantToken)
	}
	id, _, err := s.GuestSession(testNow, bytes.NewReader([]byte{1, 2, 3, 4}))
	const wantID = "6a82f7c0" + "01020304" + "8ddf0eff253f0201"
	if err != nil || id != wantID {
		t.Errorf("GuestSession() = %q, %v, want %q", id, err, wantID)
	}
}

func TestSignRefuses(t *testing.T) {
	s := newSigner(t, 1)
	for _, now := range []time.Time{{}, time.Date(2107, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if token, _, err := s.RequestToken(now, rand.Reader); err == nil {
			t.Errorf("RequestToken(%v) = %q, want an error", now, token)
		}
	}
	if token, _, err := s.RequestToken(testNow, bytes.NewReader([]byte{1})); err == nil {
		t.Errorf("RequestToken(1 random byte) = %q, want an error", token)
	}
	if _, err := NewSigner(make([]byte, 15)); err == nil {
		t.Error("NewSigner(15 bytes): want an error")
	}
}

func TestAppendExpiry(t *testing.T) {
	at := time.Date(2026, 8, 16, 23, 27, 28, 999, time.FixedZone("", 7200))
	if got := string(AppendExpiry([]byte("x"), at)); got != "x2026-08-16 21:27:28 UTC" {
		t.Errorf("AppendExpiry() = %q, want x2026-08-16 21:27:28 UTC", got)
	}
}

func TestLoadKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	f := func(content, want string) {
		t.Helper()
		mustWrite(t, path, content)
		if got, err := loadKey(path); err != nil || string(got) != want {
			t.Errorf("loadKey(%q) = %q, %v, want %q", content, got, err, want)
		}
	}
	f(" 000102030405060708090A0b0c0d0e0f\n", "000102030405060708090A0b0c0d0e0f")
	f("\x00\xff34567890123456", "\x00\xff34567890123456")

	bad := func(content, want string) {
		t.Helper()
		mustWrite(t, path, content)
		key, err := loadKey(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("loadKey(%.40q) = %q, %v, want an error with the file and %q", content, key, err, want)
		}
	}
	bad("", "0 bytes: want at least 16")
	bad(strings.Repeat("\n", 40), "0 bytes")
	bad("short of a key\n", "14 bytes: want at least 16")
	bad(strings.Repeat("x", 4097), "larger than 4096 bytes")
	bad(strings.Repeat("0", 64), "all bytes are the same")
	bad(strings.Repeat("\x00", 32), "all bytes are the same")
	bad(strings.Repeat("\xff", 32), "all bytes are the same")
	mustWrite(t, path, "000102030405060708090A0b0c0d0e0f\n")
	for _, mode := range []os.FileMode{0o604, 0o602, 0o644} {
		if runtime.GOOS == "windows" {
			break // modes mean nothing there
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := loadKey(path); err == nil || !strings.Contains(err.Error(), "other users have access") {
			t.Errorf("loadKey(mode %#o) = %v, want an error about other users", mode, err)
		}
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := loadKey(path); err != nil {
		t.Errorf("loadKey(mode 0640) = %v, want none", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := loadKey(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("loadKey(no file) = %v, want ErrNotExist", err)
	}
}

func TestOpenSigner(t *testing.T) {
	s, err := OpenSigner("")
	if err != nil || len(s.key) < 32 {
		t.Errorf("OpenSigner() = %d bytes, %v, want 32 or more", len(s.key), err)
	}
	if _, err := OpenSigner(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("OpenSigner(no file) = %v, want ErrNotExist", err)
	}
}
