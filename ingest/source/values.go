package source

import (
	"errors"
	"fmt"
	"io"

	"reelsplice/ingest/source/jsonrow"
)

// valueRows reads the elements of one JSON array, or JSON values one after another.
// Where one value ends depends on all before it, so a syntax error ends the file.
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
	end, long, err := v.valueEnd()
	if err != nil {
		return Row{}, v.broken(p, err)
	}
	if long {
		return v.skipLong(p)
	}
	raw := v.w.held()[:end]
	f := jsonrow.Check(raw, v.deep)
	if f != nil && f.Syntax {
		return Row{}, v.broken(p, errors.New(f.ReasonAt(0)))
	}
	v.w.advance(end)
	return v.finish(p, raw, int64(end), f, 0), nil
}

// broken returns the error that ends the file in the row at p.
func (v *valueRows) broken(p Place, err error) error {
	return v.fatal(p, fmt.Errorf("%w (rows read before it: %d)", err, v.row))
}

// toValue passes blanks and the array's punctuation up to the next value. It returns
// io.EOF when there is none.
func (v *valueRows) toValue() error {
	c, err := v.peek()
	if !v.array {
		return err
	}
	if err == nil && !v.opened {
		v.opened = true // startText has seen the '['
		v.w.advance(1)
		if c, err = v.peek(); err == nil && c != ']' {
			return nil
		}
	}
	switch {
	case v.closed && err == nil:
		return v.broken(v.place(), fmt.Errorf("found %s after the end of the array", jsonrow.ShowByte(v.w.held())))
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
		return v.broken(v.place(), fmt.Errorf("found %s, want ',' or ']' after an element of the array", jsonrow.ShowByte(v.w.held())))
	}
	v.w.advance(1)
	if _, err = v.peek(); err == io.EOF {
		return v.broken(v.place(), errors.New("file ends inside the array"))
	}
	return err
}

// peek passes blanks and returns the byte behind them.
func (v *valueRows) peek() (byte, error) {
	if v.w.skipBlanks() {
		return v.w.held()[0], nil
	}
	if v.w.err == io.EOF {
		return 0, io.EOF
	}
	return 0, v.broken(v.place(), v.w.err)
}

// valueEnd reads on until the value at the held bytes is complete, and returns its
// length. It stops when the value is longer than the limit.
func (v *valueRows) valueEnd() (end int, long bool, err error) {
	var s jsonrow.Scanner
	for i := 0; ; {
		b := v.w.held()
		end, done, f := v.scan(&s, b, i)
		switch {
		case f != nil:
			return 0, false, errors.New(f.ReasonAt(0))
		case end > v.max:
			return 0, true, nil
		case done:
			return end, false, nil
		}
		i = len(b)
		if !v.w.more() {
			return v.lastValue(b)
		}
	}
}

// scan finds the end of any value in b; b[:i] was scanned before.
func (v *valueRows) scan(s *jsonrow.Scanner, b []byte, i int) (end int, done bool, f *jsonrow.Fault) {
	switch b[0] {
	case '{', '[', '"':
		return s.Scan(b, i)
	}
	if end = jsonrow.ScalarEnd(b, i); end == 0 {
		return 1, true, nil // a stray bracket or comma, for checkRow to refuse
	}
	return end, end < len(b), nil
}

// lastValue decides about a value that the end of the stream cuts off: a number or
// literal may just be complete there.
func (v *valueRows) lastValue(b []byte) (int, bool, error) {
	if v.w.err != io.EOF {
		return 0, false, v.w.err
	}
	if c := b[0]; !v.array && c != '{' && c != '[' && c != '"' {
		return len(b), false, nil
	}
	return 0, false, errors.New("file ends inside the row")
}

// skipLong passes the rest of a value above the limit without holding it.
func (v *valueRows) skipLong(p Place) (Row, error) {
	head := longHead(v.w.held())
	scalar := head[0] != '{' && head[0] != '[' && head[0] != '"'
	var s jsonrow.Scanner
	for size := int64(0); ; {
		b := v.w.held()
		var end int
		var done bool
		var f *jsonrow.Fault
		if scalar {
			end = jsonrow.ScalarEnd(b, 0)
			done = end < len(b)
		} else if end, done, f = s.Scan(b, 0); f != nil {
			f.Off += int(size)
			return Row{}, v.broken(p, errors.New(f.ReasonAt(0)))
		}
		size += int64(end)
		v.w.advance(end)
		if done {
			return v.tooLong(p, head, size), nil
		}
		if !v.w.more() {
			if v.w.err != io.EOF {
				return Row{}, v.broken(p, v.w.err)
			}
			return Row{}, v.broken(p, errors.New("file ends inside the row"))
		}
	}
}
