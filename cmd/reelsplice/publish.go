package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/s3"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

func storeFlag(c *cobra.Command, releases *string) {
	c.Flags().StringVar(releases, "releases", defaultReleases, "`DIR` of the releases, or their bucket's URL")
}

// A releaseSet is the releases of a folder or a bucket, for a command.
type releaseSet struct {
	store.Store
	app     *app
	scratch string // folder for copies of a bucket's releases
}

// atStore calls do with the releases in a folder, or in the bucket of a URL.
func (a *app) atStore(ctx context.Context, releases string, do func(releaseSet) error) (err error) {
	dir, local, err := localFolder(releases)
	if err != nil {
		return err
	}
	if local {
		return do(a.folder(dir))
	}
	f, err := s3.OpenFolder(ctx, releases)
	if err != nil {
		return err
	}
	s := releaseSet{Store: store.Bucket{Folder: f}, app: a}
	if s.scratch, err = os.MkdirTemp("", "reelsplice-release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.scratch)) }()
	return do(s)
}

// folder returns the releases of a folder.
func (a *app) folder(dir string) releaseSet { return releaseSet{Store: store.Folder{Dir: dir}, app: a} }

// localFolder returns the folder of a path or a URL, and false for a bucket.
func localFolder(name string) (dir string, local bool, err error) {
	if !object.IsURL(name) {
		return name, true, nil
	}
	l, err := object.Parse(name)
	if err != nil {
		return "", false, usage(err)
	}
	dir, local = l.Path()
	return dir, local, nil
}

// folderOf returns the folder of a flag's path or file: URL. A bucket is an error with a hint.
func folderOf(flag, name, hint string) (string, error) {
	dir, local, err := localFolder(name)
	if err == nil && !local {
		err = usage(fmt.Errorf("%s %q: want a folder: %s", flag, object.WithoutSecrets(name), hint))
	}
	return dir, err
}

func catalogFolder(name string) (string, error) {
	return folderOf("catalog", name, "buckets hold dumps, which ingest reads, and releases, which publish uploads")
}

func workFolder(name string) (string, error) {
	return folderOf("work", name, "one that all machines of the build share")
}

func releasesFolder(name string) (string, error) {
	return folderOf("releases", name, fmt.Sprintf("build there, then run publish --releases %s --from DIR", object.WithoutSecrets(name)))
}

// local returns the local folder of a release, after copying a bucket's release once. The error matches fs.ErrNotExist
// if the release does not exist.
func (s releaseSet) local(ctx context.Context, id string) (dir string, err error) {
	if folder, ok := s.Store.(store.Folder); ok {
		dir = folder.Path(id)
		if _, err = os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("release %s is not in %s: %w", id, s, err)
		}
		return dir, err
	}
	dir = filepath.Join(s.scratch, id)
	if err := os.Mkdir(dir, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) { // a copy exists already
			return dir, nil
		}
		return "", err
	}
	p := s.app.progress("download", true)
	defer p.stop()
	return dir, s.Store.(store.Bucket).Copy(ctx, id, dir, p.update)
}

func publishCommand(a *app) *cobra.Command {
	var releases, from string
	var canary bool
	var g publishGate
	c := &cobra.Command{
		Use:   "publish [ID]",
		Short: "Make a release current",
		Long: "publish makes a release current: the newest one, or ID. Servers switch to it at once.\n\n" +
			"It refuses a release that has much less data than the current one (see --max-drop), that fails an expectation of\n" +
			"--expect, or that has the responses of a release that was rolled back. --force publishes it anyway.\n\n" +
			"With --canary it becomes the canary instead, which servers with --follow canary serve.\n\n" +
			"--from first uploads a release of a local folder, the newest one or ID, to the bucket, except files that\n" +
			"are already there. If the folder also has the bucket's current release, publish uploads deltas too, and edges\n" +
			"with the current release pull only these.",
		Example: "  reelsplice publish\n" +
			"  reelsplice publish --releases s3://bucket/releases --from releases --canary",
		Args: argCount(0, 1),
	}
	storeFlag(c, &releases)
	c.Flags().BoolVar(&canary, "canary", false, "make it the canary instead of the current release")
	c.Flags().StringVar(&from, "from", "", "`DIR` of the releases to upload from")
	g.add(c.Flags())
	return a.checked(c, g.read, func(ctx context.Context, args []string) error {
		return a.atStore(ctx, releases, func(to releaseSet) error {
			source := to
			if from != "" {
				if _, ok := to.Store.(store.Bucket); !ok {
					return usage(fmt.Errorf("from %q: want --releases to be the URL of a bucket, not a folder", from))
				}
				dir, isLocal, err := localFolder(from)
				if err == nil && !isLocal {
					err = usage(fmt.Errorf("from %q: want a folder of this machine", object.WithoutSecrets(from)))
				}
				if err != nil {
					return err
				}
				source = a.folder(dir)
			}
			id, err := source.resolveID(ctx, append(args, newest)[0])
			if err != nil {
				return err
			}
			v, previous, err := to.admit(ctx, &g, source, id, canary)
			if err != nil {
				return err
			}
			report := struct {
				Release   string `json:"release"`
				Previous  string `json:"previous"`
				Canary    bool   `json:"canary,omitempty"`
				Published bool   `json:"published"`
				*verdict
			}{id, previous, canary, v.passes(), &v}
			err = a.print(report, func(w io.Writer) {
				v.write(w)
				switch {
				case v.passes() && canary:
					fmt.Fprintf(w, "%s is the canary\n", id)
				case v.passes():
					fmt.Fprintf(w, "%s is current\n", id)
				}
			})
			return errors.Join(err, v.refusal(id, to.String()))
		})
	})
}

