package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/text"
	"github.com/reelsplice/reelsplice/serve"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/localca"
)

func upCommand(a *app) *cobra.Command {
	u := up{app: a, cfg: serve.DefaultConfig()}
	u.cfg.Cache = edge.CacheRevalidate // clients must see the data of the next up at once
	c := &cobra.Command{
		Use:   "up [SRC...]",
		Short: "Serve your own files, or the built-in sample, with one command",
		Long: "up ingests files or folders, as ingest does, builds a release, makes a token, and serves. Run the same command\n" +
			"again to include changes. Without SRC, it serves the release in --dir. If there is none, it builds one from the\n" +
			"catalogue in --dir, or else from the built-in sample, which each run builds again.\n\n" +
			"It prints the address, a token, a link to the web page, the folder of its data and two commands to try. The\n" +
			"token stays the same until it is revoked: the file token in --dir stores it, readable only by you. The sample's\n" +
			"lists that depend on the day, such as now_playing, count from " + sample.Date + " unless --date names another day.\n\n" +
			"--dir is a folder in your cache folder by default: reelsplice for the sample, with a subfolder for each set of SRC.",
		Example: "  reelsplice up\n  reelsplice up films.csv\n  reelsplice up --mapping films.toml films.csv people.csv\n" +
			"  reelsplice up --addr 127.0.0.1:9000 --json",
		Args: argCount(0, -1),
	}
	f := c.Flags()
	f.StringVar(&u.dir, "dir", "", "`DIR` of catalogue, releases and tokens; by default a folder in your cache folder")
	f.StringVar(&u.cfg.Releases, "releases", "", "`DIR` of the releases; by default the folder releases in --dir")
	f.StringVar(&u.cfg.Tokens, "tokens", "", "`FILE` of the tokens; by default the file tokens.txt in --dir")
	for _, flag := range []string{"releases", "tokens"} {
		f.Lookup(flag).Annotations = map[string][]string{ownTable: {}}
	}
	meaningFlags(f, &u.dumps)
	fallbackFlag(f, &u.fallback)
	serveFlags(f, &u.cfg)
	check := func() error {
		_, err := render.ParseFallback(u.fallback)
		return errors.Join(checkMeaning(&u.dumps), err)
	}
	return a.checked(c, check, func(ctx context.Context, args []string) error {
		u.dumps.Sources, u.dumps.Parameters, u.anyDate = args, changedFlags(f), !f.Changed("date")
		return u.run(ctx)
	})
}

// up is one run of the command.
type up struct {
	*app
	dumps    ingest.Config // without Sources, up serves a release, a catalogue or the sample
	cfg      serve.Config
	dir      string
	fallback string // languages, as for build
	anyDate  bool   // no --date: lists of the sample count from the sample's day
}

func (u *up) run(ctx context.Context) (err error) {
	u.clearProgress = true // only the address and the token stay on the screen
	if u.dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("find a folder to work in: %w: give --dir", err)
		}
		u.dir = filepath.Join(cache, "reelsplice", folderOfSources(u.dumps.Sources))
	}
	u.cfg.Releases = cmp.Or(u.cfg.Releases, filepath.Join(u.dir, "releases"))
	u.cfg.Tokens = cmp.Or(u.cfg.Tokens, filepath.Join(u.dir, "tokens.txt"))
	if err := os.MkdirAll(u.dir, 0o700); err != nil {
		return fmt.Errorf("make the folder to work in: %w", err)
	}
	if err := u.cfg.Validate(); err != nil {
		return usage(err)
	}
	l := flock.New(filepath.Join(u.dir, ".up.lock"))
	switch locked, err := l.TryLock(); {
	case err != nil:
		return fmt.Errorf("lock %s: %w", l.Path(), err)
	case !locked:
		return fmt.Errorf("another up serves the data in %s: stop it, or give another --dir", u.dir)
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	// Bind before the build, so that a port in use fails at once.
	if u.cfg.Bound, err = serve.Bind(&u.cfg, nil, nil); err != nil {
		return err
	}
	defer u.cfg.Bound.Close()
	sampleRelease, err := u.release(ctx)
	if err != nil {
		return err
	}
	if sampleRelease != "" && u.anyDate {
		u.cfg.Date, u.cfg.DateRelease = sample.Date, sampleRelease
	}
	token, err := u.token()
	if err != nil {
		return err
	}
	return u.serve(ctx, &u.cfg, func(s *serve.Server) error {
		v := struct {
			URL     string `json:"url"`
			Token   string `json:"token"`
			Release string `json:"release"`
			Page    string `json:"page,omitempty"` // with the token, which a browser cannot send as a header for a typed address
		}{localURL(s.URL()), token, s.Release(), ""}
		if u.cfg.Page {
			v.Page = v.URL + "/#token=" + token
		}
		return u.print(v, func(w io.Writer) {
			fmt.Fprintf(w, "address  %s\ntoken    %s\n", v.URL, v.Token)
			if v.Page != "" {
				fmt.Fprintf(w, "page     %s\n", v.Page)
			}
			fmt.Fprintf(w, "data     %s\n", u.dir)
			if m, err := release.ReadManifest(store.Folder{Dir: u.cfg.Releases}.Path(v.Release)); err == nil && m.Params[release.ParamFallback] != "" {
				fmt.Fprintf(w, "fallback %s for texts that a language lacks\n", m.Params[release.ParamFallback])
			}
			fmt.Fprintln(w)
			paths := []string{"/3/movie/550?append_to_response=credits,images,videos", "/3/tv/1399?append_to_response=season/1,aggregate_credits"}
			if sampleRelease == "" {
				paths = []string{"/3/discover/movie", "/3/search/multi?query=the"}
			}
			for _, path := range paths {
				fmt.Fprintf(w, "curl --compressed -H 'Authorization: Bearer %s' '%s%s'\n", v.Token, v.URL, path)
			}
		})
	})
}

