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
	coldMemory    = 64 << 20 // minimum memory of a server; the edge itself uses half of it
	coldClients   = 32
)

// coldParts are the paths of the parts of a response, relative to its movie.
var coldParts = append([]string{""}, strings.Split(strings.TrimPrefix(fiveParts, "?append_to_response="), ",")...)

// cold measures responses from disk: one pass over composed responses by a server with memory for a third of the
// release. It needs root.
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
	b.progress("cold: %d responses", len(ids))
	var rows [][]string
	for _, s := range b.servers {
		urls := make([][]string, len(ids))
		for i, id := range ids {
			path := fmt.Sprintf("/3/movie/%d", id)
			if s.name != nginx {
				urls[i] = []string{s.url + path + fiveParts}
				continue
			}
			for _, part := range coldParts { // nginx has a file for each part
				file, err := b.nginxFile(ctx, strings.TrimSuffix(path+"/"+part, "/"))
				if err != nil {
					return err
				}
				urls[i] = append(urls[i], s.url+file)
			}
		}
		restore, err := confine(s.pid(), memory)
		if err != nil {
			fmt.Fprintf(stdout, "- not measured cold: %v\n", err)
			break
		}
		from, err := readBytes(s.pid())
		if err != nil {
			return err
		}
		begin := time.Now()
		durations, failures := b.pass(ctx, s, urls)
		seconds := time.Since(begin).Seconds()
		to, err := readBytes(s.pid())
		if err = errors.Join(err, restore()); err != nil {
			return err
		}
		if failures > 0 {
			return fmt.Errorf("cold, %s: %d requests failed", s.name, failures)
		}
		rows = append(rows, []string{
			s.name, number(float64(len(durations)) / seconds), number(quantile(durations, 0.5)), number(quantile(durations, 0.99)), number((to - from) / float64(len(durations)) / 1024),
		})
	}
	if len(rows) > 0 {
		table(stdout, fmt.Sprintf("One pass over %d responses with five parts, each part a request to nginx; %.0f MiB of memory, a third of the release; p50 and p99 in milliseconds",
			len(ids), float64(memory)/mebi), []string{"server", "responses/s", "p50", "p99", "KiB from disk each"}, rows)
	}
	return nil
}

// pass requests the URLs of each response from several clients. It returns the milliseconds of each response, and the
// number of requests without status 200.
func (b *bench) pass(ctx context.Context, s *server, urls [][]string) (durations []float64, failures int64) {
	durations = make([]float64, len(urls))
	var next, failed atomic.Int64
	var clients sync.WaitGroup
	for range coldClients {
		clients.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(urls)); i = next.Add(1) - 1 {
				begin := time.Now()
				for _, url := range urls[i] {
					if _, err := b.get(ctx, http.MethodGet, url, s.header, http.StatusOK); err != nil {
						failed.Add(1)
					}
				}
				durations[i] = float64(time.Since(begin).Microseconds()) / 1000
			}
		})
	}
	clients.Wait()
	slices.Sort(durations)
	return durations, failed.Load()
}

// quantile returns the value that the given fraction of the sorted values does not exceed.
func quantile(sorted []float64, part float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(part*float64(len(sorted)-1))]
}

// confine limits a process to that many bytes with a memory control group, and drops the page cache. restore removes
// the group.
func confine(pid, bytes int) (restore func() error, err error) {
	root, limit := "/sys/fs/cgroup", "memory.max"
	if _, err := os.Stat(root + "/memory"); err == nil { // version 1
		root, limit = root+"/memory", "memory.limit_in_bytes"
	}
	group := filepath.Join(root, "reelsplice-bench-"+strconv.Itoa(pid))
	if err := os.Mkdir(group, 0o755); err != nil {
		return nil, err
	}
	restore = func() error {
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
		return nil, errors.Join(err, restore())
	}
	return restore, nil
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
