package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/reelsplice/reelsplice/data/gen"
	"github.com/reelsplice/reelsplice/ingest/crawl"
)

const crawlLong = "crawl fetches titles, people and collections from an API server (TMDB or another reelsplice) with your own\n" +
	"key, and writes files for ingest: NDJSON, one row per response, one file per kind. The field _fetched of\n" +
	"each row is the day of its response.\n\n" +
	"The ids come from files (--ids: lines such as movie 550, tv/1399, tt0137523, or a list exported from\n" +
	"another program or site), TMDB's daily id exports (--daily-ids), the names and NFO files of a media library\n" +
	"(--library), lists of changes (--changed-since), or the age of rows in DIR (--refresh). Seasons come with their\n" +
	"series. Lines, rows and names that lead to no title are printed as unresolved.\n\n" +
	"If a crawl is killed, run the same command again: it continues without repeating requests. If it was complete, it\n" +
	"sends none. An id that the server lacks becomes a row with _deleted if DIR had its title, or if a change list\n" +
	"contains it; a merged one becomes a row with _merged_into. crawl obeys 429 and Retry-After, and retries truncated,\n" +
	"damaged or late responses.\n\n" +
	"The key is one word in a file. No log, error or row contains it. Follow the server's terms: TMDB's require\n" +
	"attribution, data no older than six months, and an agreement for commercial use."

const crawlExample = "  reelsplice crawl --from https://api.themoviedb.org/3 --key-file tmdb.key --out crawl --library /media\n" +
	"  reelsplice crawl --from https://api.themoviedb.org/3 --key-file tmdb.key --out crawl --ids watchlist.csv\n" +
	"  reelsplice crawl --from https://api.themoviedb.org/3 --key-file tmdb.key --out crawl --daily-ids movie_ids_11_20_2026.json.gz --min-popularity 10\n" +
	"  reelsplice crawl --from https://api.themoviedb.org/3 --key-file tmdb.key --out crawl --changed-since 2026-11-24 --only-known\n" +
	"  reelsplice ingest --catalog catalog crawl"

func crawlCommand(a *app) *cobra.Command {
	cfg := crawl.DefaultConfig()
	var keyFile string
	var refresh time.Duration
	c := &cobra.Command{
		Use:     "crawl --from URL --key-file FILE --out DIR",
		Short:   "Fetch dumps from an API server, with your own key",
		Long:    crawlLong,
		Example: crawlExample,
	}
	f := c.Flags()
	f.StringVar(&cfg.From, "from", "", "`URL` of the server, with or without /3")
	f.StringVar(&keyFile, "key-file", "", "`FILE` with the key or the access token, and nothing else")
	f.StringVar(&cfg.Out, "out", "", "`DIR` of the dump, created if missing")
	f.StringArrayVar(&cfg.IDs, "ids", nil, "`FILE` of ids, one per line (movie 550, tv/1399, tt0137523), an exported list, or an NFO file; repeatable")
	f.StringVar(&cfg.Kind, "kind", "", "`KIND` of bare ids in --ids, such as 550, and of rows without a type: "+strings.Join(crawl.KindNames(), ", "))
	f.StringArrayVar(&cfg.DailyIDs, "daily-ids", nil, "daily id export `FILE` of TMDB, plain or .gz, whose name states the kind; repeatable")
	f.Float64Var(&cfg.MinPopularity, "min-popularity", 0, "skip ids of daily id exports with a popularity below `N`")
	f.StringArrayVar(&cfg.Library, "library", nil, "media library `DIR`, with ids in names and NFO files; repeatable")
	f.BoolVar(&cfg.Search, "library-search", false, "search for library names that have no id; accept a result if it is the only one with that name and year")
	f.TextVar(&cfg.ChangedSince, "changed-since", cfg.ChangedSince, "fetch resources changed since `DAY`, YYYY-MM-DD")
	f.BoolVar(&cfg.OnlyKnown, "only-known", false, "with --changed-since, fetch only resources that DIR has")
	f.Var(durationFlag{&refresh, true}, "refresh", "fetch again what is older than `AGE`, in whole days such as 150d")
	f.StringSliceVar(&cfg.Kinds, "kinds", nil, "`KINDS` to fetch from daily id exports and change lists: "+strings.Join(crawl.KindNames(), ","))
	f.StringSliceVar(&cfg.Languages, "languages", nil, "`LANGUAGES` to fetch besides en-US: de-DE,fr-FR")
	f.StringVar((*string)(&cfg.Seasons), "seasons", string(cfg.Seasons), "`HOW` much of seasons to fetch: all, details (20 per request, without their sub-requests), none")
	f.BoolVar(&cfg.Episodes, "episodes", false, "also fetch each episode separately, for its images, videos, translations and ids: one request each")
	f.BoolVar(&cfg.People, "people", false, "fetch the people in titles")
	f.BoolVar(&cfg.Collections, "collections", cfg.Collections, "fetch the collections of movies")
	f.BoolVar(&cfg.Companies, "companies", false, "fetch the companies and networks of titles")
	f.Float64Var(&cfg.Rate, "rate", cfg.Rate, "at most `N` requests per second")
	f.IntVar(&cfg.Concurrency, "concurrency", cfg.Concurrency, "at most `N` requests at once")
	f.IntVar(&cfg.Tries, "tries", cfg.Tries, "give up on a request after `N` tries")
	f.DurationVar(&cfg.Timeout, "timeout", cfg.Timeout, "time limit for one response")
	required(c, "from", "key-file", "out")
	return a.leaf(c, func(ctx context.Context, _ []string) (err error) {
		cfg.RefreshDays = int((refresh + day - 1) / day)
		if cfg.Key, err = crawl.ReadKey(keyFile); err != nil {
			return err
		}
		if err := cfg.Validate(); err != nil {
			return usage(err)
		}
		cfg.Log = a.logger()
		p := a.progress("crawl", false)
		defer p.stop()
		cfg.Progress = p.update
		r, err := crawl.Run(ctx, cfg)
		p.stop()
		if r.Requests == 0 && err != nil && len(r.Unresolved) == 0 {
			return err
		}
		// A crawl that fails later still has a report.
		err = errors.Join(a.print(r, func(w io.Writer) { writeCrawl(w, &r, len(cfg.Library) > 0 && !cfg.Search) }), err)
		if err == nil && r.Failures > 0 {
			return fmt.Errorf("%s had no usable response: run the same command again; the first: %s", plural(r.Failures, "request"), r.Failed[0])
		}
		if err == nil {
			a.printNext("ingest", nil, r.Out)
		}
		return err
	})
}

