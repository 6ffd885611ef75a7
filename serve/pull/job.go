package pull

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A job is a running pull.
type job struct {
	id      string
	total   int64        // bytes of the release
	done    atomic.Int64 // bytes already in the cache
	started time.Time
	moved   int64 // bytes that the Puller moved before the start
}

func (j *job) String() string {
	return fmt.Sprintf("pulling release %s: %s of %s are there", j.id, humanize.IBytes(uint64(j.done.Load())), humanize.IBytes(uint64(j.total)))
}

// pull downloads a release into the cache. With verify, files of the cache are checked before they are linked. If the
// pointer changes meanwhile, the error is errMoved.
func (p *Puller) pull(ctx context.Context, id string, verify bool) error {
	p.counts.pulls.Add(1)
	working, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { p.watch(working, id, cancel) })
	defer func() {
		cancel(nil)
		watching.Wait()
		p.running.Store(nil)
	}()
	err := p.gather(working, id, verify)
	if err != nil && errors.Is(context.Cause(working), errMoved) {
		return errMoved
	}
	return err
}

// watch checks the pointer during a pull, and ends the pull if another release becomes current.
func (p *Puller) watch(ctx context.Context, id string, cancel context.CancelCauseFunc) {
	for last := time.Now(); ; {
		if sleep(ctx, p.wait(0)); ctx.Err() != nil {
			return
		}
		var target string
		err := p.guarded(func() (err error) { target, err = p.origin.target(ctx); return err })
		if err == nil && target != id {
			p.log.Info("pull stopped: the pointer names another release", "release", id, "next", target)
			cancel(errMoved)
			return
		}
		if j := p.running.Load(); j != nil && time.Since(last) >= progressEvery {
			last = time.Now()
			p.log.Info("pulling", "release", id, "bytes", j.done.Load(), "of", j.total)
		}
	}
}

// gather collects the files of a release in a hidden folder, which then gets the release's name.
func (p *Puller) gather(ctx context.Context, id string, verify bool) error {
	m, data, err := p.origin.manifest(ctx, id)
	if err != nil {
		return err
	}
	if err := p.cache.fits(m); err != nil {
		return err
	}
	folder := pullingPrefix + id
	dir := filepath.Join(p.cfg.Dir, folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := file.WriteFile(filepath.Join(dir, manifestFile), data, 0o600); err != nil {
		return err
	}
	j := &job{id: id, started: time.Now(), moved: p.counts.moved.Load()}
	files := filesOf(m)
	for _, f := range files {
		j.total += f.Size
	}
	p.running.Store(j)
	missing, err := p.reuse(ctx, files, dir, verify, j)
	if err != nil {
		return err
	}
	if err := p.cache.removeLeftovers(dir); err != nil {
		return err
	}
	if err := p.cache.evict(m); err != nil {
		return err
	}
	if err := p.cache.hasRoom(dir, missing); err != nil {
		return fmt.Errorf("release %s does not fit: %w", id, err)
	}
	p.log.Info("pulling release", "release", id, "files", len(files), "bytes", j.total, "files to move", len(missing), "bytes to move", j.total-j.done.Load())
	if len(missing) > 0 {
		patches := p.patches(ctx, missing, p.cfg.Size-p.cache.bytes.Load())
		g, inGroup := errgroup.WithContext(ctx)
		g.SetLimit(filesAtOnce)
		for _, f := range missing {
			g.Go(func() error {
				return p.guarded(func() error { return p.fetch(inGroup, dir, f, patches[f.SHA256], j) })
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	if err := m.RemoveOthers(dir); err != nil {
		return err
	}
	// The page shows the report of the build; no response of the API needs it.
	report, err := p.origin.readSmall(ctx, id+"/"+release.ReportName, maxReport)
	if err == nil {
		err = file.WriteFile(filepath.Join(dir, release.ReportName), report, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.log.Warn("the release is pulled without the report of its build", "release", id, "because", err)
	}
	if _, err := p.cache.store.Install(folder); err != nil {
		return err
	}
	p.cache.releases[id] = m
	p.log.Info("release pulled", "release", id, "bytes moved", p.counts.moved.Load()-j.moved, "of", j.total, "seconds", int(time.Since(j.started).Seconds()))
	return nil
}

// maxReport bounds the report of a build, in bytes.
const maxReport = 4 << 20

// filesOf returns the files of a release, each name once: parts of equal content share a file.
func filesOf(m *release.Manifest) (files []release.File) {
	named := map[string]bool{}
	for _, f := range m.Files() {
		if !named[f.Name] {
			named[f.Name] = true
			files = append(files, f)
		}
	}
	return files
}

// reuse links files of the cache and of interrupted pulls into dir, and returns the missing files of the release.
func (p *Puller) reuse(ctx context.Context, files []release.File, dir string, verify bool, j *job) (missing []release.File, err error) {
	sources := p.cache.sources()
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		from, known := sources[f.SHA256]
		switch {
		case hasSize(path, f.Size): // an interrupted pull of the same release has left it
		case !known, verify && f.Check(ctx, from) != nil:
			missing = append(missing, f)
			continue
		default:
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			if err := file.Link(from, path); err != nil {
				return nil, err
			}
			p.counts.reused.Add(f.Size)
		}
		j.done.Add(f.Size)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return missing, nil
}
