package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"reelsplice/build"
	"reelsplice/data/sample"
	"reelsplice/ingest"
	"reelsplice/ingest/layout"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/release"
	"reelsplice/serve"
	"reelsplice/serve/auth"
	"reelsplice/serve/threads"
)

func (a *app) upCommand() *cobra.Command {
	u := up{app: a, cfg: serve.DefaultConfig()}
	c := &cobra.Command{
		Use:   "up",
		Short: "Serve the built-in sample, or the release that is there",
		Long: "up serves the release in --dir. When there is none yet, it makes one: of the catalogue in --dir, or\n" +
			"else of the sample that is built in, which is made anew by every up. It issues a token, and prints the address, the token and two\n" +
			"commands to try. The token of an earlier up is revoked.\n\n" +
			"--dir is the folder reelsplice in your cache folder when not given. When port 8080 is taken and --addr\n" +
			"is not given, a free port is used.",
		Example: "  reelsplice up\n  reelsplice up --addr 127.0.0.1:9000 --json",
	}
	f := c.Flags()
	f.StringVar(&u.dir, "dir", "", "`DIR` of catalogue, releases and tokens; a folder in your cache folder when not given")
	f.StringVar(&u.cfg.Releases, "releases", "", "`DIR` of the releases; the folder releases in --dir when not given")
	f.StringVar(&u.cfg.Tokens, "tokens", "", "`FILE` of the tokens; the file tokens.txt in --dir when not given")
	serveFlags(f, &u.cfg)
	return a.leaf(c, func(ctx context.Context, _ []string) error {
		u.anyPort = !f.Changed("addr")
		return u.run(ctx)
	})
}

// up is one run of the command.
type up struct {
	*app
	cfg     serve.Config
	dir     string
	anyPort bool // another port than the default one will do
}

func (u *up) run(ctx context.Context) error {
	if err := u.places(); err != nil {
		return err
	}
	if err := u.cfg.Validate(); err != nil {
		return usage(err)
	}
	if err := u.prepare(ctx); err != nil {
		return err
	}
	u.cfg.Log = u.serveLogger() // behind progress, which asks what stderr is
	u.cfg.LogLost = u.queue.Lost
	token, done, err := u.token()
	if err != nil {
		return err
	}
	defer done()
	var disk threads.Watch
	u.cfg.FromDisk = disk.FromDisk
	s, err := u.listen()
	if err != nil {
		return err
	}
	if err := u.announce(s, token); err != nil {
		return err
	}
	return u.runServer(ctx, s, &disk, u.cfg.Log)
}

// places fills in the folders and files that were not given.
func (u *up) places() error {
	if u.dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("find a folder to work in: %w: give --dir", err)
		}
		u.dir = filepath.Join(cache, "reelsplice")
	}
	if u.cfg.Releases == "" {
		u.cfg.Releases = filepath.Join(u.dir, "releases")
	}
	if u.cfg.Tokens == "" {
		u.cfg.Tokens = filepath.Join(u.dir, "tokens.txt")
	}
	if err := os.MkdirAll(u.dir, 0o700); err != nil {
		return fmt.Errorf("make the folder to work in: %w", err)
	}
	return nil
}

// lockRetry is how often a lock that another process holds is asked for.
const lockRetry = 50 * time.Millisecond

// sampleMark is the file, in the folder of up, that names the release that was made of
// the sample.
const sampleMark = ".sample"

