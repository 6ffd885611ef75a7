package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/bytedance/sonic"
	"github.com/dustin/go-humanize"
	"github.com/mattn/go-isatty"

	"github.com/reelsplice/reelsplice/serve/observe"
)

// A console is the output of a run.
type console struct {
	process
	json, quiet   bool
	terminal      bool // stderr is a terminal
	clearProgress bool // remove the progress line of a finished stage
	logLevel      slog.Level
	queue         *observe.Queue // buffers Stderr if the command serves; else nil
}

// print writes v to stdout as one line of JSON with --json, or else the output of text, whose tab-separated cells
// become columns.
func (c *console) print(v any, text func(w io.Writer)) error {
	if c.json {
		data, err := encoding.Marshal(v)
		if err != nil {
			return fmt.Errorf("encode report: %w", err)
		}
		return c.write(append(data, '\n'))
	}
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	text(t)
	if err := t.Flush(); err != nil {
		return err
	}
	return c.write(b.Bytes())
}

// encoding sorts the keys of maps and does not escape HTML.
var encoding = sonic.Config{SortMapKeys: true}.Froze()

// write writes b to stdout.
func (c *console) write(b []byte) error {
	if _, err := c.Stdout.Write(b); err != nil {
		return fmt.Errorf("write to stdout: %w", err)
	}
	return nil
}

// logger returns the log of this run: text at a terminal, JSON elsewhere.
func (c *console) logger() *slog.Logger { return slog.New(c.logHandler()(c.Stderr)) }

// logHandler returns a function that creates the handler of a log.
func (c *console) logHandler() func(w io.Writer) slog.Handler {
	o := &slog.HandlerOptions{Level: c.logLevel}
	if c.quiet && c.logLevel < slog.LevelWarn {
		o.Level = slog.LevelWarn
	}
	if c.terminal {
		return func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, o) }
	}
	return func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, o) }
}

// serveLogger is logger for commands that serve. It puts a queue in front of stderr: if its reader stalls or closes it,
// log lines are lost, but responses are not delayed.
func (c *console) serveLogger() *slog.Logger {
	signal.Ignore(syscall.SIGPIPE)
	handler := c.logHandler()
	c.queue = observe.NewQueue(c.Stderr, func(lost int64) []byte {
		var b bytes.Buffer
		slog.New(handler(&b)).Warn("log lines were lost", "lines", lost)
		return b.Bytes()
	})
	c.Stderr = c.queue
	return slog.New(handler(c.queue))
}

// printNext prints the next command to run at a terminal.
func (a *app) printNext(command string, paths pathFlags, args ...string) {
	if !a.quiet && !a.json && a.terminal {
		fmt.Fprintln(a.Stderr, "next: "+a.commandLine(command, paths, args...))
	}
}

// pathFlags are values of flags for folders and files.
type pathFlags map[string]string

// commandLine returns a command of this program for a shell. It includes the config file and the paths that differ
// from the command's defaults.
func (a *app) commandLine(command string, paths pathFlags, args ...string) string {
	words := append([]string{program()}, strings.Fields(command)...)
	if a.config != newApp(a.process).configFile() {
		words = append(words, "--config", a.config)
	}
	for _, flag := range slices.Sorted(maps.Keys(paths)) {
		if paths[flag] != a.setting(command, flag) {
			words = append(words, "--"+flag, paths[flag])
		}
	}
	return shellescape.QuoteCommand(append(words, args...))
}

// setting returns the value of another command's flag without a command line.
func (a *app) setting(command, flag string) string {
	other := newApp(a.process)
	c, _, err := rootCommand(other).Find(strings.Fields(command))
	if err != nil {
		return ""
	}
	other.config = a.config
	_ = other.configure(c) // this command ignores invalid settings of the other one
	return c.Flags().Lookup(flag).Value.String()
}

// program returns the name of this program for suggested commands.
func program() string { return programName(os.Args[0]) }