// admit makes release id of from the current release or the canary of s, unless the gate refuses it. If from is another
// store, it uploads the release first.
func (s releaseSet) admit(ctx context.Context, g *publishGate, from releaseSet, id string, canary bool) (v verdict, previous string, err error) {
	if v, err = s.examine(ctx, g, from, id); err != nil || !v.passes() {
		return v, "", err
	}
	if bucket, ok := s.Store.(store.Bucket); ok && s.String() != from.String() {
		if err := s.upload(ctx, bucket, from, id); err != nil {
			return v, "", err
		}
	}
	if v.Forced {
		if err := s.RecordForced(ctx, id, &v); err != nil {
			return v, "", err
		}
	}
	set := store.Publish
	if canary {
		set = store.SetCanary
	}
	previous, err = set(ctx, s, id)
	return v, previous, err
}

// upload copies a release of a local folder into the bucket. If the folder also has the bucket's current or canary
// release, which edges have, it uploads deltas from it.
func (s releaseSet) upload(ctx context.Context, bucket store.Bucket, from releaseSet, id string) error {
	r, err := from.open(ctx, id) // refuses a broken release
	if err != nil {
		return err
	}
	if err := r.Close(); err != nil {
		return err
	}
	p := s.app.progress("upload", true)
	defer p.stop()
	local := from.Store.(store.Folder)
	if _, err := bucket.Push(ctx, local.Path(id), p.update); err != nil {
		return err
	}
	for _, pointer := range []func(context.Context, store.Store) (string, error){store.Current, store.Canary} {
		earlier, err := pointer(ctx, s)
		if errors.Is(err, store.ErrNoRelease) || errors.Is(err, release.ErrCorrupt) || earlier == id {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := os.Stat(local.Path(earlier)); err != nil {
			continue // edges then pull whole files
		}
		_, err = bucket.PushDeltas(ctx, local, id, earlier)
		if err != nil && !errors.Is(err, release.ErrCorrupt) { // only the earlier release can be damaged: the later one was opened
			return err
		}
	}
	return nil
}

// newest is the name of the most recently built release that can be opened.
const newest = "newest"

// resolveID returns the id of the current, previous or newest release, or name itself.
func (s releaseSet) resolveID(ctx context.Context, name string) (string, error) {
	switch name {
	case "current":
		id, err := store.Current(ctx, s)
		if errors.Is(err, store.ErrNoRelease) {
			err = fmt.Errorf("%w: run %s first", err, s.app.nextBuild())
		}
		return id, err
	case "previous", newest:
	default:
		return name, nil
	}
	infos, err := s.List(ctx)
	if err != nil {
		return "", err
	}
	for _, i := range infos {
		if name == newest && i.Err == nil || name != newest && i.Previous {
			return i.ID, nil
		}
	}
	switch {
	case name != newest:
		return "", fmt.Errorf("no previous release in %s", s)
	case len(infos) > 0:
		return "", fmt.Errorf("no release in %s can be opened, the newest: %w", s, infos[0].Err)
	}
	return "", fmt.Errorf("no release in %s: run build first", s)
}

// open opens a release. The error matches fs.ErrNotExist if it does not exist.
func (s releaseSet) open(ctx context.Context, id string) (*release.Reader, error) {
	dir, err := s.local(ctx, id)
	if err != nil {
		return nil, err
	}
	return release.Open(dir)
}

// openNamed opens a release by its id, or as current, previous or newest.
func (s releaseSet) openNamed(ctx context.Context, name string) (*release.Reader, error) {
	id, err := s.resolveID(ctx, name)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, id)
}