// prepare makes a release unless one is published that is the user's own. One that was
// made of the sample is made anew, in a fraction of a second, because the sample, or
// what is built of it, may be another in this version. Of several processes, one does
// it and the others wait.
func (u *up) prepare(ctx context.Context) (err error) {
	l := flock.New(filepath.Join(u.dir, ".prepare.lock"))
	if _, err := l.TryLockContext(ctx, lockRetry); err != nil {
		return fmt.Errorf("lock %s: %w", l.Path(), err)
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	store := release.Store{Dir: u.cfg.Releases}
	mark := filepath.Join(u.dir, sampleMark)
	made, _ := os.ReadFile(mark) // unreadable is like none: then the release is the user's
	current, err := store.Current()
	if err == nil && current != string(made) {
		return nil
	}
	if err != nil && !errors.Is(err, release.ErrNoRelease) {
		return err
	}
	own := filepath.Join(u.dir, "catalog")
	if catalog.Exists(own) && len(made) == 0 {
		_, err := u.buildAndPublish(ctx, store, own)
		return err
	}
	id, err := u.publishSample(ctx, store)
	if err != nil {
		return err
	}
	return renameio.WriteFile(mark, []byte(id), 0o600)
}

func (u *up) buildAndPublish(ctx context.Context, store release.Store, dir string) (id string, err error) {
	cfg := build.DefaultConfig()
	cfg.Catalog, cfg.Releases = dir, u.cfg.Releases
	r, err := u.build(ctx, cfg)
	if err != nil {
		return "", err
	}
	_, err = store.Publish(r.Release)
	return r.Release, err
}

// publishSample makes a release of the sample, through a catalogue that is gone again
// afterwards.
func (u *up) publishSample(ctx context.Context, store release.Store) (id string, err error) {
	tmp, err := os.MkdirTemp("", "reelsplice-sample-")
	if err != nil {
		return "", fmt.Errorf("unpack sample: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	dumps, made := filepath.Join(tmp, "dumps"), filepath.Join(tmp, "catalog")
	if err := os.CopyFS(dumps, sample.FS()); err != nil {
		return "", fmt.Errorf("unpack sample: %w", err)
	}
	r, err := u.ingest(ctx, ingest.Config{
		Catalog: made, Layout: layout.Auto, Sources: []string{dumps},
		Log: slog.New(slog.DiscardHandler), // what the sample is made of is no news
	})
	if err != nil {
		return "", err
	}
	if err := u.quarantined(&r, 0, false); err != nil {
		return "", err
	}
	return u.buildAndPublish(ctx, store, made)
}

// token issues the token of this run and revokes that of an earlier one. Tokens are
// kept as hashes, so the old one could not be shown again. A run beside this one has
// a token with another name; done gives the name back.
func (u *up) token() (token string, done func(), err error) {
	name, l, err := u.ownName()
	if err != nil {
		return "", nil, err
	}
	done = func() { _ = l.Unlock() } // the process ends, and the lock with it
	if _, err := os.Stat(u.cfg.Tokens); err == nil {
		if _, err := auth.Revoke(u.cfg.Tokens, name, time.Now()); err != nil && !noToken(err) {
			return "", nil, err
		}
	}
	token, err = auth.Issue(u.cfg.Tokens, name, time.Time{}, auth.ScopeRead, time.Now(), rand.Reader)
	return token, done, err
}

func noToken(err error) bool {
	return errors.Is(err, auth.ErrNoToken) || errors.Is(err, auth.ErrIsRevoked)
}

// ownName returns the first of up, up-2, up-3 ... that no other process uses.
func (u *up) ownName() (string, *flock.Flock, error) {
	for n := 1; ; n++ {
		name := "up"
		if n > 1 {
			name = fmt.Sprintf("up-%d", n)
		}
		l := flock.New(filepath.Join(u.dir, "."+name+".lock"))
		ok, err := l.TryLock()
		if err != nil {
			return "", nil, fmt.Errorf("lock %s: %w", l.Path(), err)
		}
		if ok {
			return name, l, nil
		}
	}
}

// listen opens the server, on a free port when the default one is taken.
func (u *up) listen() (*serve.Server, error) {
	s, err := listen(u.cfg)
	var op *net.OpError
	if u.anyPort && errors.As(err, &op) && op.Op == "listen" {
		u.cfg.Addr = "127.0.0.1:0"
		return listen(u.cfg)
	}
	return s, err
}

func (u *up) announce(s *serve.Server, token string) error {
	v := struct {
		URL     string `json:"url"`
		Token   string `json:"token"`
		Release string `json:"release"`
	}{s.URL(), token, s.Release()}
	return u.print(v, func(w io.Writer) {
		fmt.Fprintf(w, "address  %s\ntoken    %s\n\n", v.URL, v.Token)
		for _, path := range []string{"/3/movie/550?append_to_response=credits,images,videos", "/3/tv/1399?append_to_response=season/1,aggregate_credits"} {
			fmt.Fprintf(w, "curl --compressed -H 'Authorization: Bearer %s' '%s%s'\n", v.Token, v.URL, path)
		}
	})
}
