// Package doctor examines the installation of an edge without starting it: addresses, limits, memory, releases,
// tokens, keys, certificate, access log and clock. Each problem comes with the command that mends it.
package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/serve"
)

// A Level is how bad a Finding is.
type Level string

// The levels.
const (
	OK   Level = "ok"
	Warn Level = "warn" // the edge serves, but not as well as it could, not for long, or not all clients
	Fail Level = "fail" // the edge does not serve
)

// A Finding is the result of one check.
type Finding struct {
	Check string `json:"check"`
	Level Level  `json:"level"`
	Text  string `json:"text"`
	Mend  string `json:"mend,omitempty"` // a command or a setting; "" for OK
}

// patience bounds questions to an edge that runs, and to a bucket.
const patience = 10 * time.Second

// expiresSoon is the time before the end of tokens and certificates in which doctor warns.
const expiresSoon = 14 * 24 * time.Hour

// An Installation is the edge to examine, with its surroundings.
type Installation struct {
	Config    serve.Config
	BucketErr error  // why the bucket of Config.Releases cannot be opened; Config.Pull.Bucket is nil then
	Catalog   string // folder or URL of the catalogue; "" if no setting names one
	Now       time.Time
	// Ready asks the edge that listens on the admin address for /readyz. It returns an error if no edge
	// responds.
	Ready func(ctx context.Context, adminAddr string) (text string, err error)

	// How the examination was started. Commands that mend repeat it.
	UID        int      // the user; -1 on systems without user numbers
	Command    string   // the program's name or path in commands
	Program    string   // its path
	Args       []string // after the program's name
	Environ    []string // NAME=value, the variables that set flags
	ConfigFile string   // "" for none

	// wait bounds questions to a bucket; patience by default. Tests wait longer.
	wait time.Duration

	// Root is the folder that holds the files of the package; "" for the system's root.
	Root string
}

// Examine runs all checks. The error is that of ctx.
func (in *Installation) Examine(ctx context.Context) ([]Finding, error) {
	x := &examiner{Installation: in}
	x.owner = x.dataOwner()
	x.user()
	x.config()
	x.running(ctx)
	x.address("addr", in.Config.Addr)
	x.address("admin-addr", in.Config.AdminAddr)
	x.admin()
	x.openFiles()
	x.tokens()
	x.signingKey()
	x.certificate()
	x.accessLog()
	if in.Config.Pull.Bucket == nil && in.BucketErr == nil {
		x.folder(ctx)
	} else {
		x.bucket(ctx)
		x.cache()
	}
	x.memory()
	x.clock()
	return x.findings, ctx.Err()
}

// An examiner collects findings.
type examiner struct {
	*Installation
	findings []Finding
	owner    int       // the user who owns the data
	canary   bool      // the release to serve is the canary
	up       bool      // an edge responds on the admin address
	newest   time.Time // the latest time at which something was made
	claims   string    // what was made then
}

func (x *examiner) ok(check, format string, args ...any) { x.add(check, OK, "", format, args...) }

func (x *examiner) warn(check, mend, format string, args ...any) {
	x.add(check, Warn, mend, format, args...)
}

func (x *examiner) fail(check, mend, format string, args ...any) {
	x.add(check, Fail, mend, format, args...)
}

func (x *examiner) add(check string, level Level, mend, format string, args ...any) {
	x.findings = append(x.findings, Finding{check, level, fmt.Sprintf(format, args...), mend})
}

// claim notes when something was made: the clock must be past that time.
func (x *examiner) claim(at time.Time, what string) {
	if at.After(x.newest) {
		x.newest, x.claims = at, what
	}
}

func (x *examiner) config() {
	err := x.Config.Validate()
	if err == nil {
		x.ok("config", "all settings are valid")
		return
	}
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(line)
		name, _, _ := strings.Cut(line, ":")
		name, _, _ = strings.Cut(name, " \"") // the value
		_, want, _ := strings.Cut(line, "want ")
		x.fail("config", x.set(name, want), "%s", line)
	}
}