// programName returns path if the shell needs it, or else the bare name. The path of "go run" is temporary.
func programName(path string) string {
	temporary := strings.Contains(path, "go-build") || strings.HasPrefix(path, filepath.Clean(os.TempDir())+string(filepath.Separator))
	if filepath.Base(path) == path || temporary {
		return "reelsplice"
	}
	return path
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// kindNames are the display names of kinds that differ from the kind's name or have an irregular plural.
var kindNames = map[string][2]string{
	"tv": {"series", "series"}, "person": {"person", "people"}, "company": {"company", "companies"},
	"episode_group": {"episode group", "episode groups"},
}

// countOfKind returns "1 movie", "2 people".
func countOfKind(n int64, kind string) string {
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
func plural[T int | int64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// bytesFlag is a flag for a number of bytes, such as 512MiB, 2GiB or 1GB.
type bytesFlag[T int | int64] struct{ n *T }

// String returns the number in the largest unit that divides it.
func (b bytesFlag[T]) String() string {
	if b.n == nil { // the zero value, which pflag creates
		return ""
	}
	n, unit := int64(*b.n), 0
	for ; n > 0 && n%(1<<10) == 0 && unit < 4; unit++ {
		n >>= 10
	}
	return strconv.FormatInt(n, 10) + []string{"", "KiB", "MiB", "GiB", "TiB"}[unit]
}

// Set parses a number with or without a unit. G is GiB.
func (b bytesFlag[T]) Set(text string) error {
	if text != "" && strings.Contains("KMGTkmgt", text[len(text)-1:]) {
		text += "iB"
	}
	n, err := humanize.ParseBytes(text)
	if err != nil || n > math.MaxInt64 || uint64(T(n)) != n {
		return errors.New("want a size such as 512MiB, 2GiB, 1GB or bytes")
	}
	*b.n = T(n)
	return nil
}

// Type names the flag's value in help texts.
func (bytesFlag[T]) Type() string { return "SIZE" }

// durationFlag is a flag for a time limit or, in days, an age. "none" is 0. Only an age accepts the digit 0: as a
// time limit, it is probably a mistake.
type durationFlag struct {
	d    *time.Duration
	ages bool
}

const day = 24 * time.Hour

// maxAgeDays limits an age, so that it fits a duration.
const maxAgeDays = 100_000

// String returns a value that Set parses.
func (f durationFlag) String() string {
	switch {
	case f.d == nil: // the zero value, which pflag creates
		return ""
	case *f.d == 0:
		return "none"
	case f.ages && *f.d%day == 0:
		return fmt.Sprintf("%dd", *f.d/day)
	}
	return f.d.String()
}

// Set parses a duration above 0, or none; for an age, days such as 180d too.
func (f durationFlag) Set(text string) error {
	if text == "none" || text == "0" && f.ages {
		*f.d = 0
		return nil
	}
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok && f.ages {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 32)
		d = time.Duration(min(n, maxAgeDays+1)) * day
	}
	bad := err != nil || d <= 0
	switch {
	case bad && !f.ages:
		return errors.New("want a duration above 0 such as 30s, or none")
	case bad || f.ages && d > maxAgeDays*day:
		return errors.New("want days such as 180d, a duration above 0 such as 36h, or none")
	}
	*f.d = d
	return nil
}

// Type names the flag's value in help texts.
func (f durationFlag) Type() string {
	if f.ages {
		return "AGE"
	}
	return "DURATION"
}

// Intervals of progress: JSON lines, text lines, one line of a terminal.
const (
	jsonEvery     = time.Second
	lineEvery     = 2 * time.Second
	terminalEvery = 100 * time.Millisecond
)

// minSeconds is the time after the start before which no rate is shown.
const minSeconds = 0.5

// maxLeft is the longest remaining time that is shown, in seconds.
const maxLeft = 1000 * 3600

// A screen is stderr at a terminal: lines, and below them one line of progress. It is safe for concurrent use.
type screen struct {
	mu       sync.Mutex
	out      io.Writer
	progress string // the line below; "" for none
}

// clearLine returns to the left end of a terminal's line and clears it.
const clearLine = "\r\x1b[K"

// Write writes lines above the progress.
func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.progress == "" {
		return s.out.Write(b)
	}
	text := append([]byte(clearLine), b...)
	if text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	_, err := s.out.Write(append(text, s.progress...))
	return len(b), err
}

// show replaces the progress line. With keep, later output goes below it.
func (s *screen) show(progress string, keep bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress = progress
	line := clearLine + progress
	if keep {
		s.progress, line = "", line+"\n"
	}
	_, _ = io.WriteString(s.out, line) // the terminal may be closed
}

// A progress shows the progress of one task on stderr: one line of a terminal, lines elsewhere, JSON lines with
// --json, nothing with --quiet.
type progress struct {
	stage  string
	unit   string // bytes or records
	json   bool
	screen *screen // for one line of a terminal; nil for lines
	clear  bool    // remove that line at the end
	out    io.Writer
	quit   chan struct{}  // nil to show nothing
	ended  sync.WaitGroup // waits for the displaying goroutine
	shown  bool           // that goroutine has shown a line
	start  time.Time

	mu          sync.Mutex // guards the fields below
	done, total int64
}

// progress starts showing progress; stop ends it.
func (c *console) progress(stage string, bytes bool) *progress {
	p := newProgress(stage, bytes, time.Now())
	p.out, p.json, p.clear = c.Stderr, c.json, c.clearProgress
	if !c.json {
		p.screen, _ = c.Stderr.(*screen)
	}
	switch {
	case c.quiet:
	case p.json:
		p.run(jsonEvery)
	case p.screen != nil:
		p.run(terminalEvery)
	default:
		p.run(lineEvery)
	}
	return p
}

func newProgress(stage string, bytes bool, now time.Time) *progress {
	unit := "records"
	if bytes {
		unit = "bytes"
	}
	return &progress{stage: stage, unit: unit, start: now}
}

// run shows progress periodically.
func (p *progress) run(every time.Duration) {
	p.quit = make(chan struct{})
	p.ended.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				p.show(time.Now(), false)
			case <-p.quit:
				return
			}
		}
	})
}

