package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reelsplice/reelsplice/data/gen"
)

func genCommand(a *app) *cobra.Command {
	cfg := gen.DefaultConfig()
	c := &cobra.Command{
		Use:   "gen --out DIR --movies N",
		Short: "Make a synthetic dump of any size",
		Long: "gen makes a dump as a crawl of the API would: movies, series with their seasons, people, collections,\n" +
			"companies, networks and keywords. Each kind has one file; each line is a response with all appended.\n" +
			"Counts, gaps and popularity are distributed as in the real catalogue; texts and names are invented.\n\n" +
			"The real catalogue has 229 series and 4,800 people for 1,240 movies. --people follows that ratio by default.\n" +
			"Ask for series with --tv: with its seasons, a series takes three times the bytes of a movie.\n\n" +
			"The same --seed and numbers give the same bytes, whatever --jobs is. gen replaces its own earlier dump in\n" +
			"DIR and refuses to overwrite other files.",
		Example: "  reelsplice gen --out dump --movies 10000 --tv 500\n" +
			"  reelsplice ingest --catalog catalog dump",
	}
	f := c.Flags()
	compress := string(cfg.Compression)
	f.StringVar(&cfg.Out, "out", "", "`DIR` of the dump, made when it is missing")
	f.Int64Var(&cfg.Movies, "movies", 0, "make `N` movies")
	f.Int64Var(&cfg.TV, "tv", 0, "make `N` series")
	f.Int64Var(&cfg.People, "people", 0, "make `N` people; 0 follows the number of titles")
	f.Uint64Var(&cfg.Seed, "seed", cfg.Seed, "`NUMBER` that the records depend on")
	f.StringVar(&compress, "compress", compress, "`HOW` files are compressed: "+strings.Join(gen.Compressions(), ", "))
	f.IntVar(&cfg.Jobs, "jobs", cfg.Jobs, "records made at once")
	required(c, "out", "movies")
	return a.leaf(c, func(ctx context.Context, _ []string) error {
		cfg.Compression = gen.Compression(compress)
		if cfg.Movies == 0 && cfg.TV == 0 {
			return usage(errors.New("movies 0: want at least one movie or, with --tv, series"))
		}
		if err := cfg.Validate(); err != nil {
			return usage(err)
		}
		p := a.progress("gen", false)
		defer p.stop()
		cfg.Progress = p.update
		r, err := gen.Run(ctx, cfg)
		if err != nil {
			return err
		}
		p.stop()
		return a.print(r, func(w io.Writer) { writeGen(w, &r) })
	})
}

func writeGen(w io.Writer, r *gen.Report) {
	for _, f := range r.Files {
		fmt.Fprintf(w, "%s\t%s\t%s raw\t%s stored\n", f.Name, plural(f.Rows, "row"), formatBytes(f.Bytes), formatBytes(f.Stored))
	}
	fmt.Fprintf(w, "made %s in %s in %.1f s\n", plural(r.Rows, "row"), r.Out, r.Seconds)
}
