// Fleet measures a fleet: three edges over one bucket behind HAProxy, under load, while releases are switched with a
// canary step and edges are killed and started. scripts/fleet.sh runs it. All of it is on 127.0.0.1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/object/store"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/bucket"
)

const (
	edges = 3
	// maxNight is the most of a release, in percent, that a night may move to an edge.
	maxNight = 10
	// switchTime bounds the time until an edge serves a published release.
	switchTime = time.Minute
	// pullInterval is that of the edges' looks at the pointer.
	pullInterval = 500 * time.Millisecond
	// killEvery is the number of nights between two kills of an edge.
	killEvery = 2
)

type config struct {
	program, dir  string
	movies        int
	nights        int
	rate, clients int
}

func main() {
	var c config
	flag.StringVar(&c.program, "program", "reelsplice", "`FILE` of the program")
	flag.StringVar(&c.dir, "dir", "", "`DIR` to work in")
	flag.IntVar(&c.movies, "movies", 2000, "movies of the catalogue")
	flag.IntVar(&c.nights, "nights", 20, "switches of releases")
	flag.IntVar(&c.rate, "rate", 300, "requests a second")
	flag.IntVar(&c.clients, "clients", 6, "connections of the client")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	if err := run(ctx, c); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// A fleet is what runs.
type fleet struct {
	config
	local  release.Store
	bucket bucket.Store
	dumps  dumps
	edges  [edges]*edge
	proxy  *proxy
	load   *load
}

func run(ctx context.Context, c config) (err error) {
	server, err := startBucket()
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }() // the process ends
	folder, err := store.OpenFolder(ctx, server.URL("releases"))
	if err != nil {
		return err
	}
	f := &fleet{config: c, local: release.Store{Dir: filepath.Join(c.dir, "releases")}, bucket: bucket.Store{Folder: folder}}
	f.dumps = dumps{program: c.program, dir: c.dir, releases: f.local.Dir}
	fmt.Printf("%d movies, %d nights, %d requests a second\n", c.movies, c.nights, c.rate)
	first, err := f.dumps.first(ctx, c.movies)
	if err != nil {
		return err
	}
	if _, err := f.upload(ctx, first, ""); err != nil {
		return err
	}
	if _, err := f.bucket.Publish(ctx, first); err != nil {
		return err
	}
	defer f.stop()
	if err := f.start(ctx, server.URL("releases"), first); err != nil {
		return err
	}
	return f.switches(ctx, first)
}

// startBucket starts a server of S3 in this process, whose credentials the edges get by the environment.
func startBucket() (*objecttest.Server, error) {
	for name, value := range map[string]string{"AWS_EC2_METADATA_DISABLED": "true", "AWS_ACCESS_KEY_ID": "fleet", "AWS_SECRET_ACCESS_KEY": "fleet-secret"} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	return objecttest.Start()
}

// upload brings a release into the bucket, and returns the bytes of the deltas from the one before.
func (f *fleet) upload(ctx context.Context, id, before string) (deltas int64, err error) {
	if _, err := f.bucket.Push(ctx, f.local.Path(id), nil); err != nil || before == "" {
		return 0, err
	}
	return f.bucket.PushDeltas(ctx, f.local, id, before)
}

// start starts the edges, one of which follows the canary, and the proxy, and then the load.
func (f *fleet) start(ctx context.Context, url, id string) (err error) {
	token, err := f.dumps.token(ctx)
	if err != nil {
		return err
	}
	for i := range f.edges {
		f.edges[i] = newEdge(f.program, f.dir, url, i, i == edges-1)
		if err := f.edges[i].start(); err != nil {
			return err
		}
	}
	if err := f.await(ctx, id, f.edges[:]...); err != nil {
		return err
	}
	if f.proxy, err = startProxy(ctx, f.dir, f.edges[:]); err != nil {
		return err
	}
	f.load = startLoad(ctx, f.proxy.url, token, f.movies, f.rate, f.clients)
	return nil
}

// stop ends all that start has started.
func (f *fleet) stop() {
	if f.load != nil {
		f.load.stop()
	}
	if f.proxy != nil {
		f.proxy.stop()
	}
	for _, e := range f.edges {
		if e != nil {
			e.stop()
		}
	}
}

