//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	coldResponses = 20_000   // limit of one pass
	coldShare     = 3        // the release is 3 times the server's memory
	coldMemory    = 64 << 20 // minimum memory of a server; the edge itself takes half of it
	coldClients   = 32
	switchTime    = 10 * time.Second // before the switch, and after it
)

// coldParts are the paths of the parts of a response, relative to its movie.
var coldParts = append([]string{""}, strings.Split(strings.TrimPrefix(fiveParts, "?append_to_response="), ",")...)

// cold measures responses from disk: one pass over composed responses by a server with memory for a third of the
// release, and the time after a switch of releases. It needs root.
func (b *bench) cold(ctx context.Context, stdout io.Writer) error {
	memory := int(b.makers[0].rounds[0][releaseSize]*mebi) / coldShare
	if memory < coldMemory {
		fmt.Fprintf(stdout, "- not measured cold: a third of the release is %d MiB, want %d or more (--movies)\n", memory/mebi, coldMemory/mebi)
		return nil
	}
	defer b.stopAll()
	if err := b.startServers(ctx, stdout, false); err != nil {
		return err
	}
	var ids []uint64
	for _, i := range rand.New(rand.NewPCG(mixSeed, mixSeed)).Perm(len(b.ids)) {
		ids = append(ids, b.ids[i])
	}
	ids = ids[:min(len(ids), coldResponses)]
	// A response takes one request to the edge, but one for each part to nginx.
	requests := func(s *server, id uint64) (urls []string, err error) {
		path := fmt.Sprintf("/3/movie/%d", id)
		if s.name != nginx {
			return []string{s.url + path + fiveParts}, nil
		}
		for _, part := range coldParts {
			at, err := b.finish(ctx, strings.TrimSuffix(path+"/"+part, "/"))
			if err != nil {
				return nil, err
			}
			urls = append(urls, s.url+at)
		}
		return urls, nil
	}
	b.progress("cold: %d responses", len(ids))
	var rows [][]string
	for _, s := range b.servers {
		asks := make([][]string, len(ids))
		for i, id := range ids {
			var err error
			if asks[i], err = requests(s, id); err != nil {
				return err
			}
		}
		forget, err := confine(s.pid(), memory)
		if err != nil {
			fmt.Fprintf(stdout, "- not measured cold: %v\n", err)
			break
		}
		from, err := readBytes(s.pid())
		if err != nil {
			return err
		}
		begin := time.Now()
		took, failures := b.pass(ctx, s, func(i int) []string {
			if i >= len(asks) {
				return nil
			}
			return asks[i]
		})
		seconds := time.Since(begin).Seconds()
		to, err := readBytes(s.pid())
		if err = errors.Join(err, forget()); err != nil {
			return err
		}
		if failures > 0 {
			return fmt.Errorf("cold, %s: %d requests failed", s.name, failures)
		}
		rows = append(rows, []string{
			s.name, number(float64(len(took)) / seconds), number(quantile(took, 0.5)), number(quantile(took, 0.99)), number((to - from) / float64(len(took)) / 1024),
		})
	}
	if len(rows) > 0 {
		table(stdout, fmt.Sprintf("One pass over %d responses with five parts, each part a request to nginx; %.0f MiB of memory, a third of the release; p50 and p99 in milliseconds",
			len(ids), float64(memory)/mebi), []string{"server", "responses/s", "p50", "p99", "KiB from disk each"}, rows)
	}
	return b.switched(ctx, stdout, ids)
}

