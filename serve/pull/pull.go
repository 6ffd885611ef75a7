// Package pull synchronizes a folder of releases with a bucket: it follows a pointer of the bucket, downloads the named
// release into the folder, and makes it the current one there. The folder is a cache of bounded size.
//
// A pull links files that the cache has, makes others from a delta to a file in the cache, and downloads the rest by
// ranges. Each file is verified before use. An interrupted pull continues where it stopped, even in another process. A
// problem with the bucket never affects the current release.
package pull

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/time/rate"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// Pointers of a bucket.
const (
	Current = "current"
	Canary  = "canary" // Current in a bucket without it
)

const (
	// filesAtOnce limits the files in progress at a time. Each takes a granule of memory.
	filesAtOnce = 8
	// maxWait bounds the wait after failures.
	maxWait = time.Minute
	// progressEvery is the time between log lines about a pull.
	progressEvery = 10 * time.Second

	lockFile      = ".pull-lock"
	pullingPrefix = ".pulling-"
	manifestFile  = "manifest.json"
)

// Config is the source, the destination and the limits of a Puller.
type Config struct {
	Bucket   object.Folder // current, canary, ID/manifest.json, files/SHA256, deltas/NEW-OLD; nil for a local folder, which has Follow and Pin too
	Dir      string        // the cache, a folder of releases
	Size     int64         // bytes of the cache; above it, releases neither served nor pulled are evicted, then a pull is refused
	Follow   string        // Current or Canary
	Pin      string        // id of the release to serve instead of following a pointer; "" for none
	Interval time.Duration // between two reads of the pointer
	Rate     int64         // bytes a second; 0 for no bound
	Stall    time.Duration // longest time of a request of up to 1 MiB
	Log      *slog.Logger
	// granule bounds the bytes of a request, and so the loss of an interrupted download.
	granule int64
}

// DefaultConfig returns the defaults; Bucket and Dir have none.
func DefaultConfig() Config {
	return Config{Size: 64 << 30, Follow: Current, Interval: 5 * time.Second, Stall: 30 * time.Second, Log: slog.New(slog.DiscardHandler), granule: 1 << 20}
}

// Wanted returns the id of the release that c selects, by the pointers of a store.
func (c *Config) Wanted(ctx context.Context, s store.Store) (string, error) {
	if c.Pin != "" {
		return c.Pin, nil
	}
	if c.Follow == Canary {
		if id, err := store.Canary(ctx, s); !errors.Is(err, store.ErrNoRelease) {
			return id, err
		}
	}
	return store.Current(ctx, s)
}

// Validate returns all errors in c. Without a bucket, it checks only Follow and Pin.
func (c *Config) Validate() error {
	var errs []error
	complain := func(ok bool, text string) {
		if !ok {
			errs = append(errs, errors.New(text))
		}
	}
	complain(c.Follow == Current || c.Follow == Canary, "follow: want current or canary")
	complain(c.Pin == "" || release.ValidID(c.Pin), "pin: want the id of a release")
	if c.Bucket == nil {
		return errors.Join(errs...)
	}
	complain(c.Dir != "", "cache-dir: want a folder for releases of a bucket")
	complain(c.Size >= 0, "cache-size: want 0 or more bytes")
	complain(c.Rate >= 0, "pull-rate: want 0 or more bytes a second")
	complain(c.Stall > 0, "stall: want more than 0")
	return errors.Join(errs...)
}

// An Edge serves from the cache.
type Edge interface {
	ID() string // id of the release in use, whose folder stays in the cache
	Reload()    // called when the current release was replaced or repaired
}

// A Puller synchronizes a cache with a bucket. Run does the work; the other methods are safe for concurrent use.
type Puller struct {
	cfg     Config
	origin  origin // its pointer belongs to the goroutine that watches during a pull
	log     *slog.Logger
	counts  counts
	err     atomic.Pointer[error] // error of the last step; nil if it succeeded
	running atomic.Pointer[job]   // the running pull; nil for none

	wake chan struct{} // ends a wait

	// Run owns the fields below.
	edge    Edge
	cache   cache
	checked string // the id whose release was last opened and published

	patching sync.Mutex // one delta at a time: each takes memory and a core
}

// New returns a Puller. It sends no request.
func New(cfg Config) (*Puller, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := file.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the cache: %w", err)
	}
	limit := rate.Inf
	if cfg.Rate > 0 {
		limit = rate.Limit(cfg.Rate)
	}
	p := &Puller{
		cfg: cfg, log: cfg.Log, wake: make(chan struct{}, 1),
		cache: cache{dir: cfg.Dir, maxBytes: cfg.Size, store: store.Folder{Dir: cfg.Dir}, log: cfg.Log},
	}
	p.origin = origin{cfg: &p.cfg, limiter: rate.NewLimiter(limit, int(cfg.granule)), counts: &p.counts}
	p.counts.pointerReadAt.Store(time.Now().UnixNano())
	return p, nil
}

