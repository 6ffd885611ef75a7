package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"reelsplice/schemas/release"
)

// storeFlag adds --releases, which the command cannot do without.
func storeFlag(c *cobra.Command, s *release.Store) {
	c.Flags().StringVar(&s.Dir, "releases", "", "`DIR` of the releases")
	required(c, "releases")
}

func publishCommand(a *app) *cobra.Command {
	var s release.Store
	c := &cobra.Command{
		Use:   "publish --releases DIR [ID]",
		Short: "Make a release current",
		Long:  "publish makes a release current: the newest one, or ID. Servers take it up at once.",
		Args:  argCount(0, 1),
	}
	storeFlag(c, &s)
	return a.leaf(c, func(_ context.Context, args []string) error {
		id, err := chosen(s, args, newest)
		if err != nil {
			return err
		}
		previous, err := s.Publish(id)
		if err != nil {
			return err
		}
		v := struct {
			Release  string `json:"release"`
			Previous string `json:"previous"`
		}{id, previous}
		return a.print(v, func(w io.Writer) { fmt.Fprintf(w, "%s is current\n", id) })
	})
}

// chosen returns the id among args, or what otherwise returns.
func chosen(s release.Store, args []string, otherwise func(release.Store) (string, error)) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	return otherwise(s)
}

func newest(s release.Store) (string, error) {
	infos, err := s.List()
	if err != nil {
		return "", err
	}
	for _, i := range infos {
		if i.Err == nil {
			return i.ID, nil
		}
	}
	if len(infos) > 0 {
		return "", fmt.Errorf("no release in %s can be opened, the newest: %w", s.Dir, infos[0].Err)
	}
	return "", fmt.Errorf("no release in %s: run build first", s.Dir)
}

func current(s release.Store) (string, error) {
	id, err := s.Current()
	if errors.Is(err, release.ErrNoRelease) {
		return "", fmt.Errorf("%w: run publish first", err)
	}
	return id, err
}

// releaseNamed returns the id of what is current or previous, or name itself.
func releaseNamed(s release.Store, name string) (string, error) {
	switch name {
	case "current":
		return current(s)
	case "previous":
		infos, err := s.List()
		if err != nil {
			return "", err
		}
		for _, i := range infos {
			if i.Previous {
				return i.ID, nil
			}
		}
		return "", fmt.Errorf("no release in %s has been current before the one that is", s.Dir)
	}
	return name, nil
}

// openNamed opens a release by its id or by what it is.
func openNamed(s release.Store, name string) (*release.Reader, error) {
	id, err := releaseNamed(s, name)
	if err != nil {
		return nil, err
	}
	return openRelease(s, id)
}

// openRelease opens a release by its id.
func openRelease(s release.Store, id string) (*release.Reader, error) {
	r, err := release.Open(s.Path(id))
	return r, missing(s, id, err)
}

// missing explains an error about a release that the store does not have.
func missing(s release.Store, id string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("release %s is not in %s: %w", id, s.Dir, err)
	}
	return err
}

func rollbackCommand(a *app) *cobra.Command {
	var s release.Store
	c := &cobra.Command{
		Use:   "rollback --releases DIR",
		Short: "Go back to the release that was current before",
	}
	storeFlag(c, &s)
	return a.leaf(c, func(context.Context, []string) error {
		from, to, err := s.Rollback()
		if err != nil {
			return err
		}
		v := struct {
			Release string `json:"release"`
			From    string `json:"from"`
		}{to, from}
		return a.print(v, func(w io.Writer) { fmt.Fprintf(w, "%s is current, %s no more\n", to, from) })
	})
}

func releasesCommand(a *app) *cobra.Command {
	var s release.Store
	c := &cobra.Command{
		Use:   "releases --releases DIR",
		Short: "List the releases, the newest first",
	}
	storeFlag(c, &s)
	return a.leaf(c, func(context.Context, []string) error {
		infos, err := s.List()
		if err != nil {
			return err
		}
		return a.print(releaseRows(infos), func(w io.Writer) { writeReleases(w, infos) })
	})
}

// releaseRow is a release as --json lists it.
type releaseRow struct {
	Release   string    `json:"release"`
	Current   bool      `json:"current"`
	Previous  bool      `json:"previous"` // rollback goes there
	Built     time.Time `json:"built"`
	Fragments int64     `json:"fragments"`
	Bytes     int64     `json:"bytes"`
	Error     string    `json:"error,omitempty"`
}

func releaseRows(infos []release.Info) []releaseRow {
	rows := make([]releaseRow, 0, len(infos))
	for _, i := range infos {
		row := releaseRow{i.ID, i.Current, i.Previous, i.Built.UTC(), i.Fragments, i.Bytes, ""}
		if i.Err != nil {
			row.Error = oneLine(i.Err)
		}
		rows = append(rows, row)
	}
	return rows
}

func writeReleases(w io.Writer, infos []release.Info) {
	fmt.Fprintln(w, "RELEASE\t\tBUILT\tFRAGMENTS\tSIZE")
	for _, i := range infos {
		mark := ""
		switch {
		case i.Current:
			mark = "current"
		case i.Previous:
			mark = "previous"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t", i.ID, mark, i.Built.UTC().Format("2006-01-02 15:04:05"))
		if i.Err != nil {
			fmt.Fprintf(w, "broken: %s\n", oneLine(i.Err))
			continue
		}
		fmt.Fprintf(w, "%d\t%s\n", i.Fragments, formatBytes(i.Bytes))
	}
}

func pruneCommand(a *app) *cobra.Command {
	var s release.Store
	var keep int
	c := &cobra.Command{
		Use:   "prune --releases DIR --keep N",
		Short: "Remove old releases",
		Long: "prune removes the oldest releases until N are left, and what killed builds left behind. The current\n" +
			"release and the one that rollback goes to always stay, and so do folders that are no release.",
	}
	storeFlag(c, &s)
	c.Flags().IntVar(&keep, "keep", 0, "releases to keep, 1 or more")
	required(c, "keep")
	return a.leaf(c, func(context.Context, []string) error {
		if keep < 1 {
			return usage(fmt.Errorf("keep %d: want 1 or more", keep))
		}
		removed, err := s.Prune(keep)
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
}
