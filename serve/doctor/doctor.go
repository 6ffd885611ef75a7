// Package doctor examines the installation of an edge without starting it: addresses, limits, memory, releases,
// tokens, certificate and clock. Each problem comes with the command that mends it.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/http/connlimit"
)

// A Level is how bad a Finding is.
type Level string

// The levels.
const (
	OK   Level = "ok"
	Warn Level = "warn" // the edge serves, but not as well as it could, or not for long
	Fail Level = "fail" // the edge does not serve
)

// A Finding is the result of one check.
type Finding struct {
	Check string `json:"check"`
	Level Level  `json:"level"`
	Text  string `json:"text"`
	Mend  string `json:"mend,omitempty"` // a command or a setting; "" for OK
}

// What is near enough to warn of, and how much is read.
const (
	expiresSoon  = 14 * 24 * time.Hour // of tokens and certificates
	clockSlack   = 5 * time.Minute     // between clocks of machines
	verifiedSize = 256 << 20           // bytes of a release that are checked
	manyReleases = 10
	spareFiles   = 64       // open files beside connections
	heapBytes    = 64 << 20 // of an edge beside its caches
)

// An Installation is what is examined.
type Installation struct {
	Config serve.Config
	Now    time.Time
	// Ready asks the edge that listens on the admin address for /readyz. The error is about an edge that does not
	// respond.
	Ready func(ctx context.Context, adminAddr string) (text string, err error)
}

// Examine runs all checks. The error is that of ctx.
func (in *Installation) Examine(ctx context.Context) ([]Finding, error) {
	x := &examiner{Installation: in}
	x.config()
	x.running(ctx)
	x.address("addr", in.Config.Addr)
	x.address("admin-addr", in.Config.AdminAddr)
	x.admin()
	x.user()
	x.files()
	x.tokens()
	x.certificate()
	if in.Config.Pull.Bucket == nil {
		x.releases(ctx)
	} else {
		x.bucket()
	}
	x.memory()
	x.clock()
	return x.findings, ctx.Err()
}

// An examiner collects findings.
type examiner struct {
	*Installation
	findings []Finding
	up       bool      // an edge responds on the admin address
	newest   time.Time // the latest time that a file claims to be of
	claims   string    // which file
	size     int64     // bytes of the current release
}

func (x *examiner) ok(check, format string, args ...any) {
	x.findings = append(x.findings, Finding{check, OK, fmt.Sprintf(format, args...), ""})
}

func (x *examiner) warn(check, mend, format string, args ...any) {
	x.findings = append(x.findings, Finding{check, Warn, fmt.Sprintf(format, args...), mend})
}

func (x *examiner) fail(check, mend, format string, args ...any) {
	x.findings = append(x.findings, Finding{check, Fail, fmt.Sprintf(format, args...), mend})
}

// claim notes that something was made at a time, which the clock must be past.
func (x *examiner) claim(at time.Time, what string) {
	if at.After(x.newest) {
		x.newest, x.claims = at, what
	}
}

func (x *examiner) config() {
	if err := x.Config.Validate(); err != nil {
		for line := range strings.Lines(err.Error()) {
			x.fail("config", "reelsplice serve --help", "%s", strings.TrimSpace(line))
		}
		return
	}
	x.ok("config", "all settings are valid")
}

// running looks for an edge that runs already: it holds the addresses rightly.
func (x *examiner) running(ctx context.Context) {
	if x.Config.AdminAddr == "" || x.Ready == nil {
		return
	}
	text, err := x.Ready(ctx, x.Config.AdminAddr)
	if err != nil {
		return
	}
	x.up = true
	switch {
	case strings.HasPrefix(text, "ok") && strings.Contains(text, ", but: "):
		_, problem, _ := strings.Cut(text, ", but: ")
		x.warn("edge", "reelsplice doctor names the cause below", "the running edge reports: %s", problem)
	case strings.HasPrefix(text, "ok"):
		x.ok("edge", "an edge runs and is ready: %s", text)
	default:
		x.fail("edge", "see its log", "an edge runs but is not ready: %s", text)
	}
}

