package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
)

// Tools are the programs of others that a run uses; "" for those that are missing.
type Tools struct{ Wrk, Nginx, Varnish string }

// FindTools looks for the programs. Servers may be missing, the load may not.
func FindTools() (Tools, error) {
	t := Tools{Wrk: findProgram("wrk"), Nginx: findProgram("nginx"), Varnish: findProgram("varnishd")}
	if t.Wrk == "" {
		return t, errors.New("wrk is not installed, and it makes the load: install it (apt-get install wrk), or run scripts/bench.sh, which does")
	}
	return t, nil
}

// findProgram returns the path of a program. Servers may lie where only root looks.
func findProgram(name string) string {
	for _, path := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	return ""
}

// Missing names the peers that are left out.
func (t Tools) Missing() []string {
	var out []string
	if t.Nginx == "" {
		out = append(out, "nginx")
	}
	if t.Varnish == "" {
		out = append(out, "varnish")
	}
	return out
}

// Versions returns what the programs say that they are.
func (t Tools) Versions(ctx context.Context) map[string]string {
	out := map[string]string{"go": runtime.Version()}
	for _, p := range []struct{ name, path, flag string }{
		{"wrk", t.Wrk, "-v"}, {"nginx", t.Nginx, "-v"}, {"varnish", t.Varnish, "-V"},
	} {
		if p.path == "" {
			continue
		}
		text, _ := exec.CommandContext(ctx, p.path, p.flag).CombinedOutput() // wrk -v ends with 1
		out[p.name] = versionIn(string(text))
	}
	return out
}

var versionForm = regexp.MustCompile(`\d+\.\d+(\.\d+)?`)

// versionIn returns the first version number in a text, "unknown" without one.
func versionIn(text string) string {
	if v := versionForm.FindString(text); v != "" {
		return v
	}
	return "unknown"
}

// A Machine is where a run took place.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
}

// ThisMachine describes the machine at hand, as far as the system tells.
func ThisMachine() Machine {
	m := Machine{CPU: "unknown", Cores: runtime.NumCPU(), Kernel: runtime.GOOS}
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		m.CPU = cpuName(string(data))
	}
	if data, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = "Linux " + strings.TrimSpace(string(data))
	}
	return m
}

// cpuName returns the name of the first CPU in /proc/cpuinfo.
func cpuName(text string) string {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return fmt.Sprintf("unknown %s", runtime.GOARCH)
}