// folderOfSources returns the folder name for data of a set of sources; "" for none.
func folderOfSources(sources []string) string {
	if len(sources) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, src := range sources {
		if !object.IsURL(src) {
			if abs, err := filepath.Abs(src); err == nil {
				src = abs
			}
		}
		fmt.Fprintf(sum, "%s\n", src)
	}
	return fmt.Sprintf("up-%x", sum.Sum(nil)[:6])
}

// sampleMark is the file in up's folder that holds the id of the sample's release.
const sampleMark = ".sample"

// release builds a release of the sources. Without sources, it builds a release of the sample unless the user has
// published another one. It always rebuilds the sample, which takes a fraction of a second, because this version may
// have another sample or format. sampleRelease is the ID of a release of the sample, "" for the user's.
func (u *up) release(ctx context.Context) (sampleRelease string, err error) {
	folder := store.Folder{Dir: u.cfg.Releases}
	if len(u.dumps.Sources) > 0 {
		return "", u.publishSources(ctx, folder)
	}
	mark := filepath.Join(u.dir, sampleMark)
	earlier, _ := os.ReadFile(mark) // if it is unreadable, the release counts as the user's
	current, err := store.Current(ctx, folder)
	if err == nil && current != string(earlier) {
		return "", nil
	}
	if err != nil && !errors.Is(err, store.ErrNoRelease) {
		return "", err
	}
	if dir := filepath.Join(u.dir, "catalog"); catalog.Exists(dir) && len(earlier) == 0 {
		_, err := u.buildAndPublish(ctx, folder, dir, "")
		return "", err
	}
	tmp, err := os.MkdirTemp("", "reelsplice-sample-")
	if err != nil {
		return "", fmt.Errorf("unpack sample: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	dumps, dir := filepath.Join(tmp, "dumps"), filepath.Join(tmp, "catalog")
	if err := os.CopyFS(dumps, sample.FS()); err != nil {
		return "", fmt.Errorf("unpack sample: %w", err)
	}
	r, err := u.ingest(ctx, ingest.Config{
		Catalog: dir, Layout: layout.Auto, Sources: []string{dumps},
		Log: slog.New(slog.DiscardHandler), // users cannot act on warnings about the sample
	})
	if err != nil {
		return "", err
	}
	if err := u.checkBadRows(&r, 0, false); err != nil {
		return "", err
	}
	id, err := u.buildAndPublish(ctx, folder, dir, "")
	if err != nil {
		return "", err
	}
	return id, file.WriteFile(mark, []byte(id), 0o600)
}

func (u *up) buildAndPublish(ctx context.Context, folder store.Folder, dir, previous string) (id string, err error) {
	cfg := build.DefaultConfig()
	cfg.Catalog, cfg.Releases, cfg.Previous, cfg.Fallback = dir, u.cfg.Releases, previous, u.fallback
	r, err := u.build(ctx, cfg)
	if err != nil {
		return "", err
	}
	_, err = store.Publish(ctx, folder, r.Release)
	return r.Release, err
}

// publishSources builds and publishes a release from a new catalogue, so that rows removed from the sources disappear.
// It prints bad rows and uses the others.
func (u *up) publishSources(ctx context.Context, folder store.Folder) error {
	u.dumps.Catalog = filepath.Join(u.dir, ".catalog")
	if err := os.RemoveAll(u.dumps.Catalog); err != nil {
		return fmt.Errorf("remove the old catalogue: %w", err)
	}
	u.dumps.Drafted = u.printDraft
	log := *u.app
	log.quiet = log.quiet || log.logLevel == slog.LevelInfo // the report names each file
	u.dumps.Log = log.logger()
	r, err := u.ingest(ctx, u.dumps)
	if !u.quiet || r.Stopped {
		writeFits(u.Stderr, r.Columns)
	}
	if err != nil {
		return err
	}
	u.printBad(&r)
	if r.Kept == 0 {
		return errors.New(summaryOf(&r))
	}
	if !u.quiet {
		fmt.Fprintln(u.Stderr, summaryOf(&r))
	}
	previous, err := u.previousRelease(ctx, folder, "current")
	if err != nil {
		return err
	}
	_, err = u.buildAndPublish(ctx, folder, u.dumps.Catalog, previous)
	return err
}

// printDraft prints the mapping that was drafted for a table.
func (u *up) printDraft(d ingest.Drafted) {
	fmt.Fprintf(u.Stderr, "%s: read with a drafted mapping, %s: check it, or write your own\n", d.File, d.Mapping)
	if d.Err != nil {
		fmt.Fprintf(u.Stderr, "  the mapping could not be written: %v\n", d.Err)
	}
	var unused []string
	for _, c := range d.Columns {
		if c.Field == "" {
			unused = append(unused, text.Line(c.Name))
			continue
		}
		fmt.Fprintf(u.Stderr, "  %s: %s", text.Line(c.Name), c.Field)
		if c.Note != "" {
			fmt.Fprintf(u.Stderr, " (%s)", text.Line(c.Note))
		}
		fmt.Fprintln(u.Stderr)
	}
	if unused != nil {
		fmt.Fprintf(u.Stderr, "  not used: %s\n", strings.Join(unused, ", "))
	}
}

// tokenName is the name of up's token.
const tokenName = "up"

// token returns the token stored in up's folder, or issues and stores one. The token file itself holds hashes.
func (u *up) token() (token string, err error) {
	path, now := filepath.Join(u.dir, "token"), time.Now()
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the token of an earlier up: %w", err)
	}
	records, err := auth.List(u.cfg.Tokens)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	token = strings.TrimSpace(string(data))
	refusal := auth.NewTable(records).Check(auth.KindToken, []byte(token), now.Unix()).Reason
	if refusal == auth.None {
		return token, nil
	}
	if slices.ContainsFunc(records, func(r auth.Record) bool { return r.Name == tokenName && r.Revoked.IsZero() }) { // the file with its token was lost
		if _, err := auth.Revoke(u.cfg.Tokens, tokenName, now); err != nil {
			return "", err
		}
	}
	r := auth.Record{Name: tokenName, Created: now, Scopes: auth.AllScopes}
	if refusal == auth.Unknown && len(token) == auth.TokenLen { // the token file was replaced
		r.Hash = auth.HashToken([]byte(token))
		return token, auth.Add(u.cfg.Tokens, r)
	}
	if token, err = auth.Issue(u.cfg.Tokens, r); err != nil {
		return "", err
	}
	return token, file.WriteFile(path, []byte(token+"\n"), 0o600)
}

// localURL returns the URL of a server for a client on this machine, also if the server listens on all addresses.
func localURL(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsUnspecified() {
		u.Host = net.JoinHostPort("127.0.0.1", u.Port())
	}
	return u.String()
}

func certCommand(a *app) *cobra.Command {
	var dir string
	var names []string
	days := 397
	c := &cobra.Command{
		Use:   "cert --out DIR",
		Short: "Make a certificate for clients with a built-in API host",
		Long: "cert makes a certificate authority and a certificate that it signs, for clients that reach this edge through a\n" +
			"DNS override. Clients must trust ca.pem. The authority can sign only for the given names or, if one is\n" +
			"a host of the API, for all hosts of the API, so its key is useless for other hosts.\n\n" +
			"The next run renews the certificate with the same authority, and adds new names; a running edge loads it.",
		Example: "  reelsplice cert --out certs --name api.themoviedb.org --name image.tmdb.org\n" +
			"  reelsplice serve --addr :443 --tls-cert certs/cert.pem --tls-key certs/key.pem",
	}
	c.Flags().StringVar(&dir, "out", "", "`DIR` of the files")
	c.Flags().StringSliceVar(&names, "name", nil, "host name or address; repeatable (default api.themoviedb.org, for the first certificate)")
	c.Flags().IntVar(&days, "days", days, "how long the certificate is valid")
	required(c, "out")
	return a.checked(c, func() error { return localca.Check(names, days) }, func(context.Context, []string) error {
		r, err := localca.Make(dir, names, days, time.Now())
		if err != nil {
			return err
		}
		return a.print(r, func(w io.Writer) {
			authority := "authority, the same as before"
			if r.NewCA {
				authority = "authority, which clients must trust"
			}
			fmt.Fprintf(w, "%s\t%s\n", filepath.Join(dir, localca.CAFile), authority)
			fmt.Fprintf(w, "%s\tcertificate of %s, until %s\n", filepath.Join(dir, localca.LeafFile), strings.Join(r.Names, ", "), r.Expires.Format(time.DateOnly))
			fmt.Fprintf(w, "%s\tits key\n", filepath.Join(dir, localca.LeafKey))
		})
	})
}
