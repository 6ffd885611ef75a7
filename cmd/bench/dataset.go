package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"reelsplice/cmd/bench/host"
)

// moviesPerSeries is how many movies a generated release has for a series.
const moviesPerSeries = 50

// makeRelease makes the releases that the folder lacks, and a token.
func makeRelease(ctx context.Context, b *bench) error {
	work := filepath.Join(b.tmp, "work")
	err := generate(ctx, b, work, b.cfg.Program, b.releases)
	if err == nil && b.cfg.Before != "" {
		err = generate(ctx, b, work, b.cfg.Before, b.beforeReleases)
	}
	if err != nil {
		return err
	}
	if err := os.RemoveAll(work); err != nil {
		return fmt.Errorf("remove the dump: %w", err)
	}
	out, _, err := host.Run(ctx, "token issue", b.cfg.Program, "token", "issue", "--tokens", b.tokens, "--name", "bench")
	b.token = strings.TrimSpace(string(out))
	return err
}

// generate makes a release of a synthetic dump by a program, unless there is one. The dump
// in work is made once, so that all programs get the same.
func generate(ctx context.Context, b *bench, work, program, releases string) error {
	if _, err := os.Stat(filepath.Join(releases, "current")); err == nil {
		return nil
	}
	dump, catalog := filepath.Join(work, "dump"), filepath.Join(work, "catalog-"+filepath.Base(releases))
	movies, series := strconv.FormatInt(b.cfg.Movies, 10), strconv.FormatInt(b.cfg.Movies/moviesPerSeries, 10)
	if _, err := os.Stat(dump); errors.Is(err, os.ErrNotExist) {
		b.cfg.progress("gen: %s movies", movies)
		if _, _, err := host.Run(ctx, "gen", b.cfg.Program, "gen", "--quiet", "--out", dump, "--movies", movies, "--tv", series); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"ingest", "--quiet", "--catalog", catalog, dump},
		{"build", "--quiet", "--catalog", catalog, "--releases", releases, "--publish"},
	} {
		b.cfg.progress("%s: %s movies", args[0], movies)
		if _, _, err := host.Run(ctx, args[0], program, args...); err != nil {
			return err
		}
	}
	return nil
}
