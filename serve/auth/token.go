package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
)

// Prefix starts every token this package generates, so that secret scanners can find a leaked one.
const Prefix = "rsp_"

// A token is the prefix, 256 random bits as 43 base62 digits, and the CRC-32 of all of that as 6 more.
// Base62 has no punctuation: a double click selects the whole token, and no URL escapes it. The 53
// bytes fit into one SHA-256 block.
const (
	secretBytes    = 32
	secretDigits   = 43
	checksumDigits = 6

	// TokenLen is the length of a generated token.
	TokenLen = len(Prefix) + secretDigits + checksumDigits

	// MaxTokenLen bounds every token, generated or chosen by an operator, in bytes.
	MaxTokenLen = 512
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Generate returns a new token made of 256 bits read from rand.
func Generate(rand io.Reader) (string, error) {
	var secret [secretBytes]byte
	if _, err := io.ReadFull(rand, secret[:]); err != nil {
		return "", fmt.Errorf("read %d random bytes: %w", len(secret), err)
	}
	token := make([]byte, 0, TokenLen)
	token = append(token, Prefix...)
	token = appendSecret(token, secret[:])
	token = appendChecksum(token, token)
	return string(token), nil
}

// Random bytes of the ids of sessions, which have twice as many hex digits: as many as
// TMDB's, and too many to guess.
const (
	sessionBytes = 20
	guestBytes   = 16
)

// generateSession returns the id of a new session.
func generateSession(size int, rand io.Reader) (string, error) {
	id := make([]byte, size)
	if _, err := io.ReadFull(rand, id); err != nil {
		return "", fmt.Errorf("read %d random bytes: %w", size, err)
	}
	return hex.EncodeToString(id), nil
}

// appendSecret appends secret as a number of exactly secretDigits base62 digits.
func appendSecret(dst, secret []byte) []byte {
	var digits [secretDigits]byte
	n, base, digit := new(big.Int).SetBytes(secret), big.NewInt(int64(len(base62))), new(big.Int)
	for i := len(digits) - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		digits[i] = base62[digit.Int64()]
	}
	return append(dst, digits[:]...)
}

// appendChecksum appends the CRC-32 (IEEE) of body to dst.
func appendChecksum(dst, body []byte) []byte {
	var digits [checksumDigits]byte
	sum := crc32.ChecksumIEEE(body)
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return append(dst, digits[:]...)
}

// CheckChosen says what is wrong with a token that an operator chose: no client could send it,
// or, unless weak ones are taken, it is easy to guess. The error does not quote the token.
func CheckChosen(token []byte, weak bool) error {
	switch {
	case len(token) == 0 || len(token) > MaxTokenLen:
		return fmt.Errorf("token of %d bytes: want 1 to %d", len(token), MaxTokenLen)
	case !isVisible(token):
		return errors.New("token: want visible ASCII without blanks")
	case !wellFormed(token):
		return fmt.Errorf("token: want one that does not start with %s, or a generated one", Prefix)
	case weak:
		return nil
	}
	if distinct := distinctBytes(token); len(token) < strongLen || distinct < strongDistinct {
		return fmt.Errorf("token of %d characters, %d of them distinct: %w, want %d or more, %d distinct", len(token), distinct, ErrWeak, strongLen, strongDistinct)
	}
	return nil
}

// ErrWeak matches the error for a token that is easy to guess.
var ErrWeak = errors.New("easy to guess")

// What a chosen token needs to be hard to guess. A v3 key, 32 hex digits, has it.
const (
	strongLen      = 20
	strongDistinct = 8
)

func distinctBytes(b []byte) int {
	var seen [256]bool
	n := 0
	for _, c := range b {
		if !seen[c] {
			seen[c] = true
			n++
		}
	}
	return n
}

// ParseToken reports whether token is one that Generate can return: prefix, length, digits and
// checksum fit. It does not say that anyone issued it.
func ParseToken(token []byte) bool {
	if len(token) != TokenLen || !hasPrefix(token) {
		return false
	}
	body := token[:TokenLen-checksumDigits]
	for _, c := range body[len(Prefix):] {
		if !isBase62(c) {
			return false
		}
	}
	var sum [checksumDigits]byte
	return string(appendChecksum(sum[:0], body)) == string(token[len(body):])
}

// HashToken returns what the token file keeps of a token.
func HashToken(token []byte) [sha256.Size]byte { return sha256.Sum256(token) }

// wellFormed reports whether token is worth a hash: any visible ASCII an operator may have chosen, but
// with our prefix only together with our checksum.
func wellFormed(token []byte) bool {
	if hasPrefix(token) {
		return ParseToken(token)
	}
	return len(token) > 0 && len(token) <= MaxTokenLen && isVisible(token)
}

func hasPrefix(token []byte) bool {
	return len(token) >= len(Prefix) && string(token[:len(Prefix)]) == Prefix
}

func isBase62(c byte) bool {
	return c-'0' < 10 || c-'A' < 26 || c-'a' < 26
}

// isVisible reports whether b holds only ASCII from ! to ~.
func isVisible(b []byte) bool {
	for _, c := range b {
		if c-'!' > '~'-'!' {
			return false
		}
	}
	return true
}
