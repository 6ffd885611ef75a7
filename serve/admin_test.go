package serve

import (
	"bufio"
	"fmt"
	"net"
	nethttp "net/http"
	"testing"

	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestAdminHost: a listener on loopback refuses requests that name another machine, as those of a page are whose name
// was made to resolve to loopback. The name in --admin-addr and, on a listener that others reach, any name is good.
func TestAdminHost(t *testing.T) {
	for _, c := range []struct {
		listen, adminAddr string
		good, bad         []string
	}{
		{
			"127.0.0.1:0", "127.0.0.1:0",
			[]string{"127.0.0.1", "127.0.0.1:8079", "127.8.9.1", "localhost", "LocalHost:8079", "localhost.", "edge.localhost", "[::1]", "[::1]:8079", "[::ffff:127.0.0.1]:1", ""},
			[]string{
				"evil.example", "evil.example:8079", "localhost.evil.example", "127.0.0.1.evil.example", "notlocalhost", "10.0.0.11:8079", "0.0.0.0", "[::]:8079",
				"[2001:db8::1]", "edge", "127.0.0.1@evil.example", "2130706433", "[::1", ":8079",
			},
		},
		{"127.0.0.1:0", "edge.internal:8079", []string{"localhost", "edge.internal", "Edge.Internal:8079"}, []string{"evil.example", "internal"}},
		{"0.0.0.0:0", ":8079", []string{"localhost", "edge", "10.0.0.11:8079", "edge.prod.svc.cluster.local"}, nil},
	} {
		w := newWorld(t, nil, servetest.Version(1))
		api, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		admin, err := net.Listen("tcp", c.listen)
		if err != nil {
			t.Fatal(err)
		}
		w.cfg.AdminAddr = c.adminAddr
		if w.cfg.Bound, err = Bind(&w.cfg, api.(*net.TCPListener), admin.(*net.TCPListener)); err != nil {
			t.Fatal(err)
		}
		running(t, w.cfg)
		port := admin.Addr().(*net.TCPAddr).Port
		ask := func(path, host string) int {
			t.Helper()
			conn, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", port))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			head := "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"
			if host == "" {
				head = "GET " + path + " HTTP/1.0\r\n\r\n"
			}
			if _, err := fmt.Fprint(conn, head); err != nil {
				t.Fatal(err)
			}
			rs, err := nethttp.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer rs.Body.Close()
			return rs.StatusCode
		}
		for _, path := range []string{"/readyz", "/metrics", "/refused", "/debug/pprof/cmdline"} {
			for _, host := range c.good {
				if code := ask(path, host); code != 200 {
					t.Errorf("--admin-addr %s: %s of host %q = %d, want 200", c.adminAddr, path, host, code)
				}
			}
			for _, host := range c.bad {
				if code := ask(path, host); code != 421 && code != 400 { // 400 is of a head that is none
					t.Errorf("--admin-addr %s: %s of host %q = %d, want 421", c.adminAddr, path, host, code)
				}
			}
		}
	}
}
