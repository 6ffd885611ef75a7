package doctor

import (
	"context"
	"errors"
	"io/fs"
	"net"

	"github.com/reelsplice/reelsplice/serve"
)

// running looks for a running edge, which may hold the addresses. Another program may hold the admin address.
func (x *examiner) running(ctx context.Context) {
	addr := x.Config.AdminAddr
	if addr == "" || x.Ready == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	text, err := x.Ready(ctx, addr)
	if err != nil {
		return
	}
	id, problem, isEdge := serve.ParseReady(text)
	if !isEdge {
		return
	}
	x.up = true
	log := x.holders(addr) + " names its process; its stderr has the cause"
	if x.packaged() {
		log = x.root("journalctl", "-u", "reelsplice", "-n", "50")
	}
	switch {
	case id == "":
		x.fail("edge", log, "an edge runs but is not ready: %s", problem)
	case problem != "":
		x.warn("edge", log, "the running edge reports: %s", problem)
	default:
		x.ok("edge", "an edge runs and is ready: %s", text)
	}
}

// address examines an address that the edge listens on.
func (x *examiner) address(check, addr string) {
	if addr == "" {
		return
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		x.refused(check, addr, err)
		return
	}
	_ = ln.Close()
	x.ok(check, "%s is free", addr)
}

// refused explains the error of a listener. The system asks for the privilege before it looks at the port.
func (x *examiner) refused(check, addr string, err error) {
	switch {
	case addressInUse(err) && x.up:
		x.ok(check, "%s is held, presumably by the running edge", addr)
	case addressInUse(err):
		holder := "another program"
		if x.Config.AdminAddr == "" {
			holder += ", or by an edge without --admin-addr"
		}
		x.fail(check, x.holders(addr)+" names it: stop that program, or "+x.set(check, "another port"), "%s is held by %s", addr, holder)
	case !errors.Is(err, fs.ErrPermission):
		x.fail(check, x.set(check, "an address of this machine"), "%v", err)
	case !x.packaged():
		x.fail(check, x.root("setcap", "cap_net_bind_service=+ep", x.Program), "%s needs a privilege", addr)
	case x.hasLines(portLines...):
		x.ok(check, "%s needs a privilege, which the unit has", addr)
	default:
		x.fail(check, x.edit(portLines...), "%s needs a privilege, which the unit lacks", addr)
	}
}

// holders returns the command that lists the programs at the port of addr.
func (x *examiner) holders(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return x.root("ss", "-ltnp", "sport = :"+port)
}

func (x *examiner) admin() {
	host, port, err := net.SplitHostPort(x.Config.AdminAddr)
	switch {
	case x.Config.AdminAddr == "":
		x.warn("admin", x.set("admin-addr", "127.0.0.1:9090"), "without an admin listener there are no readiness checks and no metrics")
	case err == nil && !isLoopback(host):
		x.warn("admin", x.set("admin-addr", "127.0.0.1:"+port)+", or allow only your monitoring to reach it", "%s is open to the network, with profiles and metrics", x.Config.AdminAddr)
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
