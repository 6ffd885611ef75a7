package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
	"github.com/reelsplice/reelsplice/schemas/tables/credits"
)

func verifyCommand(a *app) *cobra.Command {
	var releases string
	var part subset
	c := &cobra.Command{
		Use:   "verify --releases DIR [ID]",
		Short: "Check every checksum and every reference of a release",
		Long: "verify reads a release, the current one or ID, and checks every checksum and every reference. What is\n" +
			"broken is printed, one problem a line, with its file, offset and resource; the exit code is then 1.\n\n" +
			"A release in a bucket is copied whole into the folder for temporary files first (TMPDIR), and each problem names its object.",
		Args: argCount(0, 1),
	}
	storeFlag(c, &releases)
	c.Flags().Var(&part, "subset", "check part N of T parts only, such as 1/7 on Mondays")
	return a.leaf(c, func(ctx context.Context, args []string) error {
		return a.atStore(ctx, releases, func(s releaseStore) error {
			id, err := chosen(ctx, s, args, current)
			if err != nil {
				return err
			}
			problems, err := s.Check(ctx, id, func(dir string) ([]release.CorruptError, error) { return a.verify(ctx, dir, part) })
			if err != nil {
				return err
			}
			return a.printProblems(id, part, problems)
		})
	})
}

func (a *app) verify(ctx context.Context, dir string, part subset) ([]release.CorruptError, error) {
	p := a.progress("verify", true)
	defer p.stop()
	problems, err := release.Verify(ctx, dir, release.VerifyOptions{Subset: part.n, Of: part.of}, p.update)
	if err != nil || len(problems) > 0 {
		return problems, err
	}
	return checkTables(dir)
}

// checkTables opens all tables that an edge opens, and looks for what is wrong with tables
// whose bytes are sound.
func checkTables(dir string) (problems []release.CorruptError, err error) {
	r, err := release.Open(dir)
	if err != nil {
		return nil, err
	}
	check := func(name string, open func() error) {
		if err := release.Guard(open); err != nil {
			problems = append(problems, release.CorruptError{File: "table-" + name, Off: -1, What: err.Error()})
		}
	}
	check(credits.Table, func() error { return credits.Check(r) })
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
	return problems, r.Close()
}

// errorOf drops what was opened.
func errorOf[T any](_ T, err error) error { return err }

func (a *app) printProblems(id string, part subset, problems []release.CorruptError) error {
	v := struct {
		Release  string                 `json:"release"`
		Problems []release.CorruptError `json:"problems"`
	}{id, append([]release.CorruptError{}, problems...)}
	err := a.print(v, func(w io.Writer) {
		for _, p := range problems {
			fmt.Fprintln(w, p)
		}
		if len(problems) == 0 {
			fmt.Fprintf(w, "%s%s is sound\n", part.partOf(), id)
		}
	})
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("release %s is broken: %s, the first: %s", id, plural(len(problems), "problem"), problems[0].Error())
	}
	return err
}

// partOf returns the prefix of a verdict about a part: "part 2 of 3 of ", or nothing for all.
func (s *subset) partOf() string {
	if *s == (subset{}) {
		return ""
	}
	return fmt.Sprintf("part %d of %d of ", s.n, s.of)
}

// subset is a flag N/T: part N of T. The zero value is everything.
type subset struct{ n, of int }

// String returns N/T, or nothing for everything.
func (s *subset) String() string {
	if *s == (subset{}) {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.n, s.of)
}

// Set reads N/T, 1 <= N <= T.
func (s *subset) Set(text string) error {
	var v subset
	if _, err := fmt.Sscanf(text+"\n", "%d/%d\n", &v.n, &v.of); err != nil || v.n < 1 || v.n > v.of {
		return errors.New("want N/T with N from 1 to T")
	}
	*s = v
	return nil
}

// Type names the flag's value in help texts.
func (s *subset) Type() string { return "N/T" }
