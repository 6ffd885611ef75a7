package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reelsplice/reelsplice/schemas/object/s3"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve"
	"github.com/reelsplice/reelsplice/serve/auth"
)

// Default values of flags. Commands that run in the same folder find each other's files.
const (
	defaultCatalog   = "catalog"
	defaultReleases  = "releases"
	defaultTokens    = "tokens.txt"
	defaultAddr      = "127.0.0.1:8080"
	exampleAdminAddr = "127.0.0.1:8079" // in examples; there is no admin listener without the flag
)

func serveCommand(a *app) *cobra.Command {
	cfg := serve.DefaultConfig()
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the API from the current release",
		Long: "serve serves the API from the current release. It loads published releases, changed tokens and new certificates\n" +
			"without a restart, and at once on SIGHUP, which also reopens the access log.\n\n" +
			"SIGINT and SIGTERM stop the edge: /readyz turns to 503 at once, the edge accepts requests for --shutdown-delay,\n" +
			"then running requests must finish within --drain-timeout. A second signal ends it at once.\n\n" +
			"Releases in a bucket are pulled into --cache-dir, checked, and served from there; problems with the bucket never\n" +
			"affect the served release. With an empty cache, the edge responds with 503 until it has a release.\n\n" +
			"At a terminal, the edge prints its address, its page, the release and the token file; --log-level debug logs\n" +
			"more about the start. With --json, it prints its address as one line of JSON once it accepts requests.\n\n" +
			"Under systemd, the edge reports when it is ready, reloads and stops (Type=notify-reload), and takes listeners of\n" +
			"a socket unit instead of --addr and, if named admin, instead of --admin-addr.",
		Example: "  reelsplice serve --addr :8080 --admin-addr " + exampleAdminAddr + "\n" +
			"  reelsplice serve --releases s3://bucket/releases --cache-dir cache --cache-size 100GiB",
	}
	f := c.Flags()
	installationFlags(c, &cfg)
	return a.leaf(c, func(ctx context.Context, _ []string) error {
		if err := openReleases(ctx, &cfg); err != nil {
			return err
		}
		if err := usage(cfg.Validate()); err != nil {
			return err
		}
		if err := a.firstToken(&cfg); err != nil {
			return err
		}
		if !f.Changed("shutdown-delay") && !a.terminal { // an edge on a terminal has no load balancer
			cfg.ShutdownDelay = 5 * time.Second
		}
		api, admin, err := passedListeners()
		if err != nil {
			return err
		}
		if api != nil {
			if cfg.Bound, err = serve.Bind(&cfg, api, admin); err != nil {
				return err
			}
			defer cfg.Bound.Close()
		}
		return a.serve(ctx, &cfg, func(s *serve.Server) error {
			v := struct {
				URL      string `json:"url"`
				AdminURL string `json:"admin_url,omitempty"`
				Release  string `json:"release"`
			}{s.URL(), s.AdminURL(), s.Release()}
			if !a.json && (!a.terminal || a.quiet) { // they are in the log
				return nil
			}
			return a.print(v, func(w io.Writer) {
				fmt.Fprintf(w, "address  %s\n", v.URL)
				if cfg.Page {
					fmt.Fprintf(w, "page     %s/\n", localURL(v.URL))
				}
				if v.AdminURL != "" {
					fmt.Fprintf(w, "admin    %s\n", v.AdminURL)
				}
				status, _ := s.Status()
				fmt.Fprintf(w, "release  %s\ntokens   %s\n", cmp.Or(v.Release, status), cfg.Tokens)
			})
		})
	})
}

// firstToken creates a missing token file at a terminal and prints its token. Elsewhere it returns an error that names
// the command to run. Without a release it does nothing: serve reports that first.
func (a *app) firstToken(cfg *serve.Config) error {
	path := cfg.Tokens
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := store.Current(context.Background(), store.Folder{Dir: cfg.Releases}); errors.Is(err, store.ErrNoRelease) && cfg.Pull.Bucket == nil {
		return nil
	}
	if !a.terminal {
		return fmt.Errorf("no token file %s: create it with %s", path, a.commandLine("token issue", pathFlags{"tokens": path}, "--name", "me"))
	}
	token, err := auth.Issue(path, auth.Record{Name: "me", Created: time.Now(), Scopes: auth.AllScopes})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "created %s with a first token, shown only once:\n%s\n", path, token)
	return nil
}

