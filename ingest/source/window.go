package source

import (
	"bytes"
	"errors"
	"io"
)

// windowBytes is the initial size of a window's buffer.
var windowBytes = 256 << 10 // tests lower it

// A window is the part of a stream that is held in memory. It grows on demand, but never
// beyond limit.
type window struct {
	r          io.Reader
	buf        []byte
	start, end int   // buf[start:end] is held
	limit      int   // largest length of buf
	off        int64 // offset in the stream of buf[start]
	line       int64 // 1-based line of buf[start]
	err        error // final error of r, such as io.EOF
}

// newWindow returns a window over r that can hold one row of maxRow bytes.
func newWindow(r io.Reader, maxRow int) *window {
	return &window{r: r, limit: maxRow + windowBytes, line: 1}
}

// data returns the bytes in memory. They are valid until the next call of readMore.
func (w *window) data() []byte { return w.buf[w.start:w.end] }

// readMore reads more bytes, and reports whether there were any. If not, w.err is the reason.
func (w *window) readMore() bool {
	for range 100 {
		if w.err != nil {
			return false
		}
		w.makeRoom()
		n, err := w.r.Read(w.buf[w.end:])
		w.end += n
		w.err = err
		if n > 0 {
			return true
		}
	}
	w.err = io.ErrNoProgress
	return false
}

// makeRoom makes room for a read: a quarter of the buffer, unless that exceeds the
// limit. The buffer doubles up to a third of the limit, then grows to the limit at
// once, so that a row of any length allocates at most twice the limit.
func (w *window) makeRoom() {
	held, size := w.end-w.start, len(w.buf)
	if free := size - w.end; free > 0 && free >= size/4 {
		return
	}
	buf := w.buf
	if held > size/2 || size == 0 {
		if size < w.limit/3 {
			size = min(max(2*size, windowBytes), w.limit)
		} else {
			size = max(size, w.limit) // avoid a copy for a last small step
		}
		// The limit leaves room after the longest row; beyond it the buffer grows
		// in small steps.
		size = max(size, held+windowBytes/16)
	}
	if size > len(buf) {
		buf = make([]byte, size)
	}
	copy(buf, w.data())
	w.buf, w.start, w.end = buf, 0, held
}

// advance drops the first n held bytes and counts their lines.
func (w *window) advance(n int) {
	w.advanceLines(n, bytes.Count(w.buf[w.start:w.start+n], []byte{'\n'}))
}

// advanceLines drops the first n held bytes, which contain the given number of line ends.
func (w *window) advanceLines(n, lines int) {
	w.start += n
	w.off += int64(n)
	w.line += int64(lines)
}

// errLong is the error of a row above the limit.
var errLong = errors.New("row is too long")

// lineEnd returns the length of the held bytes up to the end of the line at from, without and with its
// '\n'. The error is errLong if more than maxBytes bytes precede the '\n', and io.EOF after the last line.
func (w *window) lineEnd(from, maxBytes int) (size, n int, err error) {
	for seen := from; ; {
		b := w.data()
		if j := bytes.IndexByte(b[seen:], '\n'); j >= 0 {
			if size = seen + j; size > maxBytes {
				return 0, 0, errLong
			}
			return size, size + 1, nil
		}
		if seen = len(b); seen > maxBytes {
			return 0, 0, errLong
		}
		if w.readMore() {
			continue
		}
		if w.err != io.EOF || seen == from {
			return 0, 0, w.err
		}
		return seen, seen, nil
	}
}

// byteOrderMark may also occur inside concatenated files.
var byteOrderMark = []byte("\xef\xbb\xbf")

// skipMark drops byte order marks, and reports whether it found one.
func (w *window) skipMark() (found bool) {
	for {
		b := w.data()
		if len(b) == 0 {
			b = w.fill(1)
		}
		if len(b) == 0 || b[0] != byteOrderMark[0] || !bytes.HasPrefix(w.fill(3), byteOrderMark) {
			return found
		}
		w.advance(3)
		found = true
	}
}

// skipBlanks drops white space and byte order marks. ok means that another byte is held. lead is the number of bytes dropped
// from its line.
func (w *window) skipBlanks() (lead int, ok bool) {
	for {
		b := w.data()
		i := len(b) - len(bytes.TrimLeft(b, " \t\r\n"))
		if end := bytes.LastIndexByte(b[:i], '\n'); end >= 0 {
			lead = -end - 1
		}
		lead += i
		w.advance(i)
		switch {
		case i == len(b):
		case w.skipMark():
			lead += len(byteOrderMark)
			continue
		default:
			return lead, true
		}
		if !w.readMore() {
			return lead, false
		}
	}
}

// fill reads until n bytes are held or the stream ends, and returns the held bytes.
func (w *window) fill(n int) []byte {
	for w.end-w.start < n && w.readMore() {
	}
	return w.data()
}

// unifyLines replaces '\r' and "\r\n" by '\n' in the held bytes and in the rest of the stream.
func (w *window) unifyLines() {
	u := &lineUnifier{r: w.r}
	w.end = w.start + u.unify(w.data())
	w.r = u
}

// A lineUnifier reads a stream and turns every line end into '\n'. Offsets after "\r\n" are lower
// than in the original stream.
type lineUnifier struct {
	r  io.Reader
	cr bool // the byte before was '\r'
}

func (u *lineUnifier) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	return u.unify(p[:n]), err
}

// unify rewrites b in place and returns its new length.
func (u *lineUnifier) unify(b []byte) int {
	n := 0
	for _, c := range b {
		afterCR := u.cr
		u.cr = c == '\r'
		switch {
		case c == '\n' && afterCR:
			continue
		case c == '\r':
			c = '\n'
		}
		b[n] = c
		n++
	}
	return n
}
