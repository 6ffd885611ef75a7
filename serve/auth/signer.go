package auth

import (
	"bytes"
	"crypto/hmac"
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
)

// Lives of the signed values, those of TMDB.
const (
	RequestTokenLife = time.Hour
	GuestSessionLife = 24 * time.Hour
)

// MinKeyLen is the least length of a signing key, in bytes.
const MinKeyLen = 16

// What the checks of a Signer return.
var (
	ErrInvalid = errors.New("auth: signed value is invalid")
	ErrExpired = errors.New("auth: signed value has expired")
)

// A Signer makes and checks the values of TMDB's session flow without keeping any of them: each
// carries its expiry (4 bytes, unix seconds), 4 random bytes, and an HMAC-SHA-256 of both, cut to the
// length TMDB's form leaves. Servers that share a key accept each other's values. The 4 random bytes
// make values of the same second differ, nearly always; nothing may rely on them as unique keys.
type Signer struct{ key []byte }

// kind is one sort of signed value. Its label goes into the HMAC, so that no value passes for another.
type kind struct {
	label string
	life  time.Duration
	size  int // bytes in all
}

const signedHead = 8

func requestToken() kind { return kind{"reelsplice request token 1\x00", RequestTokenLife, 20} }
func guestSession() kind { return kind{"reelsplice guest session 1\x00", GuestSessionLife, 16} }

// NewSigner returns a Signer with a copy of key, which has at least MinKeyLen bytes.
func NewSigner(key []byte) (*Signer, error) {
	if len(key) < MinKeyLen {
		return nil, fmt.Errorf("signing key of %d bytes: want at least %d", len(key), MinKeyLen)
	}
	return &Signer{key: bytes.Clone(key)}, nil
}

// RequestToken returns a request token, 40 lowercase hex digits, and when it expires.
func (s *Signer) RequestToken(now time.Time, rand io.Reader) (token string, expires time.Time, err error) {
	return s.sign(requestToken(), now, rand)
}

// GuestSession returns the id of a guest session, 32 lowercase hex digits, and when it expires.
func (s *Signer) GuestSession(now time.Time, rand io.Reader) (id string, expires time.Time, err error) {
	return s.sign(guestSession(), now, rand)
}

// CheckGuestSession returns nil, ErrExpired or ErrInvalid, in a time that does not depend on how much
// of a forged value is right.
func (s *Signer) CheckGuestSession(id []byte, now time.Time) error {
	return s.check(guestSession(), id, now)
}

func (s *Signer) sign(k kind, now time.Time, rand io.Reader) (string, time.Time, error) {
	expires := time.Unix(now.Add(k.life).Unix(), 0).UTC()
	if expires.Unix() < 0 || expires.Unix() > math.MaxUint32 {
		return "", time.Time{}, fmt.Errorf("sign value: expiry %v: want a time from 1970 to 2106", expires)
	}
	var head [signedHead]byte
	binary.BigEndian.PutUint32(head[:4], uint32(expires.Unix()))
	if _, err := io.ReadFull(rand, head[4:]); err != nil {
		return "", time.Time{}, fmt.Errorf("sign value: read random bytes: %w", err)
	}
	value := append(head[:], s.mac(k, head[:])...)
	return hex.EncodeToString(value), expires, nil
}

func (s *Signer) check(k kind, text []byte, now time.Time) error {
	var raw [20]byte // the largest size
	if len(text) != hex.EncodedLen(k.size) || bytes.ContainsAny(text, "ABCDEF") {
		return ErrInvalid
	}
	if _, err := hex.Decode(raw[:], text); err != nil {
		return ErrInvalid
	}
	value := raw[:k.size]
	if !hmac.Equal(value[signedHead:], s.mac(k, value[:signedHead])) {
		return ErrInvalid
	}
	if now.Unix() >= int64(binary.BigEndian.Uint32(value)) {
		return ErrExpired
	}
	return nil
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

// RandomKey returns a new signing key of 32 bytes, for a server without a key file; its values die
// with it.
func RandomKey(rand io.Reader) ([]byte, error) {
	key := make([]byte, 32)
	if _, err := io.ReadFull(rand, key); err != nil {
		return nil, fmt.Errorf("make signing key: read random bytes: %w", err)
	}
	return key, nil
}

// LoadKey reads a signing key: a file of hex digits, blanks around them ignored, or any other content,
// taken byte for byte. Either way it must come to at least MinKeyLen bytes that are not all the same. A
// file that other users can read or write is refused.
func LoadKey(path string) ([]byte, error) {
	const most = 4096
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read key file %q: %w", path, err)
	}
	defer f.Close()
	if err := checkPrivate(f); err != nil {
		return nil, fmt.Errorf("read key file %q: %w", path, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fmt.Errorf("read key file %q: %w", path, err)
	}
	if len(data) > most {
		return nil, fmt.Errorf("read key file %q: larger than %d bytes: want a key", path, most)
	}
	key, err := decodeKey(data)
	if err == nil && bytes.Count(key, key[:1]) == len(key) {
		err = errors.New("all bytes are the same: want a random key, such as 32 bytes of /dev/urandom")
	}
	if err != nil {
		return nil, fmt.Errorf("read key file %q: %w", path, err)
	}
	return key, nil
}

// checkPrivate refuses a file that users other than its owner and group can read or write. Windows has
// no such bits.
func checkPrivate(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if perm := info.Mode().Perm(); runtime.GOOS != "windows" && perm&0o006 != 0 {
		return fmt.Errorf("other users have access, its mode is %#o: want 0600, as chmod 600 gives", perm)
	}
	return nil
}

// decodeKey keeps the content out of its messages.
func decodeKey(data []byte) ([]byte, error) {
	text := bytes.TrimSpace(data)
	if len(text) == 0 {
		return nil, fmt.Errorf("empty: want at least %d bytes, or %d hex digits", MinKeyLen, 2*MinKeyLen)
	}
	if isHex(text) {
		if len(text)%2 != 0 || len(text) < 2*MinKeyLen {
			return nil, fmt.Errorf("%d hex digits: want an even number, at least %d", len(text), 2*MinKeyLen)
		}
		return hex.AppendDecode(nil, text)
	}
	if len(data) < MinKeyLen {
		return nil, fmt.Errorf("%d bytes: want at least %d, or %d hex digits", len(data), MinKeyLen, 2*MinKeyLen)
	}
	return data, nil
}

func isHex(text []byte) bool {
	for _, c := range text {
		if c-'0' >= 10 && lower(c)-'a' >= 6 {
			return false
		}
	}
	return true
}
