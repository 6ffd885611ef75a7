package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
)

// print writes to stdout: v as one line of JSON with --json, or else what text writes.
func (a *app) print(v any, text func(w io.Writer)) error {
	var b bytes.Buffer
	if a.json {
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return fmt.Errorf("encode report: %w", err)
		}
	} else {
		text(&b)
	}
	return a.write(b.Bytes())
}

// write writes b to stdout.
func (a *app) write(b []byte) error {
	if _, err := a.Stdout.Write(b); err != nil {
		return fmt.Errorf("write to stdout: %w", err)
	}
	return nil
}

// isTerminal reports whether a person looks at w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// kindNames are the kinds of records whose names say little, or take no plain s.
var kindNames = map[string][2]string{
	"tv": {"series", "series"}, "person": {"person", "people"}, "company": {"company", "companies"},
	"episode_group": {"episode group", "episode groups"},
}

// ofKind returns "1 movie", "2 people".
func ofKind(n int64, kind string) string {
	names, ok := kindNames[kind]
	switch {
	case !ok:
		return plural(n, kind)
	case n == 1:
		return "1 " + names[0]
	}
	return fmt.Sprintf("%d %s", n, names[1])
}

// plural returns "1 row", "2 rows".
func plural[T int | int64](n T, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// sizeUnits are the units of a size. For a number, the first that divides it is used;
// a text ends with one of them or is a number of bytes.
func sizeUnits() []sizeUnit {
	return []sizeUnit{
		{"TiB", 1 << 40},
		{"GiB", 1 << 30},
		{"MiB", 1 << 20},
		{"KiB", 1 << 10},
		{"TB", 1e12},
		{"GB", 1e9},
		{"MB", 1e6},
		{"KB", 1e3},
		{"T", 1 << 40},
		{"G", 1 << 30},
		{"M", 1 << 20},
		{"K", 1 << 10},
		{"B", 1},
	}
}

type sizeUnit struct {
	name  string
	bytes int64
}

// size is a flag that holds a number of bytes, such as 512MiB, 2GiB or 1GB.
type size int64

// String returns the number in the largest unit that divides it.
func (s *size) String() string {
	for _, u := range sizeUnits()[:4] {
		if n := int64(*s); n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Set reads a number with or without a unit.
func (s *size) Set(text string) error {
	number, unit := text, int64(1)
	for _, u := range sizeUnits() {
		if n := len(text) - len(u.name); n > 0 && strings.EqualFold(text[n:], u.name) {
			number, unit = strings.TrimSpace(text[:n]), u.bytes
			break
		}
	}
	f, err := strconv.ParseFloat(number, 64)
	f *= float64(unit)
	if err != nil || strings.Trim(number, "0123456789.") != "" || f >= math.MaxInt64 {
		return errors.New("want a size such as 512MiB, 2GiB, 1GB or bytes")
	}
	*s = size(f)
	return nil
}

// bytesFlag is size for a number that is an int.
type bytesFlag struct{ n *int }

// String returns what Set reads.
func (b bytesFlag) String() string {
	if b.n == nil { // of flags that nobody made
		return ""
	}
	s := size(*b.n)
	return s.String()
}

// Set reads a number with or without a unit.
func (b bytesFlag) Set(text string) error {
	var s size
	err := s.Set(text)
	if err == nil && int64(s) != int64(int(s)) {
		err = errors.New("too large for this machine")
	}
	*b.n = int(s)
	return err
}

// Type names the flag's value in help texts.
func (bytesFlag) Type() string { return "SIZE" }

// timeoutFlag is a flag for a time limit; 0 is none. Only the word sets no limit: a 0 in a configuration is
// a slip far more often than a wish.
type timeoutFlag struct{ d *time.Duration }

// String returns what Set reads.
func (t timeoutFlag) String() string {
	switch {
	case t.d == nil: // of flags that nobody made
		return ""
	case *t.d == 0:
		return "none"
	}
	return t.d.String()
}

// Set reads a duration above 0, or none.
func (t timeoutFlag) Set(text string) error {
	if text == "none" {
		*t.d = 0
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return errors.New("want a duration above 0 such as 30s, or none")
	}
	*t.d = d
	return nil
}

// Type names the flag's value in help texts.
func (timeoutFlag) Type() string { return "DURATION" }

// Type names the flag's value in help texts.
func (s *size) Type() string { return "size" }

// formatBytes returns n for people: 12.3 MiB.
func formatBytes(n int64) string {
	units := sizeUnits()[:4]
	for _, u := range units {
		if n >= u.bytes {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.bytes), u.name)
		}
	}
	return plural(n, "byte")
}
