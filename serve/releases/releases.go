// Package releases holds the served release: it opens the current release of a store, follows the
// store, switches without losing a request, and checks the release in the background.
package releases

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/serve/observe"
	"github.com/reelsplice/reelsplice/serve/query"
)

// damages limits the damaged blocks logged per second.
const damages = 3

// Releases holds the served release and follows the store's current one. A new one is opened while the old one is
// served; new requests use it, and the old one is closed after its last request.
type Releases struct {
	cfg            Config
	current        atomic.Pointer[Held]
	failed         atomic.Pointer[failure]
	opened         atomic.Uint64 // releases so far
	following      sync.Mutex    // held by follow
	damages        *slog.Logger  // for damage, limited
	sizesCheckedAt time.Time     // last check of the lengths of files
	scrubbed       atomic.Int64  // end of the last whole background check, in nanoseconds of Unix time; 0 for none
}

// failure is a release that could not be opened. It is tried again only after the
// store has named another one, or after retryAfter.
type failure struct {
	id   string
	err  error
	when time.Time
}

// retryAfter is the time between attempts to open a release.
const retryAfter = 10 * time.Second

// A Held is an open release with a count of its users.
type Held struct {
	Reader *release.Reader
	Engine *query.Engine // runs its queries
	Since  string        // the oldest day of its data, YYYY-MM-DD; "" if unknown
	users  atomic.Int64  // requests, and one for being current
	log    *slog.Logger
	// serial is unique in this process; never 0. It changes when damage is found, so that earlier prepared responses are
	// not used.
	serial   atomic.Uint64
	scrubbed atomic.Int64    // bytes that its last or current background check has read
	loaded   time.Time       // when it was opened
	served   context.Context // ends when another release is served
	retire   context.CancelFunc
}

// Serial returns the current serial of the release, which new damage changes; 0 without a release.
func (h *Held) Serial() uint64 {
	if h == nil {
		return 0
	}
	return h.serial.Load()
}

// Users returns the number of current uses of the release; being the current release counts as one.
func (h *Held) Users() int64 { return h.users.Load() }

// Release ends a use.
func (h *Held) Release() {
	if h == nil || h.users.Add(-1) != 0 {
		return
	}
	if err := h.Reader.Close(); err != nil {
		h.log.Error("close release", "error", err)
	}
}

// Config selects the release to serve.
type Config struct {
	Store   store.Folder
	Wanted  func() (string, error) // the id of the release to serve; Store.Current by default
	Later   bool                   // start without a release if none opens, and wait for Reload
	Results int                    // bytes of results of queries that are kept
	Warm    int64                  // bytes of indexes, checks, and ids and names of tables that are read in the background when a release is opened
	Log     *slog.Logger
}

// New opens the release that c selects.
func New(c Config) (*Releases, error) {
	if c.Wanted == nil {
		c.Wanted = func() (string, error) { return store.Current(context.Background(), c.Store) }
	}
	r := &Releases{cfg: c, damages: observe.Limit(c.Log, damages, time.Second)}
	id, err := r.cfg.Wanted()
	if err == nil {
		err = r.open(id)
	}
	if err != nil && !c.Later {
		return nil, err
	}
	return r, nil
}

// Acquire returns the current release for one request; Held.Release ends it.
func (r *Releases) Acquire() *Held {
	for {
		h := r.current.Load()
		if h == nil {
			return nil
		}
		// A count of zero means that h was replaced and has no users left.
		for n := h.users.Load(); n > 0; n = h.users.Load() {
			if h.users.CompareAndSwap(n, n+1) {
				return h
			}
		}
	}
}

func (r *Releases) open(id string) error {
	reader, err := release.Open(r.cfg.Store.Path(id))
	if err != nil {
		return err
	}
	if got := reader.Manifest().ID; got != id {
		return errors.Join(fmt.Errorf("%w: folder %s holds release %s", release.ErrCorrupt, id, got), reader.Close())
	}
	h := &Held{Reader: reader, log: r.cfg.Log, Since: day.All(day.FromSources(reader.Manifest().Sources)).Oldest, loaded: time.Now()}
	h.served, h.retire = context.WithCancel(context.Background())
	h.serial.Store(r.opened.Add(1))
	reader.NotifyDamage(func(err *release.CorruptError) {
		h.serial.Store(r.opened.Add(1)) // voids the responses prepared from the release
		r.damages.Error("release is damaged", "release", id, "file", err.File, "offset", err.Off, "error", err.What)
	})
	h.Engine = query.Open(reader, r.cfg.Results)
	if err := h.Engine.Err(); err != nil {
		r.cfg.Log.Error("tables do not fit: queries that need them fail", "release", id, "error", err)
	}
	if names := absentTables(reader); len(names) > 0 {
		r.cfg.Log.Warn("an older program made the release: filters, orders and lists of absent tables and columns do nothing", "release", id, "absent", strings.Join(names, " "))
	}
	h.users.Store(1)
	if r.cfg.Warm > 0 {
		h.users.Add(1)
		go func() {
			defer h.Release()
			h.Engine.Warm(h.served, reader.Warm(h.served, r.cfg.Warm))
		}()
	}
	r.replace(h)
	return nil
}

