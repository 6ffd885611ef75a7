package host

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Tools are the programs of others and the cores that a run uses.
type Tools struct {
	Wrk, Nginx           string // Nginx is "" where it is missing
	ServerCore, LoadCore int
}

// FindTools looks for programs and cores. The server may be missing, the load may not.
func FindTools() (Tools, error) {
	t := Tools{Wrk: findProgram("wrk"), Nginx: findProgram("nginx")}
	if t.Wrk == "" {
		return t, errors.New("wrk is not installed, and it makes the load: install it (apt-get install wrk), or run scripts/bench.sh, which does")
	}
	c := cores()
	if len(c) < 2 {
		return t, fmt.Errorf("%d cores: want two, one for the server and one for the load", len(c))
	}
	t.ServerCore, t.LoadCore = c[0], c[1]
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

// Machine describes the machine at hand: CPU, cores, kernel, Go.
func Machine() string {
	cpu := cmp.Or(valueIn("/proc/cpuinfo", "model name"), "unknown "+runtime.GOARCH)
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%s, %d cores, %s %s; %s", cpu, runtime.NumCPU(), runtime.GOOS, strings.TrimSpace(string(kernel)), runtime.Version())
}