// installationFlags adds the flags of an edge: where its releases and tokens are, and how it serves them.
func installationFlags(c *cobra.Command, cfg *serve.Config) {
	f := c.Flags()
	f.StringVar(&cfg.Releases, "releases", defaultReleases, "`DIR` of the releases, or their s3:// or gs:// URL")
	tokensFlag(c, &cfg.Tokens)
	serveFlags(f, cfg)
	p := &cfg.Pull
	f.StringVar(&p.Follow, "follow", p.Follow, "pointer to follow: current, or canary, which falls back to current")
	f.StringVar(&p.Pin, "pin", "", "serve the release `ID` and ignore the pointers")
	f.StringVar(&p.Dir, "cache-dir", "", "`DIR` for releases of a bucket; each edge needs its own")
	f.Var(bytesFlag[int64]{&p.Size}, "cache-size", "size limit of --cache-dir; above it, releases no longer served are removed, and pulls fail")
	f.Var(bytesFlag[int64]{&p.Rate}, "pull-rate", "bytes pulled from a bucket each second; 0 for no limit")
}

// openReleases opens the bucket of releases if cfg has its URL.
func openReleases(ctx context.Context, cfg *serve.Config) error {
	dir, local, err := localFolder(cfg.Releases)
	if err != nil {
		return err
	}
	if local {
		cfg.Releases = dir
		return nil
	}
	cfg.Pull.Bucket, err = s3.OpenFolder(ctx, cfg.Releases)
	return err
}

// serveFlags adds the flags that serve and up share.
func serveFlags(f *pflag.FlagSet, cfg *serve.Config) {
	f.StringVar(&cfg.Addr, "addr", defaultAddr, "host:port of the API")
	f.StringVar(&cfg.AdminAddr, "admin-addr", "", "host:port of health, metrics and profiles; off by default")
	f.StringVar(&cfg.TLSCert, "tls-cert", "", "PEM `FILE` of the certificate, with --tls-key")
	f.StringVar(&cfg.TLSKey, "tls-key", "", "PEM `FILE` of the key")
	f.StringVar(&cfg.ImageBaseURL, "image-base-url", cfg.ImageBaseURL, "`URL` of images in the configuration response")
	f.StringVar(&cfg.CallbackURL, "callback-url", cfg.CallbackURL, "`URL` where users approve request tokens")
	f.StringVar(&cfg.SigningKey, "signing-key", "", "`FILE` with the key of request tokens; by default a new one for each run")
	f.BoolVar(&cfg.AllowQueryKey, "allow-query-key", cfg.AllowQueryKey, "accept a token as api_key in the query too; a bearer token takes precedence")
	f.StringVar(&cfg.Cache, "cache", cfg.Cache, "caches that may store responses: public, private, or revalidate for caches that revalidate each time")
	f.DurationVar(&cfg.MaxAge, "max-age", cfg.MaxAge, "how long caches may store a response")
	f.BoolVar(&cfg.Page, "page", cfg.Page, "serve the web page at / and below /page/")
	f.IntVar(&cfg.MaxConns, "max-conns", cfg.MaxConns, "limit of connections, lowered to fit the limit of open files; at the limit, a new connection replaces an idle one")
	f.IntVar(&cfg.MaxConnsPerIP, "max-conns-per-ip", 0, "maximum number of connections per IPv4 address or IPv6 /64; 0 for no limit")
	f.Var(durationFlag{&cfg.IdleTimeout, false}, "idle-timeout", "how long a connection may be idle between requests")
	f.DurationVar(&cfg.ShutdownDelay, "shutdown-delay", 0, "how long a stopping edge accepts requests, with /readyz at 503; 5s by default without a terminal")
	f.Var(durationFlag{&cfg.DrainTimeout, false}, "drain-timeout", "how long running requests may take when the edge stops")
	f.StringVar(&cfg.Date, "date", "", "day that now_playing, upcoming, airing_today and on_the_air count from, YYYY-MM-DD; today by default")
	f.Var(bytesFlag[int]{&cfg.MaxInflight}, "max-inflight-bytes", "memory limit for responses in progress; above it, requests get 503")
	f.Var(durationFlag{&cfg.MaxDataAge, true}, "max-data-age", "age of the oldest record, in days such as 180d, above which the edge warns in its log and on /readyz; it continues to serve")
	f.StringVar(&cfg.AccessLog.Path, "access-log", "", "`FILE` with a line of JSON for each response, - for stdout; off by default")
	f.StringVar(&cfg.Missing, "missing", "", "append ids that clients request but the release lacks to `FILE`, for crawl --ids; off by default")
}

