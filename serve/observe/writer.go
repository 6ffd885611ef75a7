package observe

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A Writer collects samples and writes them family by family, in the text form of Prometheus. Samples may
// come in any order. The zero Writer is empty.
type Writer struct{ samples map[Family][]byte }

// Int adds a sample of f with the values of its labels.
func (w *Writer) Int(f Family, v int64, labels ...string) {
	w.sample(f, "", labels, strconv.FormatInt(v, 10))
}

// Uint is Int for an unsigned value.
func (w *Writer) Uint(f Family, v uint64, labels ...string) {
	w.sample(f, "", labels, strconv.FormatUint(v, 10))
}

// Float is Int for a value with a fraction.
func (w *Writer) Float(f Family, v float64, labels ...string) {
	w.sample(f, "", labels, strconv.FormatFloat(v, 'f', -1, 64))
}

// Bool is Int for 1 or 0.
func (w *Writer) Bool(f Family, v bool, labels ...string) {
	n := int64(0)
	if v {
		n = 1
	}
	w.Int(f, n, labels...)
}

// Time is Float for a Unix time in seconds. The zero time, before the event, adds nothing.
func (w *Writer) Time(f Family, t time.Time, labels ...string) {
	if !t.IsZero() {
		w.sample(f, "", labels, strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64))
	}
}

// Durations adds the samples of a histogram.
func (w *Writer) Durations(f Family, s *Snapshot, labels ...string) {
	count := uint64(0)
	for i, n := range s.buckets {
		count += n
		le := "+Inf"
		if i < len(bounds) {
			le = strconv.FormatFloat(bounds[i].Seconds(), 'f', -1, 64)
		}
		w.sample(f, "_bucket", labels, strconv.FormatUint(count, 10), "le", le)
	}
	w.sample(f, "_sum", labels, strconv.FormatFloat(time.Duration(s.nanos).Seconds(), 'f', -1, 64))
	w.sample(f, "_count", labels, strconv.FormatUint(count, 10))
}

// sample adds one line. extra are names and values of labels after the family's labels.
func (w *Writer) sample(f Family, suffix string, values []string, v string, extra ...string) {
	d := &Descriptions[f]
	var pairs []string
	for i, name := range d.Labels {
		pairs = append(pairs, name+`="`+escaper.Replace(values[i])+`"`)
	}
	for pair := range slices.Chunk(extra, 2) {
		pairs = append(pairs, pair[0]+`="`+pair[1]+`"`)
	}
	labels := ""
	if len(pairs) > 0 {
		labels = "{" + strings.Join(pairs, ",") + "}"
	}
	if w.samples == nil {
		w.samples = map[Family][]byte{}
	}
	w.samples[f] = fmt.Appendf(w.samples[f], "%s%s%s %s\n", d.Name, suffix, labels, v)
}

// escaper escapes the value of a label.
var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// WriteTo writes the families that have samples.
func (w *Writer) WriteTo(dst io.Writer) (written int64, err error) {
	for f := range Descriptions {
		d, lines := &Descriptions[f], w.samples[Family(f)]
		if len(lines) == 0 {
			continue
		}
		n, err := fmt.Fprintf(dst, "# HELP %s %s\n# TYPE %s %s\n%s", d.Name, d.Help, d.Name, d.Type, lines)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// bounds are the upper bounds of the buckets of a Durations. A detail takes about 10 us, a search some
// milliseconds, and a slow client seconds.
var bounds = [...]time.Duration{
	10 * time.Microsecond, 25 * time.Microsecond, 50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, time.Second, 5 * time.Second,
}

// Durations is a histogram of durations with the classic buckets of Prometheus. It is safe for concurrent use, and
// an observation is two atomic additions. The count is the sum of the buckets.
type Durations struct {
	buckets [len(bounds) + 1]atomic.Uint64 // not cumulative; the last is for +Inf
	nanos   atomic.Uint64
}

// Observe adds a duration. A negative one, from a clock that was set back, counts as 0.
func (h *Durations) Observe(d time.Duration) {
	d = max(d, 0)
	i := 0
	for i < len(bounds) && d > bounds[i] {
		i++
	}
	h.buckets[i].Add(1)
	h.nanos.Add(uint64(d))
}

// A Snapshot is the content of one or more histograms at a time.
type Snapshot struct {
	buckets [len(bounds) + 1]uint64
	nanos   uint64
}

// Add adds the content of h.
func (s *Snapshot) Add(h *Durations) {
	for i := range h.buckets {
		s.buckets[i] += h.buckets[i].Load()
	}
	s.nanos += h.nanos.Load()
}
