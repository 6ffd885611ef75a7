package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/build/array"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/object/store"
)

// A traffic is the requests of a build over a bucket, with the files of its catalogue and its status before the seal.
type traffic struct {
	Count  int            `json:"count"` // processes a stage, with and without tasks
	Stages []stageTraffic `json:"stages"`
	Status array.Status   `json:"status"`
}

// A stageTraffic is the requests of a stage.
type stageTraffic struct {
	Stage   string         `json:"stage"`
	Methods map[string]int `json:"methods"`
}

// A bucketBuild is a build whose catalogue, work folder and releases are in a bucket of this process.
type bucketBuild struct {
	program string
	server  *objecttest.Server
	traffic traffic
}

// countRequests builds a catalogue over a bucket and writes its traffic as JSON.
func countRequests(ctx context.Context, w io.Writer, program, catalogue string, count int) error {
	for name, value := range map[string]string{"AWS_EC2_METADATA_DISABLED": "true", "AWS_ACCESS_KEY_ID": "scale", "AWS_SECRET_ACCESS_KEY": "scale-secret"} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	server, err := objecttest.Start()
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }() // the process ends
	if err := upload(ctx, server.URL("catalog"), catalogue); err != nil {
		return err
	}
	b := &bucketBuild{program, server, traffic{Count: count}}
	if err := b.run(ctx); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(b.traffic)
}

// upload puts the Parquet files of a folder into another one.
func upload(ctx context.Context, url, dir string) error {
	to, err := store.OpenFolder(ctx, url)
	if err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil || len(paths) == 0 {
		return errors.Join(err, fmt.Errorf("no catalogue in %s", dir))
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err == nil {
			err = to.Put(ctx, filepath.Base(path), data)
		}
		if err != nil {
			return fmt.Errorf("upload %s: %w", path, err)
		}
	}
	return nil
}

// run runs all stages, a process each time, and counts the requests of each.
func (b *bucketBuild) run(ctx context.Context) error {
	b.server.Requests() // those of the upload
	work := b.server.URL("work")
	if err := b.step(ctx, "plan", "plan", "--catalog", b.server.URL("catalog"), "--releases", b.server.URL("releases"), "--work", work); err != nil {
		return err
	}
	for _, name := range builds {
		for i := range b.traffic.Count {
			share := []string{"task", name, "--work", work, "--jobs", "1", "--index", strconv.Itoa(i), "--count", strconv.Itoa(b.traffic.Count)}
			if err := b.reelsplice(ctx, nil, share...); err != nil {
				return err
			}
		}
		b.note(name)
	}
	if err := b.reelsplice(ctx, &b.traffic.Status, "status", "--work", work); err != nil {
		return err
	}
	b.server.Requests() // of the status
	return b.step(ctx, "seal", "seal", "--work", work)
}

// step runs the program and counts its requests.
func (b *bucketBuild) step(ctx context.Context, name string, args ...string) error {
	err := b.reelsplice(ctx, nil, args...)
	b.note(name)
	return err
}

// note counts the requests since the last time.
func (b *bucketBuild) note(name string) {
	methods := map[string]int{}
	for _, r := range b.server.Requests() {
		method, _, _ := strings.Cut(r, " ")
		methods[method]++
	}
	b.traffic.Stages = append(b.traffic.Stages, stageTraffic{name, methods})
}

// reelsplice runs a command of build, and decodes what it prints.
func (b *bucketBuild) reelsplice(ctx context.Context, into any, args ...string) error {
	c := exec.CommandContext(ctx, b.program, append([]string{"build"}, append(args, "--json", "--quiet")...)...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("build %s: %w", strings.Join(args, " "), err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(out, into)
}