// serve opens the release, the tokens and the ports, calls announce, and serves until ctx ends.
func (a *app) serve(ctx context.Context, cfg *serve.Config, announce func(*serve.Server) error) error {
	log := a.serveLogger() // after any progress: it replaces Stderr, which progress needs as a terminal
	cfg.Log, cfg.LogLost, cfg.AccessLog.Stdout = log, a.queue.Lost, a.Stdout
	s, err := serve.Listen(*cfg)
	switch {
	case errors.Is(err, store.ErrNoRelease):
		err = fmt.Errorf("%w: run reelsplice build --publish first", err)
	case errors.Is(err, release.ErrVersion):
		err = fmt.Errorf("%w: run reelsplice build --publish first, which keeps this release for rollback", err)
	}
	if err == nil {
		err = announce(s)
	}
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if a.terminal { // announce has printed it
		level = slog.LevelDebug
	}
	log.Log(ctx, level, "serving", "url", s.URL(), "admin", s.AdminURL(), "release", s.Release())
	// Handle SIGHUP until the drain ends: its default action ends the process.
	watched, stop := context.WithCancel(context.WithoutCancel(ctx))
	n := newNotifier(s, log)
	if !a.terminal { // SIGHUP from a terminal ends the edge
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		go func() {
			defer signal.Stop(hangups)
			for {
				select {
				case <-watched.Done():
					return
				case <-hangups:
					n.reload(s.Reload)
				}
			}
		}()
	}
	var notifying sync.WaitGroup
	notifying.Go(func() { n.run(watched, ctx) })
	err = s.Run(ctx)
	stop()
	notifying.Wait() // the last report may still be running
	if err == nil {
		log.Info("stopped")
	}
	return err
}

func healthCommand(a *app) *cobra.Command {
	cfg, timeout := serve.DefaultConfig(), 5*time.Second
	c := &cobra.Command{
		Use:   "health --admin-addr HOST:PORT",
		Short: "Exit with 0 if an edge is ready",
		Long: "health requests /readyz of an edge's admin listener, prints the response, and exits with 0 if the edge is ready.\n" +
			"--admin-addr comes from the same sources as in serve: the environment and the [serve] table of the config file.",
		Example:     "  reelsplice health --admin-addr " + exampleAdminAddr,
		Annotations: map[string]string{settingsOf: "serve"},
	}
	c.Flags().StringVar(&cfg.AdminAddr, "admin-addr", "", "host:port of the edge's admin listener")
	c.Flags().DurationVar(&timeout, "timeout", timeout, "time for the edge's response")
	required(c, "admin-addr")
	return a.leaf(c, func(ctx context.Context, _ []string) error {
		if err := usage(serve.CheckAdminAddr(cfg.AdminAddr)); err != nil {
			return err
		}
		if timeout <= 0 {
			return usage(fmt.Errorf("timeout: want more than 0, found %s", timeout))
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		status, body, err := serve.AskAdmin(ctx, cfg.AdminAddr, "/readyz")
		if err != nil {
			return err
		}
		if status != http.StatusOK && status != http.StatusServiceUnavailable {
			return fmt.Errorf("request to %s: status %d: %[1]s is not an admin listener: want the address of --admin-addr", cfg.AdminAddr, status)
		}
		v := struct {
			Ready bool   `json:"ready"`
			Text  string `json:"text"`
		}{status == http.StatusOK, strings.TrimSpace(string(body))}
		if err := a.print(v, func(w io.Writer) { fmt.Fprintln(w, v.Text) }); err != nil {
			return err
		}
		if !v.Ready {
			return errors.New("the edge is not ready: " + v.Text)
		}
		return nil
	})
}
