package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"reelsplice/cmd/bench/host"
	"reelsplice/cmd/bench/peer"
	"reelsplice/cmd/bench/report"
)

// profileSeconds is how long a profile of the CPU is.
const profileSeconds = 5

// profiles records where the edge spends its time and memory under each case, into the
// folder of the configuration: CASE.cpu.pprof and CASE.heap.pprof.
func (b *bench) profiles(ctx context.Context) error {
	if err := os.MkdirAll(b.cfg.Profiles, 0o750); err != nil {
		return fmt.Errorf("make the folder of the profiles: %w", err)
	}
	known := append(b.header(), "If-None-Match: "+b.detail.answer.Header.Get("ETag"))
	for _, c := range []struct {
		name, path string
		header     []string
	}{
		{report.Detail, b.detail.Path, b.header()},
		{report.Five, b.fiveAnswer.Path, b.header()},
		{report.NotModified, b.detail.Path, known},
		{"search", "/3/search/movie?query=the", b.header()},
	} {
		b.cfg.progress("profile of %s", c.name)
		l := load{url: b.edge.url + c.path, header: c.header, connections: b.cfg.Connections[0], seconds: profileSeconds + 2}
		if err := profile(ctx, b, c.name, l); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// profile records profiles under a load.
func profile(ctx context.Context, b *bench, name string, l load) error {
	ended := make(chan error, 1)
	go func() {
		_, err := b.runWrk(ctx, l)
		ended <- err
	}()
	err := fetchProfile(ctx, b, fmt.Sprintf("profile?seconds=%d", profileSeconds), name+".cpu.pprof")
	if loadErr := <-ended; err == nil {
		err = loadErr
	}
	if err != nil {
		return err
	}
	return fetchProfile(ctx, b, "heap", name+".heap.pprof")
}

// fetchProfile keeps what the admin listener of the edge says at a path in a file.
func fetchProfile(ctx context.Context, b *bench, path, file string) error {
	c := peer.NewClient()
	defer c.Close()
	c.Http.Timeout = profileSeconds*time.Second + host.Patience
	a, err := c.Get(ctx, http.MethodGet, b.edge.admin+"/debug/pprof/"+path, nil)
	if err != nil {
		return err
	}
	if a.Status != http.StatusOK {
		return fmt.Errorf("the admin listener answers %d to %s, want 200: %.200s", a.Status, path, a.Body)
	}
	return os.WriteFile(filepath.Join(b.cfg.Profiles, file), a.Body, 0o600)
}