func (x *examiner) address(check, addr string) {
	if addr == "" {
		return
	}
	ln, err := net.Listen("tcp", addr)
	if err == nil {
		_ = ln.Close()
		x.ok(check, "%s is free", addr)
		return
	}
	_, port, _ := net.SplitHostPort(addr)
	switch {
	case x.up:
		x.ok(check, "%s is held, as by the edge that runs", addr)
	case errors.Is(err, fs.ErrPermission):
		x.fail(check, "setcap cap_net_bind_service=+ep /path/to/reelsplice, or a port above 1023", "%s needs a privilege", addr)
	case addressInUse(err):
		holder := "another program"
		if x.Config.AdminAddr == "" {
			holder += ", or by an edge without --admin-addr"
		}
		x.fail(check, "ss -ltnp 'sport = :"+port+"', then stop that program or set --"+check, "%s is held by %s", addr, holder)
	default:
		x.fail(check, "set --"+check+" to an address of this machine", "%v", err)
	}
}

func (x *examiner) admin() {
	host, _, err := net.SplitHostPort(x.Config.AdminAddr)
	switch {
	case x.Config.AdminAddr == "":
		x.warn("admin", "set --admin-addr 127.0.0.1:9090", "without an admin listener nothing can ask whether the edge is ready, and there are no metrics")
	case err == nil && !isLoopback(host):
		x.warn("admin", "set --admin-addr to 127.0.0.1, or allow only your monitoring to reach it", "%s is open to the network, with profiles and metrics", x.Config.AdminAddr)
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (x *examiner) user() {
	if os.Geteuid() == 0 {
		x.warn("user", "run it as a user of its own; the packaged systemd unit does", "the edge would run as root")
	}
}

func (x *examiner) files() {
	have, want := connlimit.OpenFiles(), uint64(x.Config.MaxConns)+spareFiles
	if have < want {
		x.warn("open files", fmt.Sprintf("LimitNOFILE=%d in the unit, ulimit -n %d in a shell, or --max-conns %d", want, want, max(1, int64(have)-spareFiles)),
			"%d files may be open, and %d connections are allowed: the edge lowers that", have, x.Config.MaxConns)
		return
	}
	x.ok("open files", "%d files may be open", have)
}

func (x *examiner) tokens() {
	path := x.Config.Tokens
	issue := "reelsplice token issue --tokens " + path + " --name NAME"
	info, err := os.Stat(path)
	if err != nil {
		x.fail("tokens", issue, "token file: %v", err)
		return
	}
	if info.Mode().Perm()&0o077 != 0 && hasModes {
		x.warn("tokens", "chmod 600 "+path, "%s can be read by other users", path)
	}
	records, err := auth.List(path)
	if err != nil {
		x.fail("tokens", "mend the line, or issue tokens into a new file", "%v", err)
		return
	}
	active, soon := 0, 0
	for i := range records {
		r := &records[i]
		x.claim(r.Created, "token "+r.Name)
		if !r.Revoked.IsZero() || !r.Expires.IsZero() && !r.Expires.After(x.Now) {
			continue
		}
		active++
		if !r.Expires.IsZero() && r.Expires.Sub(x.Now) < expiresSoon {
			soon++
			x.warn("tokens", issue, "token %s expires on %s", r.Name, r.Expires.Format(time.DateOnly))
		}
	}
	switch {
	case active == 0:
		x.fail("tokens", issue, "no token of %s is in force: every request gets 401", path)
	case soon == 0:
		x.ok("tokens", "%d in force", active)
	}
}

func (x *examiner) releases(ctx context.Context) {
	store := release.Store{Dir: x.Config.Releases}
	id, err := store.Current()
	if errors.Is(err, release.ErrNoRelease) || errors.Is(err, fs.ErrNotExist) {
		x.fail("release", "reelsplice build --catalog DIR --releases "+store.Dir+" --publish", "no release is published in %s", store.Dir)
		return
	}
	if err != nil {
		x.fail("release", "reelsplice publish --releases "+store.Dir+" ID", "%v", err)
		return
	}
	back := "reelsplice rollback --releases " + store.Dir
	infos, err := store.List()
	if err != nil {
		x.fail("release", "make the folder readable for the edge's user", "%v", err)
		return
	}
	for i := range infos {
		info := &infos[i]
		x.claim(info.Built, "release "+info.ID)
		switch {
		case info.Current && info.Err != nil:
			x.fail("release", back, "the current release cannot be opened: %v", info.Err)
			return
		case info.Current:
			x.size = info.Bytes
		case info.Err != nil:
			x.warn("releases", "rm -r "+store.Path(info.ID), "%s is no release: %v", info.ID, info.Err)
		}
	}
	parts := int(max(1, x.size/verifiedSize))
	problems, err := release.Verify(ctx, store.Path(id), release.VerifyOptions{Subset: 1, Of: parts}, nil)
	switch {
	case err != nil:
		x.fail("release", back, "%v", err)
	case len(problems) > 0:
		x.fail("release", "reelsplice verify --releases "+store.Dir+", then "+back, "%s is damaged: %v", id, &problems[0])
	default:
		x.ok("release", "%s, %s, checked 1 of %d parts", id, humanize.IBytes(uint64(x.size)), parts)
	}
	if len(infos) > manyReleases {
		x.warn("releases", "reelsplice prune --releases "+store.Dir+" --keep 3", "%d releases are kept", len(infos))
	}
	x.disk(store.Dir, x.size, "the next release needs")
}

// bucket examines the cache of releases that come from a bucket.
func (x *examiner) bucket() {
	dir := x.Config.Pull.Dir
	if dir == "" {
		return // the configuration reports that
	}
	f, err := os.CreateTemp(existing(dir), ".doctor-*")
	if err != nil {
		x.fail("cache", "set --cache-dir to a folder that the edge's user may write", "%v", err)
		return
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	x.ok("cache", "%s can be written", dir)
	x.disk(dir, x.Config.Pull.Size, "--cache-size is")
}

// existing returns dir, or the nearest folder above it that is there.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func (x *examiner) disk(dir string, need int64, reason string) {
	free, network, known := volume(existing(dir))
	switch {
	case !known:
	case free < need:
		x.warn("disk", "reelsplice prune, or a larger disk", "%s has %s free, and %s %s", dir, humanize.IBytes(uint64(free)), reason, humanize.IBytes(uint64(need)))
	default:
		x.ok("disk", "%s has %s free", dir, humanize.IBytes(uint64(free)))
	}
	if network {
		x.warn("disk", "keep releases in a bucket and a --cache-dir on a local disk, or copy them", "%s is on a network file system: a stall there stalls requests", dir)
	}
}

func (x *examiner) memory() {
	have, known := memory()
	if !known {
		return
	}
	c := &x.Config
	want := int64(heapBytes) + int64(c.PageCache) + int64(c.ResultCache) + int64(c.MaxInflight)
	if have < want {
		x.warn("memory", "give it more, or lower --max-inflight-bytes, --page-cache and --result-cache", "%s in all, and caches and responses may take %s", humanize.IBytes(uint64(have)), humanize.IBytes(uint64(want)))
		return
	}
	x.ok("memory", "%s in all, caches and responses may take %s", humanize.IBytes(uint64(have)), humanize.IBytes(uint64(want)))
}

func (x *examiner) clock() {
	const mend = "timedatectl set-ntp true"
	switch synchronised, known := clockSynchronised(); {
	case x.newest.Sub(x.Now) > clockSlack:
		x.fail("clock", mend, "it shows %s, but %s was made at %s", x.Now.UTC().Format(time.RFC3339), x.claims, x.newest.UTC().Format(time.RFC3339))
	case known && !synchronised:
		x.warn("clock", mend, "the system's clock is not synchronised; tokens and certificates expire by it")
	default:
		x.ok("clock", "%s", x.Now.UTC().Format(time.RFC3339))
	}
}
