package crawl

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"unicode"
)

// A Key is a credential of the API. It prints as [key], so that it never appears in logs or errors.
type Key struct{ text string }

// keyText replaces a key in texts.
const keyText = "[key]"

// maxKeyBytes is the longest key: a longer file is not a key.
const maxKeyBytes = 8 << 10

// ReadKey reads a file that holds only a key: one word of printable ASCII. Errors name the file, not the key.
func ReadKey(path string) (Key, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Key{}, fmt.Errorf("read key file: %w", err)
	}
	text := strings.TrimSpace(string(data))
	switch {
	case text == "":
		err = errors.New("want a key, found nothing")
	case len(text) > maxKeyBytes:
		err = fmt.Errorf("want a key of at most %d bytes, found %d", maxKeyBytes, len(text))
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > unicode.MaxASCII || !unicode.IsPrint(r) }):
		err = errors.New("want only the key, without spaces or other lines")
	}
	if err != nil {
		return Key{}, fmt.Errorf("key file %q: %w", path, err)
	}
	return Key{text}, nil
}

// String returns keyText.
func (Key) String() string { return keyText }

// GoString returns keyText.
func (Key) GoString() string { return keyText }

// v3Key matches keys that the API accepts only in the query. Other keys are sent in a header.
var v3Key = regexp.MustCompile(`^[0-9a-f]{32}$`)

// in reports whether a text contains the key.
func (k Key) in(text string) bool {
	return strings.Contains(text, k.text) || strings.Contains(text, url.QueryEscape(k.text))
}

// redact removes the key from a text.
func (k Key) redact(text string) string {
	if k.text == "" {
		return text
	}
	return strings.NewReplacer(k.text, keyText, url.QueryEscape(k.text), keyText).Replace(text)
}
