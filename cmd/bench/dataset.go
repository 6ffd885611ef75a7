package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"reelsplice/schemas/release"
)

// moviesPerSeries is how many movies a generated release has for a series.
const moviesPerSeries = 50

// makeRelease makes the release, unless the folder has one, and a token.
func (b *bench) makeRelease(ctx context.Context) error {
	_, err := release.Store{Dir: b.releases}.Current()
	if errors.Is(err, release.ErrNoRelease) {
		err = b.generate(ctx)
	}
	if err != nil {
		return err
	}
	out, err := runStep(ctx, "token issue", b.cfg.Program, "token", "issue", "--tokens", b.tokens, "--name", "bench")
	b.token = strings.TrimSpace(string(out))
	return err
}

// generate makes a release of a synthetic dump.
func (b *bench) generate(ctx context.Context) error {
	work := filepath.Join(b.tmp, "work")
	dump, catalog := filepath.Join(work, "dump"), filepath.Join(work, "catalog")
	movies, series := strconv.FormatInt(b.cfg.Movies, 10), strconv.FormatInt(b.cfg.Movies/moviesPerSeries, 10)
	for _, args := range [][]string{
		{"gen", "--quiet", "--out", dump, "--movies", movies, "--tv", series},
		{"ingest", "--quiet", "--catalog", catalog, dump},
		{"build", "--quiet", "--catalog", catalog, "--releases", b.releases, "--publish"},
	} {
		b.cfg.progress("%s: %s movies", args[0], movies)
		if _, err := runStep(ctx, args[0], b.cfg.Program, args...); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(work); err != nil {
		return fmt.Errorf("remove the dump: %w", err)
	}
	return nil
}
