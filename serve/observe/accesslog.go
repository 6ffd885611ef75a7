package observe

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Stdout is the AccessLogConfig.Path of standard output.
const Stdout = "-"

// AccessLogConfig is the place of the log.
type AccessLogConfig struct {
	Path   string    // file, Stdout, or "" for no access log
	Stdout io.Writer // for Path Stdout
}

// An Entry is a response in the log. Only Write reads its slices.
type Entry struct {
	Time        time.Time // when the request was read
	Client      net.Addr
	Method      []byte // nil with Path and Query for a head that is no request
	Path, Query []byte // as they came
	Protocol    string
	Status      int
	Bytes       int // bytes of the body that were sent
	Took        time.Duration
	Class       string
	Token       string // its name
	UserAgent   []byte
	Traceparent []byte // as it came
	Release     string
}

// An AccessLog writes entries. It is safe for concurrent use. A nil AccessLog drops them.
type AccessLog struct {
	file  *file // nil for Stdout
	queue *Queue
	json  slog.Handler // writes to queue
	lines atomic.Int64
}

// OpenAccessLog opens the access log; without a path it returns nil.
func OpenAccessLog(c AccessLogConfig) (*AccessLog, error) {
	if c.Path == "" {
		return nil, nil
	}
	l := &AccessLog{}
	dst := c.Stdout
	if c.Path != Stdout {
		l.file = &file{path: c.Path}
		opened, err := l.file.open()
		if err != nil {
			return nil, err
		}
		l.file.f.Store(opened)
		dst = l.file
	}
	l.queue = NewQueue(dst, func(lost int64) []byte {
		return fmt.Appendf(nil, "{\"time\":%q,\"lost_lines\":%d}\n", time.Now().UTC().Format(time.RFC3339Nano), lost)
	})
	l.json = newJSON(l.queue)
	return l, nil
}

// newJSON returns a handler that writes records without level and message.
func newJSON(dst io.Writer) slog.Handler {
	return slog.NewJSONHandler(dst, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
			return slog.Attr{}
		}
		return a
	}})
}

// Write logs e, without waiting: a line that does not fit into the queue is lost, and counted.
func (l *AccessLog) Write(e *Entry) {
	l.lines.Add(1)
	_ = l.json.Handle(context.Background(), e.record()) // the queue never fails
}

// record returns the fields of e. Absent ones are left out.
func (e *Entry) record() slog.Record {
	r := slog.NewRecord(e.Time, slog.LevelInfo, "", 0)
	text := func(key, value string) {
		if value != "" {
			r.AddAttrs(slog.String(key, value))
		}
	}
	text("client", host(e.Client))
	text("method", maskMethod(e.Method))
	text("path", MaskPath(e.Path))
	text("query", maskQuery(e.Query))
	text("protocol", e.Protocol)
	r.AddAttrs(slog.Int("status", e.Status), slog.Int("bytes", e.Bytes), slog.Float64("duration_seconds", e.Took.Seconds()))
	text("class", e.Class)
	text("token", e.Token)
	text("user_agent", MaskText(e.UserAgent))
	if trace, parent, ok := parseTraceparent(e.Traceparent); ok {
		text("trace_id", trace)
		text("parent_id", parent)
	}
	text("release", e.Release)
	return r
}

// host returns the IP address of a client.
func host(a net.Addr) string {
	if a == nil {
		return ""
	}
	addr, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return ""
	}
	return addr.Addr().Unmap().String()
}

// Lines returns how many lines there were so far, lost ones included.
func (l *AccessLog) Lines() int64 { return l.lines.Load() }

// Lost returns how many lines were lost so far.
func (l *AccessLog) Lost() int64 { return l.queue.Lost() }

// Reopen makes the next line go to the file that then has the name, as after a rotation. Without it, lines follow the
// name within a second. It does nothing to a nil AccessLog or standard output.
func (l *AccessLog) Reopen() {
	if l != nil && l.file != nil {
		l.file.comparedAt.Store(0)
	}
}

// patience is how long Close waits for the file, or the reader of standard output.
const patience = time.Second

// Close writes the queued lines and closes the file. It does nothing to a nil AccessLog.
func (l *AccessLog) Close() { l.closeWithin(patience) }

func (l *AccessLog) closeWithin(limit time.Duration) {
	if l == nil {
		return
	}
	l.queue.Close(limit)
	if l.file != nil {
		_ = l.file.f.Load().Close() // ends a Write that a pipe blocks
	}
}

// parseTraceparent returns the trace ID and the parent ID of a traceparent header of W3C's Trace Context. ok is
// false for a header that the specification has to be ignored.
func parseTraceparent(header []byte) (trace, parent string, ok bool) {
	m := traceContext.FindSubmatch(header)
	if m == nil {
		return "", "", false
	}
	version, rest := string(m[1]), m[4]
	trace, parent = string(m[2]), string(m[3])
	isIgnored := version == "ff" || version == "00" && len(rest) > 0 || strings.Trim(trace, "0") == "" || strings.Trim(parent, "0") == ""
	return trace, parent, !isIgnored
}

var traceContext = regexp.MustCompile("(?s)^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$")

// compareEvery is the shortest time between two comparisons of a file with the one that has its name.
const compareEvery = time.Second

// A file is a log file that other programs may rename and replace.
type file struct {
	path       string
	f          atomic.Pointer[os.File]
	comparedAt atomic.Int64 // last comparison with the file of that name, in nanoseconds of Unix time
}

// open opens the file with the name, and creates it if needed. A pipe without a reader is an error instead of a wait.
func (f *file) open() (*os.File, error) {
	opened, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o640)
	if err != nil {
		return nil, fmt.Errorf("open access log: %w", err)
	}
	return opened, nil
}

// Write appends p. It is called by the queue alone.
func (f *file) Write(p []byte) (int, error) {
	if f.isReplaced() {
		if opened, err := f.open(); err == nil { // otherwise the old file stays in use
			_ = f.f.Swap(opened).Close() // it holds no buffered lines
		}
	}
	return f.f.Load().Write(p)
}

// isReplaced reports whether another file, or none, has the name. It compares them once per compareEvery.
func (f *file) isReplaced() bool {
	now := time.Now().UnixNano()
	if now-f.comparedAt.Load() < int64(compareEvery) {
		return false
	}
	f.comparedAt.Store(now)
	named, err := os.Stat(f.path)
	if err != nil {
		return os.IsNotExist(err)
	}
	current, err := f.f.Load().Stat()
	return err == nil && !os.SameFile(named, current)
}