// switched measures the edge before and after it switches to another release of the same catalogue.
func (b *bench) switched(ctx context.Context, stdout io.Writer, ids []uint64) error {
	m, s := b.makers[0], b.servers[0]
	b.progress("switch of releases")
	if _, _, err := run(ctx, m.program, "build", "--quiet", "--full", "--level", "1", "--catalog", m.catalog, "--releases", m.releases); err != nil {
		return err
	}
	current, err := os.ReadFile(filepath.Join(m.releases, "current"))
	if err != nil {
		return err
	}
	id, _, _ := strings.Cut(string(current), "\n")
	other, err := filepath.Glob(filepath.Join(m.releases, "r*", "manifest.json"))
	if err != nil {
		return err
	}
	other = slices.DeleteFunc(other, func(path string) bool { return strings.Contains(path, id) })
	if len(other) != 1 {
		return fmt.Errorf("%d releases beside the current one, want 1", len(other))
	}
	var rows [][]string
	zipf := rand.NewZipf(rand.New(rand.NewPCG(mixSeed, mixSeed)), zipfExponent, 1, uint64(len(ids)-1))
	asks := make([]string, mixLines)
	for i := range asks {
		asks[i] = fmt.Sprintf("%s/3/movie/%d%s", s.url, b.ids[zipf.Uint64()], fiveParts)
	}
	for _, when := range []string{"warm up", "before", "after"} {
		if when == "after" {
			if _, _, err := run(ctx, m.program, "publish", "--quiet", "--releases", m.releases, "--max-drop", "100", "--force", filepath.Base(filepath.Dir(other[0]))); err != nil {
				return err
			}
		}
		end := time.Now().Add(switchTime)
		took, failures := b.pass(ctx, s, func(i int) []string {
			if time.Now().After(end) {
				return nil
			}
			return asks[i%len(asks) : i%len(asks)+1]
		})
		if when != "warm up" {
			rows = append(rows, []string{when, number(float64(len(took)) / switchTime.Seconds()), number(quantile(took, 0.5)), number(quantile(took, 0.99)), strconv.Itoa(failures)})
		}
	}
	table(stdout, fmt.Sprintf("The edge in the %v before and after a switch of releases, five parts by a Zipf law; milliseconds", switchTime),
		[]string{"when", "requests/s", "p50", "p99", "failures"}, rows)
	// An incremental build reuses a release of its own level.
	_, _, err = run(ctx, m.program, "rollback", "--quiet", "--releases", m.releases)
	return err
}

// pass requests the URLs of next from several clients until it returns none. It returns the milliseconds of each
// response, and how many were not 200.
func (b *bench) pass(ctx context.Context, s *server, next func(i int) (urls []string)) (took []float64, failures int) {
	var mu sync.Mutex
	var n atomic.Int64
	var clients sync.WaitGroup
	for range coldClients {
		clients.Go(func() {
			var own []float64
			failed := 0
			for urls := next(int(n.Add(1) - 1)); urls != nil; urls = next(int(n.Add(1) - 1)) {
				begin := time.Now()
				for _, url := range urls {
					if _, err := b.get(ctx, http.MethodGet, url, s.header, http.StatusOK); err != nil {
						failed++
					}
				}
				own = append(own, float64(time.Since(begin).Microseconds())/1000)
			}
			mu.Lock()
			defer mu.Unlock()
			took, failures = append(took, own...), failures+failed
		})
	}
	clients.Wait()
	slices.Sort(took)
	return took, failures
}

// quantile returns the value below which the given part of the sorted values lies.
func quantile(sorted []float64, part float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(part*float64(len(sorted)-1))]
}

// confine puts a process into a memory control group of that many bytes and drops the page cache. forget removes the
// group.
func confine(pid, bytes int) (forget func() error, err error) {
	root, limit := "/sys/fs/cgroup", "memory.max"
	if _, err := os.Stat(root + "/memory"); err == nil { // version 1
		root, limit = root+"/memory", "memory.limit_in_bytes"
	}
	group := filepath.Join(root, "reelsplice-bench-"+strconv.Itoa(pid))
	if err := os.Mkdir(group, 0o755); err != nil {
		return nil, err
	}
	forget = func() error {
		err := os.WriteFile(filepath.Join(root, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
		return errors.Join(err, os.Remove(group))
	}
	unix.Sync()
	err = errors.Join(
		os.WriteFile(filepath.Join(group, limit), []byte(strconv.Itoa(bytes)), 0),
		os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0),
		os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0),
	)
	if err != nil {
		return nil, errors.Join(err, forget())
	}
	return forget, nil
}

// readBytes returns the bytes that a process has read from disk, including page faults.
func readBytes(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "\nread_bytes: ")
	value, _, _ := strings.Cut(rest, "\n")
	return strconv.ParseFloat(value, 64)
}
