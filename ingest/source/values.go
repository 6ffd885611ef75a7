package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// valueRows reads the elements of one JSON array, or concatenated JSON values.
// The end of a value depends on all bytes before it, so a syntax error ends the file.
type valueRows struct {
	textRows
	array  bool
	opened bool // the array's '[' was read
	closed bool // the array's ']' was read
}

func (v *valueRows) next() (Row, error) {
	if err := v.skipToValue(); err != nil {
		return Row{}, err
	}
	p := v.place()
	var s scanner
	var head []byte // start of a too long value, which is skipped without buffering it
	size := int64(0)
	for i := 0; ; {
		end, done, f := s.scan(v.w.data(), i)
		if f != nil {
			f.Off += int(size)
			return Row{}, v.broken(p, errors.New(f.ReasonAt()))
		}
		if end > v.max && head == nil {
			head = longHead(v.w.data())
		}
		if head != nil {
			v.w.advance(end)
			size, end = size+int64(end), 0
		}
		if i = end; !done && v.w.readMore() {
			continue
		}
		switch {
		case !done && v.w.err != io.EOF:
			return Row{}, v.broken(p, v.w.err)
		case !done && (v.array || !s.scalar): // the end of the file ends a number
			return Row{}, v.broken(p, errors.New("file ends inside the row"))
		case head != nil:
			return v.tooLong(p, head, size), nil
		}
		raw := v.w.data()[:end]
		json, m, f := v.checkRow(raw)
		if f != nil && f.Syntax {
			return Row{}, v.broken(p, errors.New(f.ReasonAt()))
		}
		v.w.advance(end)
		return v.withMended(v.newRow(p, raw, f), json, m), nil
	}
}

// broken returns the error that ends the file in the row at p.
func (v *valueRows) broken(p Place, err error) error {
	return v.fatal(p, fmt.Errorf("%w (rows read before it: %d)", err, v.row))
}

// skipToValue skips blanks and the array's punctuation up to the next value. It returns
// io.EOF after the last value.
func (v *valueRows) skipToValue() error {
	c, err := v.peek()
	if !v.array {
		return err
	}
	if err == nil && !v.opened {
		v.opened = true // startText has found the '['
		v.w.advance(1)
		if c, err = v.peek(); err == nil && c != ']' {
			return nil
		}
	}
	switch {
	case v.closed && err == nil:
		return v.broken(v.place(), fmt.Errorf("found %s after the end of the array", record.ShowByte(v.w.data())))
	case v.closed:
		return err
	case err == io.EOF:
		return v.broken(v.place(), errors.New("file ends inside the array"))
	case err != nil:
		return err
	case c == ']':
		v.closed = true
		v.w.advance(1)
		return v.skipToValue()
	case c != ',':
		return v.broken(v.place(), fmt.Errorf("found %s, want ',' or ']' after an element of the array", record.ShowByte(v.w.data())))
	}
	v.w.advance(1)
	if _, err = v.peek(); err == io.EOF {
		return v.broken(v.place(), errors.New("file ends inside the array"))
	}
	return err
}

// peek skips blanks and returns the next byte without consuming it.
func (v *valueRows) peek() (byte, error) {
	if _, ok := v.w.skipBlanks(); ok {
		return v.w.data()[0], nil
	}
	if v.w.err == io.EOF {
		return 0, io.EOF
	}
	return 0, v.broken(v.place(), v.w.err)
}

// A scanner finds the end of one JSON value in a stream of pieces of any size. It checks only brackets and strings;
// record.CheckJSON checks the rest once the value is complete. It keeps no bytes, so a too long value is skipped without
// buffering it.
type scanner struct {
	depth   int    // number of open levels
	objects uint64 // a bit for each of the innermost 64 levels, 1 for an object; the lowest bit is the innermost
	str     bool   // inside a string
	slash   bool   // after a backslash inside a string
	scalar  bool   // inside a number or literal, which may also end with the stream
}

// scan scans b[i:], which is not empty and continues where the last call ended. It returns the offset after the value once
// that is complete. A Fault means that a bracket closes nothing or that a string contains a line break, so the end of the
// value is unknown.
func (s *scanner) scan(b []byte, i int) (end int, done bool, f *record.Fault) {
	if s.scalar || s.depth == 0 && !s.str && bytes.IndexByte([]byte(`{["`), b[i]) < 0 {
		n := bytes.IndexAny(b[i:], ",]}{[\" \t\r\n")
		switch {
		case n == 0 && !s.scalar:
			return i + 1, true, nil // a stray bracket or comma: CheckJSON will reject it
		case n >= 0:
			return i + n, true, nil
		}
		s.scalar = true
		return len(b), false, nil
	}
	for i < len(b) {
		c := b[i]
		switch {
		case s.slash:
			s.slash = false
		case s.str:
			if i = record.PlainEnd(b, i); i == len(b) {
				return i, false, nil
			}
			switch b[i] {
			case '"':
				s.str = false
			case '\\':
				s.slash = true
			case '\n':
				return i, false, &record.Fault{Off: i, Reason: "found a line break in a string", Syntax: true}
			} // CheckJSON refuses other control characters once the row is complete
		case c == '"':
			s.str = true
		case c == '{', c == '[':
			s.depth++
			s.objects <<= 1
			if c == '{' {
				s.objects |= 1
			}
		case c == '}', c == ']':
			if s.depth == 0 {
				return i, false, &record.Fault{Off: i, Reason: "found '" + string(c) + "', which closes nothing that is open", Syntax: true}
			}
			s.objects >>= 1
			s.depth--
		}
		if i++; s.depth == 0 && !s.str {
			return i, true, nil
		}
	}
	return i, false, nil
}
