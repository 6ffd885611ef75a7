package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// tokenPrefix starts every generated token, so that secret scanners can find leaked ones.
const tokenPrefix = "rsp_"

const (
	// TokenLen is the length of a generated token: the prefix, 205 random bits and a checksum as
	// letters and digits, so that a double click selects all of it and URLs need no escapes.
	TokenLen = len(tokenPrefix) + randomDigits + 8

	randomDigits = 41

	// MaxTokenLen bounds every token, generated or chosen by an operator, in bytes.
	MaxTokenLen = 512
)

// Numbers of random bytes in session ids and in HexKey, each two hex digits: as many as in TMDB's, and too many to
// guess.
const (
	keyBytes     = 16
	sessionBytes = 20
	guestBytes   = 16
)

// generate returns a new credential of a kind. As with TMDB, a session has 40 hex digits and a guest's
// session 32.
func generate(kind Kind) string {
	switch kind {
	case KindSession:
		return randomHex(sessionBytes)
	case KindGuest:
		return randomHex(guestBytes)
	default:
		secret := (tokenPrefix + rand.Text() + rand.Text())[:len(tokenPrefix)+randomDigits]
		return fmt.Sprintf("%s%08x", secret, crc32.ChecksumIEEE([]byte(secret))) // secret scanners can check the checksum
	}
}

// HexKey returns a new token of 32 hex digits, the form of TMDB's v3 keys: some applications take no other.
func HexKey() string { return randomHex(keyBytes) }

func randomHex(size int) string {
	id := make([]byte, size)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}

// CheckChosen returns why a token chosen by an operator is unusable: no client could send it, or it is easy to
// guess. weak allows tokens that are easy to guess. The error does not quote the token.
func CheckChosen(token []byte, weak bool) error {
	switch {
	case len(token) == 0 || len(token) > MaxTokenLen:
		return fmt.Errorf("token of %d bytes: want 1 to %d", len(token), MaxTokenLen)
	case !isVisible(token):
		return errors.New("token: want visible ASCII without spaces")
	case weak:
		return nil
	}
	if distinct := len(slices.Compact(slices.Sorted(slices.Values(token)))); len(token) < strongLen || distinct < strongDistinct {
		return fmt.Errorf("token of %d characters, %d of them distinct: %w, want %d or more, %d distinct", len(token), distinct, ErrWeak, strongLen, strongDistinct)
	}
	return nil
}

// ErrWeak matches the error for a token that is easy to guess.
var ErrWeak = errors.New("easy to guess")

// A chosen token with this length and number of distinct characters is hard to guess, such as a v3 key of 32 hex digits.
const (
	strongLen      = 20
	strongDistinct = 8
)

// HashToken returns the hash of a token. The token file has only this.
func HashToken(token []byte) [sha256.Size]byte { return sha256.Sum256(token) }

// isVisible reports whether b holds only ASCII from ! to ~.
func isVisible(b []byte) bool {
	for _, c := range b {
		if c-'!' > '~'-'!' {
			return false
		}
	}
	return true
}
