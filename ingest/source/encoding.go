package source

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	utf16 "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Values of Options.Encoding beside the names of encodings.
const (
	EncodingAuto = "auto"  // UTF-8, or UTF-16 with a byte order mark; another one is guessed in the error that refuses it
	EncodingUTF8 = "utf-8" // whatever the bytes are
)

// maxSample is how many bytes of a file show its encoding.
const maxSample = 64 << 10

// CheckEncoding returns an error for a name that is no value of Options.Encoding.
func CheckEncoding(name string) error {
	_, err := encodingNamed(name)
	return err
}

// encodingNamed returns the encoding of a name, in any case; nil for UTF-8.
func encodingNamed(name string) (encoding.Encoding, error) {
	switch name = strings.ToLower(name); name {
	case "", EncodingAuto, EncodingUTF8, "utf8":
		return nil, nil
	case "utf-16", "utf-16le":
		return utf16.UTF16(utf16.LittleEndian, utf16.UseBOM), nil
	case "utf-16be":
		return utf16.UTF16(utf16.BigEndian, utf16.UseBOM), nil
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		e, err = ianaindex.IANA.Encoding(name)
	}
	if err != nil || e == nil {
		return nil, fmt.Errorf("encoding %q: want auto, or a name such as windows-1252, iso-8859-1, utf-16, shift_jis or gb18030", name)
	}
	return e, nil
}

// decode returns the window over a text, decoded, and the name of its encoding; w and "" for UTF-8. Text that shows to be
// UTF-8 is read so, whatever name is: the other sources of a run may be in another encoding.
func decode(w *window, name string, maxRow int) (*window, string, error) {
	sample := w.fill(maxSample)
	sample = wholeRunes(sample[:min(len(sample), maxSample)])
	enc, err := encodingNamed(name)
	auto := name == "" || name == EncodingAuto
	if err != nil {
		return w, "", err
	}
	switch {
	case enc == nil && !auto:
		return w, "", nil
	case bytes.HasPrefix(sample, []byte("\xff\xfe")), bytes.HasPrefix(sample, []byte("\xfe\xff")):
		enc, name = utf16.UTF16(utf16.LittleEndian, utf16.UseBOM), "utf-16"
	case bytes.HasPrefix(sample, []byte("\xef\xbb\xbf")), bytes.HasPrefix(sample, []byte("PAR1")), isNoText(sample):
		return w, "", nil
	case auto:
		if guess := guessEncoding(sample); guess != "" {
			return w, "", fmt.Errorf("not UTF-8; looks like %s: --encoding %s", guess, guess)
		}
		return w, "", nil
	default:
		if valid, invalid := countUTF8(sample); valid > invalid && bytes.IndexByte(sample, 0) < 0 {
			return w, "", nil
		}
	}
	raw := io.MultiReader(bytes.NewReader(bytes.Clone(w.held())), w.r)
	return newWindow(transform.NewReader(raw, enc.NewDecoder()), maxRow), name, nil
}

// wholeRunes cuts the character of UTF-8 off that the end of a sample cuts.
func wholeRunes(sample []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(sample); n++ {
		if end := len(sample) - n; utf8.RuneStart(sample[end]) {
			if !utf8.FullRune(sample[end:]) {
				return sample[:end]
			}
			break
		}
	}
	return sample
}

// countUTF8 counts the characters of more than one byte, and the bytes that are of none.
func countUTF8(sample []byte) (valid, invalid int) {
	for len(sample) > 0 {
		r, n := utf8.DecodeRune(sample)
		switch {
		case n > 1:
			valid++
		case r == utf8.RuneError:
			invalid++
		}
		sample = sample[n:]
	}
	return valid, invalid
}

// fewCut is how many broken characters JSON may have that is UTF-8: programs cut texts in their middle.
const fewCut = 2

// guessEncoding returns the likely encoding of a text that is not UTF-8; "" for UTF-8, and for what is no text.
func guessEncoding(sample []byte) string {
	if utf8.Valid(sample) && bytes.IndexByte(sample, 0) < 0 {
		return ""
	}
	even, odd, controls := 0, 0, 0
	for i, c := range sample {
		switch {
		case c == 0 && i%2 == 0:
			even++
		case c == 0:
			odd++
		case c < ' ' && !strings.ContainsRune("\t\n\r\f", rune(c)):
			controls++
		}
	}
	switch { // ASCII characters of UTF-16 have a zero byte each
	case odd > max(1, 10*even) && 10*odd > len(sample):
		return "utf-16le"
	case even > max(1, 10*odd) && 10*even > len(sample):
		return "utf-16be"
	case even+odd+controls > 0:
		return ""
	}
	valid, invalid := countUTF8(sample)
	if head := bytes.TrimLeft(sample, " \t\r\n"); invalid <= valid || hasAnyPrefix(head, "{", "[") && invalid <= fewCut {
		return ""
	}
	// Letters of western languages stand alone among those of ASCII, letters of other scripts beside one another.
	alone, letters, all := 0, 0, 0
	for i, c := range sample {
		if c >= 0xc0 { // of windows-1252; marks alone may be the rest of broken UTF-8
			letters++
		}
		if c >= utf8.RuneSelf {
			if all++; (i == 0 || sample[i-1] < utf8.RuneSelf) && (i+1 == len(sample) || sample[i+1] < utf8.RuneSelf) {
				alone++
			}
		}
	}
	for _, s := range [...]struct {
		name     string
		from, to rune // the letters that show it
		percent  int  // of all that is not ASCII
		together bool // its letters have two bytes that are not ASCII, or stand in words of such
	}{
		{"shift_jis", 0x3041, 0x30ff, 20, false},
		{"euc-jp", 0x3041, 0x30ff, 20, true},
		{"euc-kr", 0xac00, 0xd7a3, 90, true},
		{"windows-1251", 0x0400, 0x045f, 90, true},
		{"gb18030", 0x4e00, 0x9fff, 80, true},
	} {
		enc, err := encodingNamed(s.name)
		if err != nil || s.together && 2*alone > all {
			continue
		}
		text, _ := enc.NewDecoder().Bytes(sample) // never fails
		shown, strange := 0, 0
		for _, r := range string(text) {
			switch {
			case r >= s.from && r <= s.to:
				shown++
			case r >= utf8.RuneSelf:
				strange++
			}
		}
		if 100*shown >= s.percent*(shown+strange) && shown > 0 {
			return s.name
		}
	}
	if 2*letters < all {
		return ""
	}
	return "windows-1252"
}

// isNoText reports whether a file is one of those that are refused by their beginning, when they are read.
func isNoText(sample []byte) bool { return refuseMagic(sample) != nil }