// absentTables returns the tables of kinds and the columns, as KIND.COLUMN, that a release lacks. Every current build
// writes them. Tables of changes and account data are optional.
func absentTables(r *release.Reader) (names []string) {
	for _, kind := range tables.Kinds {
		t, ok := r.Table(kind.String())
		for _, c := range tables.Columns(kind) {
			if ok && !t.Has(c.Sections()...) {
				names = append(names, kind.String()+"."+c.Name)
			}
		}
		if !ok {
			names = append(names, kind.String())
		}
	}
	return names
}

// replace makes h the served release; nil for none.
func (r *Releases) replace(h *Held) {
	if old := r.current.Swap(h); old != nil {
		old.retire()
		old.Release()
	}
}

// Store returns the store of the releases; for a bucket, the cache.
func (r *Releases) Store() store.Folder { return r.cfg.Store }

// ID returns the id of the served release, "" for none.
func (r *Releases) ID() string {
	h := r.Acquire()
	defer h.Release()
	if h == nil {
		return ""
	}
	return h.Reader.Manifest().ID
}

// Err returns why the store's current release is not served.
func (r *Releases) Err() error {
	if f := r.failed.Load(); f != nil {
		return f.err
	}
	return nil
}

// Poll checks the store, and once per sizesEvery whether served files have become shorter. Callers poll because network
// file systems send no change notifications.
func (r *Releases) Poll() {
	r.follow()
	h := r.Acquire()
	defer h.Release()
	if h == nil {
		return
	}
	wait := max(sizesEvery, sizesPerFile*time.Duration(len(h.Reader.Manifest().Files())))
	if now := time.Now(); now.Sub(r.sizesCheckedAt) >= wait {
		r.sizesCheckedAt = now
		check.Sizes(h.Reader)
	}
}

// Reload checks the store now, and retries a release that could not be opened.
func (r *Releases) Reload() {
	r.failed.Store(nil)
	r.follow()
}

// follow opens the store's current release if it is not the served one.
// The served one stays if that fails.
func (r *Releases) follow() {
	r.following.Lock()
	defer r.following.Unlock()
	id, err := r.cfg.Wanted()
	if r.awaits(id, err) {
		r.failed.Store(nil)
		return
	}
	if err != nil {
		r.fail("", fmt.Errorf("read current release: %w", err))
		return
	}
	if id == r.ID() {
		// The mapped files stay readable without names, but a restart or another edge would not find them.
		if _, err := os.Stat(r.cfg.Store.Path(id)); err != nil {
			r.fail(id, fmt.Errorf("check the folder of the served release: %w", err))
		} else {
			r.failed.Store(nil)
		}
		return
	}
	if f := r.failed.Load(); f != nil && f.id == id && time.Since(f.when) < retryAfter {
		return
	}
	if err := r.open(id); err != nil {
		r.fail(id, err)
		return
	}
	r.failed.Store(nil)
	r.cfg.Log.Info("release switched", "release", id)
}

// awaits reports whether no release is served and the wanted one does not exist yet.
func (r *Releases) awaits(id string, err error) bool {
	if err == nil {
		_, err = os.Stat(r.cfg.Store.Path(id))
	}
	return r.cfg.Later && r.current.Load() == nil && (errors.Is(err, store.ErrNoRelease) || errors.Is(err, fs.ErrNotExist))
}

func (r *Releases) fail(id string, err error) {
	old := r.failed.Swap(&failure{id, err, time.Now()})
	if old == nil || old.err.Error() != err.Error() {
		r.cfg.Log.Error("current release cannot be used, the last good one stays in force", "release", id, "error", err)
	}
}

// Close closes the release after its last request.
func (r *Releases) Close() {
	r.replace(nil)
}