// writeCrawl prints a report. unsearched means that library names without an id were not searched for.
func writeCrawl(w io.Writer, r *crawl.Report, unsearched bool) {
	for _, kind := range slices.Sorted(maps.Keys(r.Fetched)) {
		fmt.Fprintf(w, "fetched: %s\n", countOfKind(r.Fetched[kind], kind))
	}
	for _, n := range []struct {
		count int64
		label string
	}{{r.Gone, "gone"}, {r.Merged, "merged into others"}, {r.Retried, "retried"}} {
		if n.count > 0 {
			fmt.Fprintf(w, "%s: %d\n", n.label, n.count)
		}
	}
	for _, l := range []struct {
		names []string
		label string
	}{{r.Unresolved, "unresolved"}, {r.Missing, "listed, but missing on the server"}} {
		for i, name := range l.names {
			if i == maxCounts {
				fmt.Fprintf(w, "%s: %d more\n", l.label, len(l.names)-i)
				break
			}
			fmt.Fprintf(w, "%s: %s\n", l.label, name)
		}
	}
	if unsearched && len(r.Unresolved) > 0 {
		fmt.Fprintln(w, "unresolved: --library-search looks up names without an id")
	}
	if r.Oldest > 0 {
		fmt.Fprintf(w, "responses from %s to %s\n", r.Oldest, r.Newest)
	}
	if r.Requests == 0 && r.Complete {
		fmt.Fprintf(w, "%s is complete: no request was needed\n", r.Out)
		return
	}
	fmt.Fprintf(w, "made %s (%s) in %.1f s\n", plural(r.Requests, "request"), humanize.IBytes(uint64(r.Bytes)), r.Seconds)
}

func genCommand(a *app) *cobra.Command {
	cfg := gen.DefaultConfig()
	c := &cobra.Command{
		Use:   "gen --out DIR --movies N",
		Short: "Make a synthetic dump of any size",
		Long: "gen makes a dump like one from a crawl: movies, series with their seasons, people, collections,\n" +
			"companies, networks and keywords. Each kind has one file; each line is a response with everything appended:\n" +
			"a row of the built-in sample with random ids, names, votes, popularity, dates and links. Lengths of\n" +
			"lists, votes and popularity are distributed roughly as in the real catalogue.\n\n" +
			"The real catalogue has 229 series and 4,800 people for 1,240 movies. All kinds except series follow that ratio by default.\n" +
			"Request series with --tv: with its seasons, a series takes three times the bytes of a movie.\n\n" +
			"The same --seed and numbers give the same bytes, regardless of --jobs. gen replaces its own earlier dump in\n" +
			"DIR and refuses to overwrite other files.",
		Example: "  reelsplice gen --out dump --movies 10000 --tv 500\n" +
			"  reelsplice ingest --catalog catalog dump",
	}
	f := c.Flags()
	f.StringVar(&cfg.Out, "out", "", "`DIR` of the dump, created if missing")
	f.Int64Var(&cfg.Movies, "movies", 0, "make `N` movies")
	f.Int64Var(&cfg.TV, "tv", 0, "make `N` series")
	f.Int64Var(&cfg.People, "people", 0, "make `N` people; 0 follows the number of titles")
	f.Int64Var(&cfg.Companies, "companies", 0, "make `N` companies; 0 follows the number of titles")
	f.Int64Var(&cfg.Keywords, "keywords", 0, "make `N` keywords; 0 follows the number of titles")
	f.Uint64Var(&cfg.Seed, "seed", cfg.Seed, "`NUMBER` that determines the random values")
	f.IntVar(&cfg.Jobs, "jobs", cfg.Jobs, "records made at once")
	required(c, "out", "movies")
	check := func() error {
		if cfg.Movies == 0 && cfg.TV == 0 {
			return errors.New("movies 0: want at least one movie or, with --tv, series")
		}
		return cfg.Validate()
	}
	return a.checked(c, check, func(ctx context.Context, _ []string) error {
		p := a.progress("gen", false)
		defer p.stop()
		cfg.Progress = p.update
		r, err := gen.Run(ctx, cfg)
		if err != nil {
			return err
		}
		p.stop()
		return a.print(r, func(w io.Writer) {
			for _, f := range r.Files {
				fmt.Fprintf(w, "%s\t%s\t%s raw\t%s stored\n", f.Name, plural(f.Rows, "row"), humanize.IBytes(uint64(f.Bytes)), humanize.IBytes(uint64(f.Stored)))
			}
			fmt.Fprintf(w, "made %s in %s in %.1f s\n", plural(r.Rows, "row"), r.Out, r.Seconds)
		})
	})
}
