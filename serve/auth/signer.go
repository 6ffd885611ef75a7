package auth

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/reelsplice/reelsplice/schemas/file"
)

// Lifetimes of the signed values, the same as TMDB's.
const (
	requestTokenLife = time.Hour
	guestSessionLife = 24 * time.Hour
)

// minKeyLen is the minimum length of a signing key, in bytes.
const minKeyLen = 16

// A Signer makes and checks the values of TMDB's session flow without storing them: each
// carries its expiry (4 bytes, unix seconds), 4 random bytes, and an HMAC-SHA-256 of both, truncated
// to the length of TMDB's values. Servers that share a key accept each other's values. The 4 random
// bytes make values of the same second differ, nearly always; do not rely on them as unique keys.
type Signer struct{ key []byte }

// kind is one sort of signed value. Its label goes into the HMAC, so that no value is accepted as one of another kind.
type kind struct {
	label string
	life  time.Duration
	size  int // bytes in all
}

const signedHead = 8

func requestToken() kind { return kind{"reelsplice request token 1\x00", requestTokenLife, 20} }
func guestSession() kind { return kind{"reelsplice guest session 1\x00", guestSessionLife, 16} }

// NewSigner returns a Signer with a copy of key, which has at least minKeyLen bytes.
func NewSigner(key []byte) (*Signer, error) {
	if len(key) < minKeyLen {
		return nil, fmt.Errorf("signing key of %d bytes: want at least %d", len(key), minKeyLen)
	}
	return &Signer{key: bytes.Clone(key)}, nil
}

// OpenSigner returns a Signer with the key in a file. Without a path the key is random, and its values expire with
// the process.
func OpenSigner(path string) (*Signer, error) {
	if path == "" {
		return NewSigner([]byte(rand.Text() + rand.Text()))
	}
	key, err := loadKey(path)
	if err != nil {
		return nil, err
	}
	return NewSigner(key)
}

// RequestToken returns a request token, 40 lowercase hex digits, and when it expires.
func (s *Signer) RequestToken(now time.Time, random io.Reader) (token string, expires time.Time, err error) {
	return s.sign(requestToken(), now, random)
}

// GuestSession returns the id of a guest session, 32 lowercase hex digits, and when it expires.
func (s *Signer) GuestSession(now time.Time, random io.Reader) (id string, expires time.Time, err error) {
	return s.sign(guestSession(), now, random)
}

// CheckGuestSession reports whether id was signed and has not expired. Its time does not depend on how
// much of a forged value is right.
func (s *Signer) CheckGuestSession(id []byte, now time.Time) bool {
	return s.check(guestSession(), id, now)
}

func (s *Signer) sign(k kind, now time.Time, random io.Reader) (string, time.Time, error) {
	expires := time.Unix(now.Add(k.life).Unix(), 0).UTC()
	if expires.Unix() < 0 || expires.Unix() > math.MaxUint32 {
		return "", time.Time{}, fmt.Errorf("sign value: expiry %v: want a time from 1970 to 2106", expires)
	}
	var head [signedHead]byte
	binary.BigEndian.PutUint32(head[:4], uint32(expires.Unix()))
	if _, err := io.ReadFull(random, head[4:]); err != nil {
		return "", time.Time{}, fmt.Errorf("sign value: read random bytes: %w", err)
	}
	value := append(head[:], s.mac(k, head[:])...)
	return hex.EncodeToString(value), expires, nil
}

func (s *Signer) check(k kind, text []byte, now time.Time) bool {
	value, err := hex.DecodeString(string(text))
	if err != nil || len(value) != k.size || bytes.ContainsAny(text, "ABCDEF") {
		return false
	}
	return hmac.Equal(value[signedHead:], s.mac(k, value[:signedHead])) && now.Unix() < int64(binary.BigEndian.Uint32(value))
}

func (s *Signer) mac(k kind, head []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(k.label))
	h.Write(head)
	return h.Sum(nil)[:k.size-signedHead]
}

// AppendExpiry appends t in the form of expires_at, 2026-08-16 21:27:28 UTC.
func AppendExpiry(dst []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(dst, "2006-01-02 15:04:05 UTC")
}

// loadKey reads a signing key: the content of a file, without white space around it, of at least minKeyLen bytes that
// are not all the same. A file that other users can read or write is refused. Errors omit the content.
func loadKey(path string) (key []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read key file %q: %w", path, err)
		}
	}()
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if perm := info.Mode().Perm(); perm&0o006 != 0 && runtime.GOOS != "windows" { // Windows has access lists instead of modes
		return nil, fmt.Errorf("other users have access, its mode is %#o: want 0600, as chmod 600 gives", perm)
	}
	const most = 4096
	data, err := file.Read(path, most)
	if err != nil {
		return nil, err
	}
	key = bytes.TrimSpace(data)
	switch {
	case len(key) < minKeyLen:
		return nil, fmt.Errorf("%d bytes: want at least %d", len(key), minKeyLen)
	case bytes.Count(key, key[:1]) == len(key):
		return nil, errors.New("all bytes are the same: want a random key, such as 32 bytes of /dev/urandom")
	}
	return key, nil
}
