package source

import (
	"bytes"
	"errors"
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

// Values of Options.Encoding besides the names of encodings.
const (
	EncodingAuto = "auto"  // UTF-8, or UTF-16 with a byte order mark; other text is refused
	EncodingUTF8 = "utf-8" // even if there are invalid bytes
)

// maxSample is the number of bytes from which the encoding of a file is detected.
const maxSample = 64 << 10

// CheckEncoding returns an error for a name that is not a value of Options.Encoding.
func CheckEncoding(name string) error {
	_, err := encodingNamed(name)
	return err
}

// encodingNamed returns the encoding with a case-insensitive name, or nil for UTF-8.
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

// decode returns a window over the decoded text, and the name of its encoding, or w and "" for UTF-8. Text detected as UTF-8
// is read as UTF-8, whatever name is, because name may be meant for other sources.
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
	case bytes.HasPrefix(sample, []byte("\xef\xbb\xbf")), bytes.HasPrefix(sample, []byte("PAR1")), refuseMagic(sample) != "":
		return w, "", nil
	case auto:
		return w, "", refuseEncoding(sample)
	default:
		if valid, invalid := countUTF8(sample); valid > invalid && bytes.IndexByte(sample, 0) < 0 {
			return w, "", nil
		}
	}
	raw := io.MultiReader(bytes.NewReader(bytes.Clone(w.data())), w.r)
	return newWindow(transform.NewReader(raw, enc.NewDecoder()), maxRow), name, nil
}

// wholeRunes drops an incomplete UTF-8 character at the end of a sample.
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

// countUTF8 counts the characters of more than one byte, and the invalid bytes.
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

// fewCut is the number of invalid bytes that JSON in UTF-8, or a text without other characters beyond ASCII, may have: some
// programs cut texts inside a character.
const fewCut = 2

// refuseEncoding refuses a text in another encoding than UTF-8, with a guess if one is likely.
func refuseEncoding(sample []byte) error {
	if utf8.Valid(sample) && bytes.IndexByte(sample, 0) < 0 {
		return nil
	}
	suggest := func(name string) error { return fmt.Errorf("not UTF-8; looks like %s: --encoding %s", name, name) }
	// Non-ASCII letters of western languages stand alone between ASCII letters; letters of other scripts form runs.
	var zeros [2]int // at even and odd offsets
	controls, letters, marks, isolated, nonASCII := 0, 0, 0, 0, 0
	for i, c := range sample {
		switch {
		case c == 0:
			zeros[i%2]++
		case c < ' ' && !strings.ContainsRune("\t\n\r\f", rune(c)):
			controls++
		case c >= utf8.RuneSelf:
			nonASCII++
			switch { // in windows-1252; marks alone may be broken UTF-8
			case c >= 0xc0:
				letters++
			case c >= 0xa0, c >= 0x91 && c <= 0x97, c == 0x85: // quotes, dashes and an ellipsis; letters in other encodings
				marks++
			}
			if (i == 0 || sample[i-1] < utf8.RuneSelf) && (i+1 == len(sample) || sample[i+1] < utf8.RuneSelf) {
				isolated++
			}
		}
	}
	valid, invalid := countUTF8(sample)
	nearlyUTF8 := hasAnyPrefix(bytes.TrimLeft(sample, " \t\r\n"), "{", "[") && invalid <= fewCut
	switch { // ASCII characters of UTF-16 have a zero byte each
	case zeros[1] > max(1, 10*zeros[0]) && 10*zeros[1] > len(sample):
		return suggest("utf-16le")
	case zeros[0] > max(1, 10*zeros[1]) && 10*zeros[0] > len(sample):
		return suggest("utf-16be")
	case zeros[0]+zeros[1]+controls > 0, invalid <= valid, nearlyUTF8:
		return nil // damaged, or no text
	case 2*isolated >= nonASCII && 2*letters < nonASCII && (valid > 0 || invalid <= fewCut):
		return nil
	case 2*isolated < nonASCII, 2*(letters+marks) < nonASCII:
		return errors.New("not UTF-8: name its encoding, such as --encoding windows-1251, shift_jis, euc-kr or gb18030")
	}
	return suggest("windows-1252")
}
