package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/bug"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
	"github.com/reelsplice/reelsplice/schemas/tables/credits"
	"github.com/reelsplice/reelsplice/serve/edge"
)

func inspectCommand(a *app) *cobra.Command {
	var releases, id string
	var explain bool
	c := &cobra.Command{
		Use:   "inspect PATH",
		Short: "Print a response of a release, without a server",
		Long: "inspect prints the response to an API path with its query, byte for byte, from the current release. The body\n" +
			"of an error response goes to stdout too, and its status to stderr. --explain prints the response's pieces instead.",
		Example: "  reelsplice inspect '/3/movie/550?append_to_response=credits'",
		Args:    argCount(1, 1),
	}
	storeFlag(c, &releases)
	c.Flags().BoolVar(&explain, "explain", false, "print number, kind, offset, bytes, CRC-32 and origin of each piece")
	c.Flags().StringVar(&id, "release", "current", "`ID` of the release")
	return a.leaf(c, func(ctx context.Context, args []string) error {
		var response edge.Inspection
		err := a.atStore(ctx, releases, func(s releaseSet) (err error) {
			if !strings.HasPrefix(args[0], "/") {
				return usage(fmt.Errorf("path %q: want one that starts with a slash, such as /3/movie/550", args[0]))
			}
			rel, err := s.openNamed(ctx, id)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, rel.Close()) }()
			response, err = edge.Inspect(rel, args[0])
			return err
		})
		if err != nil {
			return err
		}
		if explain && response.Status == 200 {
			err = a.print(&response, func(w io.Writer) { writePieces(w, &response) })
		} else {
			err = a.write(response.Body)
			if err == nil && (response.Status != 200 || isTerminal(a.Stdout)) { // before the error message or the prompt
				err = a.write([]byte("\n"))
			}
		}
		if err == nil && response.Status != 200 {
			err = fmt.Errorf("%s: status %d", args[0], response.Status)
		}
		return err
	})
}

func writePieces(w io.Writer, r *edge.Inspection) {
	fmt.Fprintln(w, "PIECE\tKIND\tOFFSET\tRAW\tSTORED\tCRC-32\tFROM\tFILE\tTEXT")
	stored := 0
	for i := range r.Pieces {
		p := &r.Pieces[i]
		place := ""
		if p.File != "" {
			place = fmt.Sprintf("%s:%d", p.File, p.FileOffset)
		}
		fmt.Fprintf(w, "%d\t%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\n", p.Number, p.Kind, p.Offset, p.Raw, p.Stored, p.CRC, p.Origin, place, p.Text)
		stored += p.Stored
	}
	fmt.Fprintf(w, "total\t\t\t%d\t%d\t\t\t\t\n", r.RawBytes, stored)
	fmt.Fprintf(w, "gzip  %d bytes\netag  %s\n", r.GzipBytes, r.ETag)
}

func verifyCommand(a *app) *cobra.Command {
	var releases, subset string
	var part check.Options
	c := &cobra.Command{
		Use:   "verify [ID]",
		Short: "Check every checksum and every reference of a release",
		Long: "verify reads a release, the current one or ID, and checks every checksum and every reference. It\n" +
			"prints one problem per line, with its file, offset and resource, and exits with 1 if there are any.\n\n" +
			"--subset reads about one T-th of the release: every T-th file, and every T-th part with all its references.\n" +
			"All subsets together check everything except two counts: bytes of packs in use, and resources with a sub-request or language.\n\n" +
			"A release in a bucket is first copied to the folder for temporary files (TMPDIR). Each problem names its object.",
		Args: argCount(0, 1),
	}
	storeFlag(c, &releases)
	c.Flags().StringVar(&subset, "subset", "", "check part `N/T` only, such as 1/7 on Mondays")
	parse := func() (err error) {
		part, err = parseSubset(subset)
		return err
	}
	return a.checked(c, parse, func(ctx context.Context, args []string) error {
		return a.atStore(ctx, releases, func(s releaseSet) error { return s.verify(ctx, append(args, "current")[0], part) })
	})
}

