package source

import (
	"errors"
	"fmt"
	"io"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// valueRows reads the elements of one JSON array, or JSON values one after another.
// The end of a value depends on all bytes before it, so a syntax error ends the file.
type valueRows struct {
	textRows
	array  bool
	opened bool // the array's '[' was passed
	closed bool // the array's ']' was passed
}

func (v *valueRows) next() (Row, error) {
	if err := v.toValue(); err != nil {
		return Row{}, err
	}
	p := v.place()
	var s scanner
	var head []byte // start of a value above the limit, which is skipped without being held
	size := int64(0)
	for i := 0; ; {
		end, done, f := s.scan(v.w.held(), i)
		if f != nil {
			f.Off += int(size)
			return Row{}, v.broken(p, errors.New(f.ReasonAt()))
		}
		if end > v.max && head == nil {
			head = longHead(v.w.held())
		}
		if head != nil {
			v.w.advance(end)
			size, end = size+int64(end), 0
		}
		if i = end; !done && v.w.more() {
			continue
		}
		switch {
		case !done && v.w.err != io.EOF:
			return Row{}, v.broken(p, v.w.err)
		case !done && (v.array || !s.scalar): // a number may end with the file
			return Row{}, v.broken(p, errors.New("file ends inside the row"))
		case head != nil:
			return v.tooLong(p, head, size), nil
		}
		raw := v.w.held()[:end]
		json, m, f := v.judge(raw)
		if f != nil && f.Syntax {
			return Row{}, v.broken(p, errors.New(f.ReasonAt()))
		}
		v.w.advance(end)
		return v.mendedRow(v.finish(p, raw, f), json, m), nil
	}
}

// broken returns the error that ends the file in the row at p.
func (v *valueRows) broken(p Place, err error) error {
	return v.fatal(p, fmt.Errorf("%w (rows read before it: %d)", err, v.row))
}

// toValue skips blanks and the array's punctuation up to the next value. It returns
// io.EOF after the last value.
func (v *valueRows) toValue() error {
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
		return v.broken(v.place(), fmt.Errorf("found %s after the end of the array", record.ShowByte(v.w.held())))
	case v.closed:
		return err
	case err == io.EOF:
		return v.broken(v.place(), errors.New("file ends inside the array"))
	case err != nil:
		return err
	case c == ']':
		v.closed = true
		v.w.advance(1)
		return v.toValue()
	case c != ',':
		return v.broken(v.place(), fmt.Errorf("found %s, want ',' or ']' after an element of the array", record.ShowByte(v.w.held())))
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
		return v.w.held()[0], nil
	}
	if v.w.err == io.EOF {
		return 0, io.EOF
	}
	return 0, v.broken(v.place(), v.w.err)
}
