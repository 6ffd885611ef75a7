package doctor

import (
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/reelsplice/reelsplice/serve/http"
	"github.com/reelsplice/reelsplice/serve/http/connlimit"
)

const (
	clockSlack = 5 * time.Minute // between the clocks of two machines
	heapBytes  = 64 << 20        // of an edge without its caches
)

// openFiles compares the limit of open files with the limit of connections. The unit sets its own limit of open files.
// Elsewhere the edge raises the limit as far as ulimit could.
func (x *examiner) openFiles() {
	have, want := connlimit.OpenFiles(), uint64(x.Config.MaxConns)+http.OtherFiles
	limit := strconv.FormatUint(want, 10)
	raise := "raise the hard limit of open files to " + limit
	if x.packaged() {
		raise = x.edit(fileLimit + limit)
	}
	for _, line := range x.unit() {
		if n, err := strconv.ParseUint(strings.TrimPrefix(line, fileLimit), 10, 64); err == nil && strings.HasPrefix(line, fileLimit) {
			have = n
		}
	}
	switch {
	case have >= want:
		x.ok("open files", "%d files may be open", have)
	case have <= http.OtherFiles:
		x.fail("open files", raise, "%d files may be open: the edge needs %d or more", have, http.OtherFiles+1)
	default:
		x.warn("open files", raise+"; or "+x.set("max-conns", strconv.FormatUint(have-http.OtherFiles, 10)),
			"%d files may be open, and %d connections are allowed: the edge allows fewer", have, x.Config.MaxConns)
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
		x.warn("memory", "add memory, or lower --max-inflight-bytes, --page-cache and --result-cache", "%s in all, and caches and responses may take %s", amount(have), amount(want))
		return
	}
	x.ok("memory", "%s in all, caches and responses may take %s", amount(have), amount(want))
}

func (x *examiner) clock() {
	mend := x.root("timedatectl", "set-ntp", "true")
	switch synchronised, known := clockSynchronised(); {
	case x.newest.Sub(x.Now) > clockSlack:
		x.fail("clock", mend, "it shows %s, but %s was made at %s", x.Now.UTC().Format(time.RFC3339), x.claims, x.newest.UTC().Format(time.RFC3339))
	case known && !synchronised:
		x.warn("clock", mend, "the system's clock is not synchronised; tokens and certificates expire by it")
	default:
		x.ok("clock", "%s", x.Now.UTC().Format(time.RFC3339))
	}
}

// amount returns a number of bytes for people.
func amount(n int64) string { return humanize.IBytes(uint64(n)) }