// await waits until edges are ready with a release.
func (f *fleet) await(ctx context.Context, id string, some ...*edge) error {
	ctx, cancel := context.WithTimeout(ctx, switchTime)
	defer cancel()
	for _, e := range some {
		for !e.serves(ctx, id) {
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s does not serve %s after %s", e.name, id, switchTime)
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	return nil
}

// switches makes, publishes and awaits releases, and prints a row of the table for each.
func (f *fleet) switches(ctx context.Context, id string) error {
	fmt.Println("night  release bytes  deltas  pulled by an edge, at most        canary s  all s  killed")
	worst := 0.0
	for night := 1; night <= f.nights; night++ {
		n, err := f.night(ctx, night, id)
		if err != nil {
			return fmt.Errorf("night %d: %w", night, err)
		}
		share := 100 * float64(n.pulled) / float64(n.size)
		worst = max(worst, share)
		fmt.Printf("%5d  %13d  %6d  %14d bytes, %4.2f %%  %12.1f  %5.1f  %s\n", night, n.size, n.deltas, n.pulled, share, n.canary.Seconds(), n.all.Seconds(), n.killed)
		id = n.id
	}
	f.load.stop()
	retries, err := f.proxy.retries(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("requests %d, failed %d, retried by HAProxy %d, paths with an ETag %d, of another ETag on another edge %d, most pulled a night %.2f %%\n",
		f.load.requests.Load(), f.load.failed.Load(), retries, f.load.tags.count(), f.load.tags.differ.Load(), worst)
	if err := f.load.firstError(); err != nil {
		return fmt.Errorf("requests failed, the first: %w", err)
	}
	if f.load.tags.differ.Load() > 0 {
		return errors.New("edges have different ETags for one release")
	}
	if worst > maxNight {
		return fmt.Errorf("a night moved %.2f %% of a release, want %d at most", worst, maxNight)
	}
	return nil
}

// A night is a row of the table.
type night struct {
	id           string
	size, deltas int64
	pulled       int64 // by the edge that pulled the most
	canary, all  time.Duration
	killed       string
}

// night makes a release upon another, and switches the fleet to it.
func (f *fleet) night(ctx context.Context, number int, before string) (n night, err error) {
	if n.id, err = f.dumps.next(ctx, number); err != nil {
		return n, err
	}
	m, err := release.ReadManifest(f.local.Path(n.id))
	if err != nil {
		return n, err
	}
	for _, file := range m.Files() {
		n.size += file.Size
	}
	if n.deltas, err = f.upload(ctx, n.id, before); err != nil {
		return n, err
	}
	var had [edges]int64
	for i, e := range f.edges {
		if had[i], err = e.pulled(ctx); err != nil {
			return n, err
		}
	}
	start, canary := time.Now(), f.edges[edges-1]
	if _, err := f.bucket.SetCanary(ctx, n.id); err != nil {
		return n, err
	}
	if err := f.await(ctx, n.id, canary); err != nil {
		return n, err
	}
	n.canary = time.Since(start)
	if err := f.await(ctx, before, f.edges[:edges-1]...); err != nil {
		return n, err
	}
	start = time.Now()
	if _, err := f.bucket.Publish(ctx, n.id); err != nil {
		return n, err
	}
	if _, err := f.bucket.RemoveCanary(ctx); err != nil {
		return n, err
	}
	if number%killEvery == 0 {
		if n.killed, err = f.kill(ctx, number/killEvery); err != nil {
			return n, err
		}
	}
	if err := f.await(ctx, n.id, f.edges[:]...); err != nil {
		return n, err
	}
	n.all = time.Since(start)
	for i, e := range f.edges {
		has, err := e.pulled(ctx)
		if err != nil {
			return n, err
		}
		if has < had[i] { // of a new process
			had[i] = 0
		}
		n.pulled = max(n.pulled, has-had[i])
	}
	return n, nil
}

// kill ends an edge while releases are switched, at once or as an operator would, and starts it again.
func (f *fleet) kill(ctx context.Context, count int) (what string, err error) {
	if err := pause(ctx, rand.N(pullInterval)); err != nil {
		return "", err
	}
	e := f.edges[count%edges]
	if count%2 == 0 {
		what = e.name + " by SIGKILL"
		e.kill()
	} else {
		what = e.name + " by SIGTERM"
		e.stop()
	}
	if err := pause(ctx, time.Second); err != nil {
		return what, err
	}
	return what, e.start()
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