// update sets the progress to done of total; an unknown total is 0. It is safe for concurrent use: a smaller done
// than before is ignored.
func (p *progress) update(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done < p.done {
		return
	}
	p.done, p.total = done, max(0, total)
}

// stop shows the final state. Nothing is shown afterwards.
func (p *progress) stop() {
	if p.quit == nil {
		return
	}
	close(p.quit)
	p.ended.Wait()
	p.quit = nil
	if p.json || p.shown { // short work prints no final line
		p.show(time.Now(), true)
	}
}

// show writes a line, unless there is no progress yet.
func (p *progress) show(now time.Time, final bool) {
	l := p.line(now, final)
	if l.Done == 0 && l.Total == 0 {
		return
	}
	p.shown = true
	switch {
	case p.json:
		if data, err := encoding.Marshal(l); err == nil {
			fmt.Fprintf(p.out, "%s\n", data)
		}
	case p.screen != nil && p.clear && final:
		p.screen.show("", false)
	case p.screen != nil:
		p.screen.show(l.text(), final)
	default:
		fmt.Fprintln(p.out, l.text())
	}
}

// A progressLine is the progress at one moment, as a JSON line.
type progressLine struct {
	Stage   string  `json:"stage"`
	Done    int64   `json:"done"`
	Total   int64   `json:"total"`   // 0 if unknown
	Unit    string  `json:"unit"`    // bytes or records
	Seconds float64 `json:"seconds"` // since the start
	Final   bool    `json:"final,omitempty"`
}

func (p *progress) line(now time.Time, final bool) progressLine {
	p.mu.Lock()
	defer p.mu.Unlock()
	return progressLine{p.stage, p.done, p.total, p.unit, math.Round(now.Sub(p.start).Seconds()*10) / 10, final}
}

// text returns "ingest: 25% (1.0 MiB of 4.0 MiB), 512.0 KiB/s, 6s left", without unknown parts.
func (l *progressLine) text() string {
	number := func(n int64) string {
		if l.Unit == "bytes" {
			return humanize.IBytes(uint64(n))
		}
		return fmt.Sprint(n)
	}
	text := l.Stage + ": " + number(l.Done)
	if l.Total > 0 {
		percent := min(100, 100*float64(l.Done)/float64(l.Total)) // 100 only at the end
		text = fmt.Sprintf("%s: %d%% (%s of %s)", l.Stage, int(percent), number(l.Done), number(l.Total))
	}
	if l.Seconds < minSeconds && !l.Final || l.Seconds == 0 {
		return text
	}
	rate := float64(l.Done) / l.Seconds
	text += ", " + number(int64(math.Round(rate))) + "/s"
	if remaining := l.Total - l.Done; remaining > 0 && rate > 0 {
		text += ", " + (time.Duration(min(math.Ceil(float64(remaining)/rate), maxLeft)) * time.Second).String() + " left"
	}
	return text
}