func rollbackCommand(a *app) *cobra.Command {
	var releases string
	var canary bool
	c := &cobra.Command{
		Use:   "rollback",
		Short: "Make the previous release current again",
		Long: "rollback makes the previous release current again. With --canary it removes the canary instead: servers\n" +
			"that follow it serve the current release again.\n\n" +
			"Until another release is published, publishing a release with the same responses as the rolled-back one needs\n" +
			"--force.",
	}
	storeFlag(c, &releases)
	c.Flags().BoolVar(&canary, "canary", false, "remove the canary instead")
	return a.leaf(c, func(ctx context.Context, _ []string) error {
		return a.atStore(ctx, releases, func(s releaseSet) error {
			if canary {
				id, err := store.RemoveCanary(ctx, s)
				if errors.Is(err, store.ErrNoRelease) {
					return fmt.Errorf("%s has no canary", s)
				}
				if err != nil {
					return err
				}
				v := struct {
					Canary string `json:"from"`
				}{id}
				return a.print(v, func(w io.Writer) { fmt.Fprintf(w, "%s is no longer the canary\n", id) })
			}
			from, to, err := store.Rollback(ctx, s)
			if err != nil {
				return err
			}
			v := struct {
				Release string `json:"release"`
				From    string `json:"from"`
			}{to, from}
			return a.print(v, func(w io.Writer) { fmt.Fprintf(w, "%s is current again; %s was rolled back\n", to, from) })
		})
	})
}

func releasesCommand(a *app) *cobra.Command {
	var releases string
	c := &cobra.Command{
		Use:   "releases",
		Short: "List the releases, the newest first",
	}
	storeFlag(c, &releases)
	return a.leaf(c, func(ctx context.Context, _ []string) error {
		return a.atStore(ctx, releases, func(s releaseSet) error {
			infos, err := s.List(ctx)
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("no releases in %s: run %s first", releases, a.nextBuild())
			}
			if err != nil {
				return err
			}
			if len(infos) == 0 && !a.quiet && !a.json {
				fmt.Fprintf(a.Stderr, "no releases in %s: run %s first\n", releases, a.nextBuild())
			}
			rows := make([]releaseRow, 0, len(infos))
			for _, i := range infos {
				row := releaseRow{Info: i}
				row.Built = i.Built.UTC()
				if i.Err != nil {
					row.Error = oneLine(i.Err)
				}
				rows = append(rows, row)
			}
			return a.print(rows, func(w io.Writer) { writeReleases(w, rows) })
		})
	})
}

// nextBuild returns the command that makes and publishes a release, after an ingest if there is no catalogue.
func (a *app) nextBuild() string {
	if catalog.Exists(a.setting("build", "catalog")) {
		return program() + " build --publish"
	}
	return program() + " ingest SRC and then " + program() + " build --publish"
}

// releaseRow is a release in the output of --json.
type releaseRow struct {
	store.Info
	Error string `json:"error,omitempty"`
}

func writeReleases(w io.Writer, rows []releaseRow) {
	fmt.Fprintln(w, "RELEASE\t\tBUILT\tFRAGMENTS\tSIZE\tDATA OF")
	for i := range rows {
		r := &rows[i]
		var marks []string
		for _, mark := range []struct {
			set  bool
			name string
		}{{r.Current, "current"}, {r.Previous, "previous"}, {r.Canary, "canary"}, {r.Forced, "forced"}, {r.RolledBack, "rolled back"}} {
			if mark.set {
				marks = append(marks, mark.name)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t", r.ID, strings.Join(marks, ", "), r.Built.Format("2006-01-02 15:04:05"))
		switch {
		case errors.Is(r.Err, release.ErrVersion):
			fmt.Fprintf(w, "incompatible version: %s\n", r.Error)
		case r.Err != nil:
			fmt.Fprintf(w, "broken: %s\n", r.Error)
		default:
			fmt.Fprintf(w, "%d\t%s\t%s\n", r.Fragments, humanize.IBytes(uint64(r.Bytes)), r.Fetched)
		}
	}
}

func pruneCommand(a *app) *cobra.Command {
	var releases string
	var keep int
	var grace time.Duration
	c := &cobra.Command{
		Use:   "prune --keep N",
		Short: "Remove old releases",
		Long: "prune removes the oldest releases until N are left, and leftovers of killed builds. It never removes the current\n" +
			"release, the previous one, which rollback needs, the canary, rolled-back releases, or folders\n" +
			"that are not releases.\n\n" +
			"In a bucket, it removes unreferenced objects older than --grace, which must be longer than an upload takes.",
	}
	storeFlag(c, &releases)
	c.Flags().IntVar(&keep, "keep", 0, "releases to keep, 1 or more")
	c.Flags().DurationVar(&grace, "grace", store.DefaultGrace, "remove unreferenced objects of a bucket only if older than this")
	required(c, "keep")
	check := func() error {
		switch {
		case keep < 1:
			return fmt.Errorf("keep %d: want 1 or more", keep)
		case grace < 0:
			return fmt.Errorf("grace %s: want 0 or more", grace)
		}
		return nil
	}
	return a.checked(c, check, func(ctx context.Context, _ []string) error {
		return a.atStore(ctx, releases, func(s releaseSet) error {
			removed, err := s.Prune(ctx, keep, grace)
			if err != nil {
				return err
			}
			v := struct {
				Removed []string `json:"removed"`
			}{append([]string{}, removed...)}
			return a.print(v, func(w io.Writer) {
				fmt.Fprintln(w, strings.TrimSuffix(plural(len(removed), "release")+" removed: "+strings.Join(removed, ", "), ": "))
			})
		})
	})
}
