// Package doctor examines the installation of an edge without starting it: settings, addresses, limits, releases and
// their age, tokens, keys and certificate. Each problem comes with a fix.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"

	"github.com/reelsplice/reelsplice/serve"
	"github.com/reelsplice/reelsplice/serve/http"
	"github.com/reelsplice/reelsplice/serve/http/connlimit"
)

// A Level is the severity of a Finding.
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
	Fix   string `json:"fix,omitempty"` // a command or a setting; "" for OK
}

// patience limits requests to a running edge and to a bucket.
const patience = 10 * time.Second

// expiresSoon is how long before their expiry doctor warns of tokens and certificates.
const expiresSoon = 14 * 24 * time.Hour

// An Installation is the edge to examine, with its surroundings.
type Installation struct {
	Config    serve.Config
	BucketErr error  // why the bucket of Config.Releases cannot be opened; Config.Pull.Bucket is nil then
	Catalog   string // folder of the catalogue
	Now       time.Time

	Command    string // the program's name or path in commands
	ConfigFile string // "" for none
}

// Examine runs all checks. Its only error is ctx's.
func (in *Installation) Examine(ctx context.Context) ([]Finding, error) {
	x := &examiner{Installation: in}
	x.config()
	x.running(ctx)
	x.address("addr", in.Config.Addr)
	x.address("admin-addr", in.Config.AdminAddr)
	x.admin()
	x.openFiles()
	x.tokens()
	x.signingKey()
	x.certificate()
	if in.Config.Pull.Bucket == nil && in.BucketErr == nil {
		x.folder(ctx)
	} else {
		x.bucket(ctx)
	}
	return x.findings, ctx.Err()
}

// An examiner collects findings.
type examiner struct {
	*Installation
	findings []Finding
	up       bool // an edge responds on the admin address
}

func (x *examiner) ok(check, format string, args ...any) { x.add(check, OK, "", format, args...) }

func (x *examiner) warn(check, fix, format string, args ...any) {
	x.add(check, Warn, fix, format, args...)
}

func (x *examiner) fail(check, fix, format string, args ...any) {
	x.add(check, Fail, fix, format, args...)
}

func (x *examiner) add(check string, level Level, fix, format string, args ...any) {
	x.findings = append(x.findings, Finding{check, level, fmt.Sprintf(format, args...), fix})
}

// command returns a command of this program, with the config file.
func (x *examiner) command(args ...string) string {
	words := append([]string{x.Command}, args...)
	if x.ConfigFile != "" {
		words = append(words, "--config", x.ConfigFile)
	}
	return shellescape.QuoteCommand(words)
}

// setHint returns the instruction to change a setting.
func (x *examiner) setHint(name, value string) string {
	if x.ConfigFile == "" {
		return "set --" + name + " to " + value
	}
	return "set " + name + " to " + value + " in " + x.ConfigFile
}

func (x *examiner) config() {
	err := x.Config.Validate()
	if err == nil {
		x.ok("config", "all settings of serve are valid")
		return
	}
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(line)
		name, _, _ := strings.Cut(line, ":")
		name, _, _ = strings.Cut(name, " \"") // the value
		_, want, _ := strings.Cut(line, "want ")
		x.fail("config", x.setHint(name, want), "%s", line)
	}
}

// running looks for a running edge, which may hold the addresses. Another program may hold the admin address.
func (x *examiner) running(ctx context.Context) {
	if x.Config.AdminAddr == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, body, err := serve.AskAdmin(ctx, x.Config.AdminAddr, "/readyz")
	if err != nil {
		return
	}
	text := strings.TrimSpace(string(body))
	id, problem, isEdge := serve.ParseReady(text)
	if !isEdge {
		return
	}
	x.up = true
	const log = "its log has the cause"
	switch {
	case id == "":
		x.fail("edge", log, "an edge runs but is not ready: %s", problem)
	case problem != "":
		x.warn("edge", log, "the running edge reports: %s", problem)
	default:
		x.ok("edge", "an edge runs and is ready: %s", text)
	}
	x.refused(ctx)
}

// address examines an address that the edge listens on.
func (x *examiner) address(check, addr string) {
	if addr == "" {
		return
	}
	ln, err := net.Listen("tcp", addr)
	switch {
	case err == nil:
		_ = ln.Close()
		x.ok(check, "%s is free", addr)
	case addressInUse(err) && x.up:
		x.ok(check, "%s is in use, presumably by the running edge", addr)
	case addressInUse(err):
		holder := "another program"
		if x.Config.AdminAddr == "" {
			holder += ", or by an edge without --admin-addr"
		}
		_, port, _ := net.SplitHostPort(addr)
		x.fail(check, shellescape.QuoteCommand([]string{"ss", "-ltnp", "sport = :" + port})+" names it: stop that program, or "+x.setHint(check, "another port"),
			"%s is in use by %s", addr, holder)
	case errors.Is(err, fs.ErrPermission): // the system asks for the privilege before it looks at the port
		x.fail(check, x.setHint(check, "a port above 1023")+", or give the program CAP_NET_BIND_SERVICE", "%s needs a privilege", addr)
	default:
		x.fail(check, x.setHint(check, "an address of this machine"), "%v", err)
	}
}

func (x *examiner) admin() {
	host, port, err := net.SplitHostPort(x.Config.AdminAddr)
	ip := net.ParseIP(host)
	switch {
	case x.Config.AdminAddr == "":
		x.warn("admin", x.setHint("admin-addr", "127.0.0.1:8079"), "without an admin listener there are no readiness checks and no metrics")
	case err == nil && host != "localhost" && (ip == nil || !ip.IsLoopback()):
		x.warn("admin", x.setHint("admin-addr", "127.0.0.1:"+port)+", or allow only your monitoring to reach it", "%s is open to the network, with profiles and metrics", x.Config.AdminAddr)
	}
}

// openFiles compares the hard limit of open files, to which the edge raises its own, with the limit of connections.
func (x *examiner) openFiles() {
	limit, want := connlimit.OpenFiles(), uint64(x.Config.MaxConns)+http.OtherFiles
	raise := "raise the hard limit of open files to " + strconv.FormatUint(want, 10)
	switch {
	case limit >= want:
		x.ok("open files", "%d files may be open", limit)
	case limit <= http.OtherFiles:
		x.fail("open files", raise, "%d files may be open: the edge needs %d or more", limit, http.OtherFiles+1)
	default:
		x.warn("open files", raise+"; or "+x.setHint("max-conns", strconv.FormatUint(limit-http.OtherFiles, 10)),
			"%d files may be open, and %d connections are allowed: the edge allows fewer", limit, x.Config.MaxConns)
	}
}
