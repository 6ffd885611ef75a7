package doctor

import (
	"context"
	"io/fs"
	"net"
	"strconv"
	"testing"

	"github.com/reelsplice/reelsplice/serve/http"
	"github.com/reelsplice/reelsplice/serve/http/connlimit"
)

func listen(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln.Addr().String()
}

// An address in use is the edge's only if an edge responds on the admin address.
func TestAddressInUse(t *testing.T) {
	for text, want := range map[string]string{
		"ok " + readyID:      "ok: ",
		"404 page not found": "fail: ",
	} {
		in := installation(t)
		in.Config.Addr, in.Config.AdminAddr = listen(t), listen(t)
		in.Ready = func(context.Context, string) (string, error) { return text, nil }
		has(t, text, of(t, in, "addr"), want+in.Config.Addr+" is held")
		has(t, text, of(t, in, "admin-addr"), want+in.Config.AdminAddr+" is held")
	}
}

// refusal is the finding about a privileged port.
func refusal(t *testing.T, in *Installation, up bool) string {
	t.Helper()
	x := &examiner{Installation: in, up: up}
	x.refused("addr", ":443", &net.OpError{Op: "listen", Err: fs.ErrPermission})
	return textOf(t, x.findings, "addr")
}

// A port that needs a privilege is no port in use, also while an edge runs at another one.
func TestPrivilegedPort(t *testing.T) {
	in := installation(t)
	in.UID = 0
	for _, up := range []bool{false, true} {
		has(t, "a program without a package", refusal(t, in, up), "fail: :443 needs a privilege -> setcap cap_net_bind_service=+ep /opt/reelsplice\n")
	}
	in.Root, in.Program = t.TempDir(), packagedProgram
	has(t, "a package without its unit", refusal(t, in, false), "fail: :443 needs a privilege -> setcap ")
	write(t, in.Root+unitFile, "[Service]\nPrivateUsers=yes\nCapabilityBoundingSet=\n", 0o600)
	has(t, "a package", refusal(t, in, false), "fail: :443 needs a privilege, which the unit lacks -> systemctl edit reelsplice to add [Service], "+
		"AmbientCapabilities=CAP_NET_BIND_SERVICE, CapabilityBoundingSet=CAP_NET_BIND_SERVICE, PrivateUsers=no, then systemctl restart reelsplice\n")
	write(t, in.Root+"/etc/systemd/system/reelsplice.service.d/override.conf", "[Service]\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n", 0o600)
	has(t, "a part of the lines", refusal(t, in, false), "fail: ")
	write(t, in.Root+"/etc/systemd/system/reelsplice.service.d/port.conf", "[Service]\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE\nPrivateUsers=no\n", 0o600)
	has(t, "all lines", refusal(t, in, false), "ok: :443 needs a privilege, which the unit has")
}

// The log of the unit has the cause of what the edge reports.
func TestJournal(t *testing.T) {
	in := installation(t)
	in.UID, in.Root, in.Program = 0, t.TempDir(), packagedProgram
	in.Config.AdminAddr = "127.0.0.1:0"
	in.Ready = func(context.Context, string) (string, error) { return "no release", nil }
	write(t, in.Root+unitFile, "[Service]\n", 0o600)
	has(t, "a package", of(t, in, "edge"), "fail: ", "-> journalctl -u reelsplice -n 50\n")
}

// The unit's limit of open files counts, not that of the shell. The edge raises the latter as far as ulimit could.
func TestOpenFiles(t *testing.T) {
	in := installation(t)
	in.Config.MaxConns = 1 << 40
	raise := strconv.Itoa(1<<40 + http.OtherFiles)
	most := strconv.FormatUint(connlimit.OpenFiles()-http.OtherFiles, 10)
	has(t, "no unit", of(t, in, "open files"), "warn: ", "-> raise the hard limit of open files to "+raise+"; or set --max-conns to "+most+"\n")
	in.UID, in.Root, in.Program = 0, t.TempDir(), packagedProgram
	for files, want := range map[int]string{
		1<<40 + http.OtherFiles:     "ok: ",
		1<<40 + http.OtherFiles - 1: "warn: ",
		http.OtherFiles + 1:         "warn: ",
		http.OtherFiles:             "fail: ", // the edge does not start
	} {
		write(t, in.Root+unitFile, "[Service]\nLimitNOFILE="+strconv.Itoa(files)+"\n", 0o600)
		has(t, "the unit's limit", of(t, in, "open files"), want+strconv.Itoa(files)+" files ")
	}
	write(t, in.Root+unitFile, "[Service]\nLimitNOFILE=131072\n", 0o600)
	has(t, "too few", of(t, in, "open files"), "warn: 131072 files ", "-> systemctl edit reelsplice to add [Service], LimitNOFILE="+raise+", then ")
	write(t, in.Root+editedUnit, "LimitNOFILE=2199023255552\n", 0o600)
	has(t, "enough", of(t, in, "open files"), "ok: 2199023255552 ")
}