// verify checks a part of a release and prints its problems.
func (s releaseSet) verify(ctx context.Context, name string, part check.Options) error {
	id, err := s.resolveID(ctx, name)
	if err != nil {
		return err
	}
	dir, err := s.local(ctx, id)
	if err != nil {
		return err
	}
	p := s.app.progress("verify", true)
	defer p.stop()
	var tableProblems []release.CorruptError
	var g errgroup.Group
	g.Go(func() (err error) {
		defer bug.Catch(&err)
		tableProblems, err = checkTables(ctx, dir, part)
		return err
	})
	problems, err := check.Verify(ctx, dir, part, p.update)
	if tableErr := g.Wait(); err == nil && len(problems) == 0 {
		problems, err = tableProblems, tableErr
	}
	if err != nil {
		return err
	}
	p.stop()
	if bucket, ok := s.Store.(store.Bucket); ok {
		objects := map[string]string{}
		if m, err := bucket.Manifest(ctx, id); err == nil {
			for _, f := range m.Files() {
				objects[f.Name] = store.FileName(f)
			}
		}
		for i := range problems {
			p := &problems[i]
			p.What = fmt.Sprintf("%s (%s)", p.What, bucket.Folder.URL(cmp.Or(objects[p.File], id+"/"+p.File)))
		}
	}
	v := struct {
		Release  string                 `json:"release"`
		Problems []release.CorruptError `json:"problems"`
	}{id, append([]release.CorruptError{}, problems...)}
	err = s.app.print(v, func(w io.Writer) {
		for _, p := range problems {
			fmt.Fprintln(w, p)
		}
		if len(problems) == 0 {
			subset := ""
			if part.Of > 0 {
				subset = fmt.Sprintf("part %d of %d of ", part.Subset, part.Of)
			}
			fmt.Fprintf(w, "%s%s is intact\n", subset, id)
		}
	})
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("release %s is broken: %s, the first: %s", id, plural(len(problems), "problem"), problems[0].Error())
	}
	return err
}

// checkTables opens tables as an edge does, and reports errors in them. They are meaningful only if the checksums are
// right. A subset includes a share of the tables and of the credits.
func checkTables(ctx context.Context, dir string, part check.Options) (problems []release.CorruptError, err error) {
	r, err := release.Open(dir)
	if err != nil {
		return nil, err
	}
	n := -1
	check := func(name string, open func() error) {
		if n++; name != credits.Table && !part.Mine(n) {
			return
		}
		if err := release.Guard(open); err != nil {
			problems = append(problems, release.CorruptError{File: "table-" + name, Off: -1, What: err.Error()})
		}
	}
	check(credits.Table, func() error { return credits.Check(ctx, r, part.Mine) })
	check(changelog.Table, func() error { return changelog.Open(r).Check() })
	for _, kind := range tables.Kinds {
		check(kind.String(), func() error { return errorOf(tables.Open(r, kind)) })
	}
	if t, ok := r.Table(accounts.ListTable); ok {
		check(accounts.ListTable, func() error { return errorOf(accounts.OpenLists(t)) })
	}
	if t, ok := r.Table(accounts.AccountTable); ok {
		check(accounts.AccountTable, func() error { return errorOf(accounts.OpenAccounts(t)) })
	}
	return problems, errors.Join(ctx.Err(), r.Close())
}

// errorOf drops the opened value.
func errorOf[T any](_ T, err error) error { return err }

// parseSubset parses N/T, part N of T, with 1 <= N <= T. "" means the whole release.
func parseSubset(text string) (part check.Options, err error) {
	if text == "" {
		return part, nil
	}
	if _, err := fmt.Sscanf(text+"\n", "%d/%d\n", &part.Subset, &part.Of); err != nil || part.Subset < 1 || part.Subset > part.Of {
		return part, fmt.Errorf("subset %q: want N/T with N from 1 to T", text)
	}
	return part, nil
}