// Err returns why the last check of the bucket or the last pull failed, or nil.
func (p *Puller) Err() error {
	if err := p.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Doing describes the running pull, "" for none.
func (p *Puller) Doing() string {
	if j := p.running.Load(); j != nil {
		return j.String()
	}
	return ""
}

// CheckNow ends the wait before the next check of the pointer.
func (p *Puller) CheckNow() {
	select {
	case p.wake <- struct{}{}:
	default: // it ends already
	}
}

// Run follows the pointer until ctx ends. It waits for another process on the same cache.
func (p *Puller) Run(ctx context.Context, edge Edge) {
	unlock := p.lock(ctx)
	if unlock == nil {
		return
	}
	defer unlock()
	p.edge, p.cache.serving = edge, edge.ID
	p.cache.read()
	for failures := 0; ctx.Err() == nil; {
		err := p.guarded(func() error { return p.step(ctx) })
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errMoved):
			continue
		case err == nil:
			failures = 0
			p.err.Store(nil)
		default:
			failures++
			p.counts.failures.Add(1)
			p.err.Store(&err)
		}
		wait := p.wait(failures)
		if err != nil {
			p.log.Warn("pull failed, the release in use stays", "error", err, "next try", wait.Round(time.Millisecond).String())
		}
		select {
		case <-p.wake:
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// guarded calls fn and returns a panic as an error: no content of a bucket can end the process. Each goroutine that
// reads from the bucket does so inside it.
func (p *Puller) guarded(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
			p.log.Error("pull panicked", "error", err, "stack", string(debug.Stack()))
		}
	}()
	return fn()
}

// lock locks the cache for this process, and returns the function that unlocks it, or nil if ctx ends first.
func (p *Puller) lock(ctx context.Context) func() {
	l := flock.New(filepath.Join(p.cfg.Dir, lockFile))
	for failures := 1; ; failures++ {
		ok, err := l.TryLock()
		if ok {
			return func() { _ = l.Unlock() } // the end of the process unlocks it otherwise
		}
		if err == nil {
			err = errors.New("another process pulls into it")
		}
		err = fmt.Errorf("lock the cache %s: %w", p.cfg.Dir, err)
		if p.Err() == nil {
			p.log.Warn("waiting for the cache", "error", err)
		}
		p.err.Store(&err)
		if sleep(ctx, p.wait(0)); ctx.Err() != nil {
			return nil
		}
	}
}

// wait returns the time to the next step after consecutive failures. Edges that start together spread out.
func (p *Puller) wait(failures int) time.Duration {
	wait := p.cfg.Interval << min(failures, 16)
	wait = min(wait, max(maxWait, p.cfg.Interval))
	return wait - wait/4 + rand.N(wait/2)
}

// sleep waits until ctx ends, for d at most.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// step reads the pointer and makes the named release the current one of the cache.
func (p *Puller) step(ctx context.Context) error {
	id, err := p.origin.target(ctx)
	if err != nil {
		return err
	}
	if id != p.checked || !p.cache.contains(id) {
		if err := p.bring(ctx, id); err != nil {
			return err
		}
	}
	if err := p.cache.removeLeftovers(""); err != nil { // the pointer may have named another release meanwhile
		return err
	}
	if p.cache.settled {
		return nil
	}
	return p.cache.evict(p.cache.releases[id])
}

// bring makes a release the current one of the cache, and pulls it first if the cache lacks it.
func (p *Puller) bring(ctx context.Context, id string) error {
	broken := false
	if p.cache.releases[id] != nil {
		err := p.publish(id)
		if err == nil {
			return nil
		}
		if !errors.Is(err, release.ErrCorrupt) && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		p.log.Warn("release in the cache is damaged and pulled again", "release", id, "error", err)
		broken = true
	}
	if err := p.pull(ctx, id, broken); err != nil {
		return err
	}
	return p.publish(id)
}

// publish makes a release of the cache its current one, unless it cannot be opened. It records the time of use.
func (p *Puller) publish(id string) error {
	previous, err := store.Publish(context.Background(), p.cache.store, id)
	if err != nil {
		return err
	}
	now := time.Now()
	_ = os.Chtimes(p.cache.store.Path(id), now, now) // only the order of eviction depends on it
	p.checked, p.cache.settled = id, false
	p.edge.Reload()
	if previous != id {
		p.log.Info("release is current in the cache", "release", id, "previous", previous)
	}
	return nil
}

// counts are what metrics report.
type counts struct {
	pulls, failures, patchFailures atomic.Int64
	moved, reused                  atomic.Int64 // bytes
	pointerReadAt                  atomic.Int64 // last read of the pointer, or start of the Puller, in nanoseconds of Unix time
}

// WriteMetrics adds the metrics of p to w.
func (p *Puller) WriteMetrics(w *observe.Writer) {
	c := &p.counts
	w.Bool(observe.Pulling, p.running.Load() != nil)
	w.Int(observe.Pulls, c.pulls.Load())
	w.Int(observe.PullFailures, c.failures.Load())
	w.Int(observe.PullDeltaFailures, c.patchFailures.Load())
	w.Int(observe.PullBytes, c.moved.Load())
	w.Int(observe.PullReusedBytes, c.reused.Load())
	w.Float(observe.PullPointerAge, time.Since(time.Unix(0, c.pointerReadAt.Load())).Seconds())
	w.Int(observe.CacheBytes, p.cache.bytes.Load())
	w.Int(observe.CacheBytesMax, p.cfg.Size)
}
