package imdb

import (
	"bytes"
	"encoding/json"
	"fmt"

	"reelsplice/schemas/record"
)

// A cell is the text of one column; nil is null, and so are \N and an empty text. It is
// valid until the next row.
type cell []byte

// scan sets j.cells to the columns of a row, which must be a JSON object of texts,
// numbers, booleans and nulls. Unknown columns are counted.
//
// A general parser would take most of the time of a join: there are a hundred million
// rows in one of the tables, and their objects are flat.
func (j *Joiner) scan(t *table, row []byte) error {
	j.cells = j.cells[:0]
	for range t.columns {
		j.cells = append(j.cells, nil)
	}
	s := scanner{row: row}
	if !s.next('{') {
		return &record.FieldError{What: "want a JSON object"}
	}
	if s.next('}') {
		return nil
	}
	for next := 0; ; next++ {
		name, err := s.text()
		if err != nil || !s.next(':') {
			return s.failed("", err)
		}
		value, err := s.value()
		if err != nil {
			return s.failed(string(name), err)
		}
		if len(value) == 0 || string(value) == `\N` {
			value = nil
		}
		switch i := t.column(name, next); {
		case i >= 0:
			j.cells[i] = value
		case value != nil:
			count(j.report.Dropped, t.name+".", string(name))
		}
		if s.next('}') {
			break
		}
		if !s.next(',') {
			return s.failed(string(name), nil)
		}
	}
	if s.skip(); s.at < len(row) {
		return s.failed("", nil)
	}
	return nil
}

// A scanner reads a flat JSON object.
type scanner struct {
	row []byte
	at  int
}

func (s *scanner) failed(field string, err error) error {
	what := fmt.Sprintf("want a JSON object of texts, found something else at byte %d", s.at)
	if err != nil {
		what = err.Error()
	}
	return &record.FieldError{Field: field, What: what}
}

func (s *scanner) skip() {
	for s.at < len(s.row) {
		switch s.row[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// next reports whether the next byte behind white space is c, and if so moves behind it.
func (s *scanner) next(c byte) bool {
	s.skip()
	if s.at < len(s.row) && s.row[s.at] == c {
		s.at++
		return true
	}
	return false
}

// text returns a JSON string. Without escapes, it is a part of the row.
func (s *scanner) text() (cell, error) {
	if !s.next('"') {
		return nil, fmt.Errorf("want a text at byte %d", s.at)
	}
	start, plain := s.at, true
	for {
		// Fast path: most texts are short, and have neither escapes nor quotes inside.
		n := bytes.IndexByte(s.row[s.at:], '"')
		if n < 0 {
			return nil, fmt.Errorf("want a text that ends, found none at byte %d", start)
		}
		end := s.at + n
		slashes := 0
		for i := end - 1; i >= start && s.row[i] == '\\'; i-- {
			slashes++
		}
		plain = plain && slashes == 0 && bytes.IndexByte(s.row[s.at:end], '\\') < 0
		if s.at = end + 1; slashes%2 == 0 {
			break
		}
	}
	if plain {
		return s.row[start : s.at-1], nil
	}
	if c, ok := unescape(s.row[start : s.at-1]); ok {
		return c, nil
	}
	// Slow path: text with \u.
	var out string
	if err := json.Unmarshal(s.row[start-1:s.at], &out); err != nil {
		return nil, fmt.Errorf("want a JSON text: %w", err)
	}
	return cell(out), nil
}

// unescape takes the escapes of quotes and backslashes off a text, of which lists of
// characters have two at least; false when there are others.
func unescape(text []byte) (cell, bool) {
	out := make(cell, 0, len(text))
	for {
		n := bytes.IndexByte(text, '\\')
		if n < 0 {
			return append(out, text...), true
		}
		if c := text[n+1]; c != '"' && c != '\\' { // a text does not end within an escape
			return nil, false
		}
		out = append(append(out, text[:n]...), text[n+1])
		text = text[n+2:]
	}
}

// value returns the text of a value: numbers and booleans as IMDb writes them.
func (s *scanner) value() (cell, error) {
	s.skip()
	if s.at < len(s.row) && s.row[s.at] == '"' {
		return s.text()
	}
	start := s.at
	for s.at < len(s.row) && !bytes.ContainsRune([]byte(" \t\r\n,}"), rune(s.row[s.at])) {
		s.at++
	}
	switch word := s.row[start:s.at]; {
	case string(word) == "null":
		return nil, nil
	case string(word) == "true":
		return cell("1"), nil
	case string(word) == "false":
		return cell("0"), nil
	case len(word) > 0 && (word[0] == '-' || word[0] >= '0' && word[0] <= '9') && json.Valid(word):
		return word, nil
	}
	return nil, fmt.Errorf("want a text, a number or null at byte %d", start)
}
