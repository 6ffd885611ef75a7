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
	parent int
	cpu    float64 // seconds in user and kernel mode, of all threads that it has or had
}

// parseStat reads /proc/PID/stat. The name of the program, in parentheses, may hold
// anything.
func parseStat(data []byte) (procStat, error) {
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return procStat{}, fmt.Errorf("stat %.40q: want a name in parentheses", data)
	}
	const parent, user, system = 1, 11, 12 // behind the name
	f := strings.Fields(string(data[end+1:]))
	if len(f) <= system {
		return procStat{}, fmt.Errorf("stat: %d fields behind the name, want more than %d", len(f), system)
	}
	p, err1 := strconv.Atoi(f[parent])
	u, err2 := strconv.ParseUint(f[user], 10, 64)
	s, err3 := strconv.ParseUint(f[system], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return procStat{}, fmt.Errorf("stat: %w", err)
	}
	return procStat{parent: p, cpu: float64(u+s) / ticks}, nil
}

// Usage is what a process and all below it used so far.
type Usage struct {
	CPU  float64 // seconds
	Read int64   // bytes from disks
}

// TreeUsage returns what root and its descendants used so far, by the /proc at dir.
func TreeUsage(dir string, root int) (Usage, error) {
	stats, err := allStats(dir)
	if err != nil {
		return Usage{}, err
	}
	if _, ok := stats[root]; !ok {
		return Usage{}, fmt.Errorf("process %d is gone", root)
	}
	var u Usage
	for pid := range stats {
		if !descends(stats, pid, root) {
			continue
		}
		u.CPU += stats[pid].cpu
		u.Read += numberBehind(filepath.Join(dir, strconv.Itoa(pid), "io"), "read_bytes:")
	}
	return u, nil
}

// allStats returns the state of all processes. Those that end meanwhile are left out.
func allStats(dir string) (map[int]procStat, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	stats := map[int]procStat{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name(), "stat"))
		if err != nil {
			continue
		}
		if stats[pid], err = parseStat(data); err != nil {
			return nil, fmt.Errorf("process %d: %w", pid, err)
		}
	}
	return stats, nil
}

// descends reports whether pid is root or comes from it.
func descends(stats map[int]procStat, pid, root int) bool {
	for range len(stats) {
		if pid == root {
			return true
		}
		s, ok := stats[pid]
		if !ok {
			return false
		}
		pid = s.parent
	}
	return false
}

// numberBehind returns the number behind a name at the start of a line of a file, 0
// where there is none.
func numberBehind(path, name string) int64 {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
			return n
		}
	}
	return 0
}
