package fronts

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// logsOf makes the folder of a front's logs.
func logsOf(t *testing.T, s *site) string {
	t.Helper()
	dir := filepath.Join(s.tmp, "logs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// nginxMain is the main configuration that includes the file of a test. On a machine with only root, nginx stays
// root, which owns the tests' folders.
const nginxMain = "%sdaemon off;\npid %[2]s/nginx.pid;\nerror_log %[3]s/main.log;\nevents {}\nhttp {\n\tgzip on;\n\tgzip_types *;\n\tclient_body_temp_path %[2]s;\n" +
	"\tproxy_temp_path %[2]s;\n\tfastcgi_temp_path %[2]s;\n\tuwsgi_temp_path %[2]s;\n\tscgi_temp_path %[2]s;\n\tinclude %[4]s;\n}\n"

func startNginx(t *testing.T, dir, logs, file string) *process {
	t.Helper()
	tmp, path := filepath.Join(dir, "tmp"), filepath.Join(dir, "main.conf")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	user := ""
	if os.Getuid() == 0 {
		user = "user root;\n"
	}
	if err := os.WriteFile(path, fmt.Appendf(nil, nginxMain, user, tmp, logs, file), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, filepath.Join(logs, "nginx.out"), "nginx", "-c", path, "-e", filepath.Join(logs, "start.log"))
}

func TestNginx(t *testing.T) {
	s := newSite(t, shared(t, "nginx"))
	logs, addr := logsOf(t, s), "127.0.0.1:"+freePort(t)
	file := config(t, s.tmp, "nginx.conf", append(s.upstreams(), "listen 443", "listen "+addr, "/etc/reelsplice/", s.path("certs")+"/", "/var/log/nginx/", logs+"/",
		"/var/cache/nginx/", s.tmp+"/", "/run/nginx-reelsplice-tokens", s.tmp+"/seen-tokens")...)
	p := startNginx(t, s.tmp, logs, file)
	f := &front{
		site: s, addr: addr, caches: true,
		logs: logs, stored: filepath.Join(s.tmp, "reelsplice"), stop: func() { p.end(syscall.SIGQUIT) },
	}
	f.check(t)
}

func TestHAProxy(t *testing.T) {
	s := newSite(t, shared(t, "haproxy"))
	logs, addr := logsOf(t, s), "127.0.0.1:"+freePort(t)
	file := config(t, s.tmp, "haproxy.cfg", append(s.upstreams(), "port 8079", "port "+s.admin, "bind :443", "bind "+addr,
		"/etc/reelsplice/", s.path("certs")+"/", "log /dev/log local0", "log stdout format raw local0", "  max-age 60", "  max-age 8")...)
	p := start(t, filepath.Join(logs, "haproxy.out"), "haproxy", "-db", "-f", file)
	f := &front{
		site: s, addr: addr, caches: true, logs: logs, stop: func() { p.end(syscall.SIGTERM) },
	}
	f.check(t)
}

func TestCaddy(t *testing.T) {
	s := newSite(t, shared(t, "caddy"))
	logs, addr, admin := logsOf(t, s), "127.0.0.1:"+freePort(t), "127.0.0.1:"+freePort(t)
	file := config(t, s.tmp, "Caddyfile", append(s.upstreams(), "health_port 8079", "health_port "+s.admin, "\napi.example.org {\n",
		"\nhttps://api.example.org:"+addr[len("127.0.0.1:"):]+" {\n\tbind 127.0.0.1\n", "/etc/reelsplice/", s.path("certs")+"/", "/var/log/caddy/", logs+"/",
		"\n{\n", "\n{\n\tauto_https disable_redirects\n\tadmin "+admin+"\n")...)
	t.Setenv("HOME", s.tmp)
	t.Setenv("XDG_DATA_HOME", s.tmp)
	t.Setenv("XDG_CONFIG_HOME", s.tmp)
	p := start(t, filepath.Join(logs, "caddy.out"), "caddy", "run", "--config", file, "--adapter", "caddyfile")
	f := &front{site: s, addr: addr, logs: logs, stop: func() { p.end(syscall.SIGTERM) }}
	f.check(t)
}

func TestVarnish(t *testing.T) {
	s := newSite(t, shared(t, "varnishd", "varnishncsa", "haproxy"))
	if mods, _ := filepath.Glob("/usr/lib*/*/varnish/vmods/libvmod_xkey.so"); len(mods) == 0 {
		t.Skip("not installed: varnish-modules, a package of Debian")
	}
	logs, addr, purge, inner := logsOf(t, s), "127.0.0.1:"+freePort(t), "127.0.0.1:"+freePort(t), "127.0.0.1:"+freePort(t)
	vcl := config(t, s.tmp, "default.vcl", "10.0.0.11", address(0), "10.0.0.12", address(1), `"8080"`, `"`+s.port+`"`, `"8079"`, `"`+s.admin+`"`)
	tls := config(t, s.tmp, "varnish-tls.cfg", "bind :443", "bind "+addr, "/etc/reelsplice/", s.path("certs")+"/",
		"127.0.0.1:6081", inner, "log /dev/log local0", "log stdout format raw local0")
	work := filepath.Join(s.tmp, "varnish")
	args := []string{
		"-F", "-n", work, "-f", vcl, "-a", "tls=" + inner + ",PROXY", "-a", "purge=" + purge, "-p", "feature=+http2", "-s", "malloc,64m",
	}
	if os.Getuid() == 0 {
		args = append([]string{"-j", "none"}, args...)
	}
	cache := start(t, filepath.Join(logs, "varnishd.out"), "varnishd", args...)
	sharedtest.Retry(t, "varnishd runs", func() error {
		out, err := exec.Command("varnishadm", "-n", work, "status").CombinedOutput()
		if err == nil && string(out) != "Child in state running\n" {
			err = fmt.Errorf("varnishd: %s", out)
		}
		return err
	})
	log := start(t, filepath.Join(logs, "access.log"), "varnishncsa", "-n", work, "-F", `%h %t "%m %{VCL_Log:path}x" %s %b %{Varnish:hitmiss}x`)
	front2 := start(t, filepath.Join(logs, "haproxy.out"), "haproxy", "-db", "-f", tls)
	f := &front{
		site: s, addr: addr, caches: true, purgeAddr: purge, logs: logs,
		stop: func() {
			sharedtest.Eventually(t, "varnishncsa logs the last requests, which no edge served", func() bool {
				text, err := os.ReadFile(filepath.Join(logs, "access.log"))
				return err == nil && bytes.Count(text, []byte(" 503 ")) >= unserved
			})
			for _, p := range []*process{front2, log, cache} {
				p.end(syscall.SIGTERM)
			}
		},
	}
	f.check(t)
}
