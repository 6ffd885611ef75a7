package host

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ticks is how many units of time /proc counts in a second, on every Linux.
const ticks = 100

// A procStat is a process in /proc/PID/stat.
type procStat struct {
	group int
	cpu   float64 // seconds in user and kernel mode, of all threads that it has or had
}

// parseStat reads /proc/PID/stat. The name of the program, in parentheses, may hold
// anything.
func parseStat(data []byte) (procStat, error) {
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return procStat{}, fmt.Errorf("stat %.40q: want a name in parentheses", data)
	}
	const group, user, system = 2, 11, 12 // behind the name
	f := strings.Fields(string(data[end+1:]))
	if len(f) <= system {
		return procStat{}, fmt.Errorf("stat: %d fields behind the name, want more than %d", len(f), system)
	}
	g, err1 := strconv.Atoi(f[group])
	u, err2 := strconv.ParseUint(f[user], 10, 64)
	s, err3 := strconv.ParseUint(f[system], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return procStat{}, fmt.Errorf("stat: %w", err)
	}
	return procStat{group: g, cpu: float64(u+s) / ticks}, nil
}

// Usage is what the processes of a group used so far.
type Usage struct {
	CPU  float64 // seconds
	Read int64   // bytes from disks
}

// GroupUsage returns what the processes of a group used so far, by the /proc at dir. Those that
// end meanwhile are left out.
func GroupUsage(dir string, group int) (u Usage, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return u, fmt.Errorf("list processes: %w", err)
	}
	gone := true
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name(), "stat"))
		if err != nil {
			continue
		}
		stat, err := parseStat(data)
		if err != nil {
			return u, fmt.Errorf("process %s: %w", e.Name(), err)
		}
		if stat.group != group {
			continue
		}
		gone = false
		u.CPU += stat.cpu
		n, _ := strconv.ParseInt(valueIn(filepath.Join(dir, e.Name(), "io"), "read_bytes"), 10, 64)
		u.Read += n
	}
	if gone {
		return u, fmt.Errorf("the processes of group %d are gone", group)
	}
	return u, nil
}

// valueIn returns the value of the first line "name: value" of a file, "" where there is none.
func valueIn(path, name string) string {
	data, _ := os.ReadFile(path)
	for line := range strings.Lines(string(data)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
