package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reelsplice/reelsplice/serve/edge"
)

func inspectCommand(a *app) *cobra.Command {
	var releases, id string
	var explain bool
	c := &cobra.Command{
		Use:   "inspect --releases DIR PATH",
		Short: "Print a response of a release, without a server",
		Long: "inspect prints the response to an API path with its query, byte for byte, from the current release. The body\n" +
			"of a refusal goes to stdout too, and its status to stderr. With --explain it prints the response's pieces instead.",
		Example: "  reelsplice inspect --releases releases '/3/movie/550?append_to_response=credits'",
		Args:    argCount(1, 1),
	}
	storeFlag(c, &releases)
	c.Flags().BoolVar(&explain, "explain", false, "print number, kind, offset, bytes, CRC-32 and origin of each piece")
	c.Flags().StringVar(&id, "release", "", "`ID` of the release; the current one when not given")
	return a.leaf(c, func(ctx context.Context, args []string) error {
		var in edge.Inspection
		err := a.atStore(ctx, releases, func(s releaseStore) (err error) {
			in, err = inspect(ctx, s, id, args[0])
			return err
		})
		if err != nil {
			return err
		}
		if explain && in.Status == 200 {
			err = a.print(&in, func(w io.Writer) { writePieces(w, &in) })
		} else {
			err = a.write(in.Body)
			if err == nil && a.ownLine(in.Status) {
				err = a.write([]byte("\n"))
			}
		}
		if err == nil && in.Status != 200 {
			err = fmt.Errorf("%s: status %d", args[0], in.Status)
		}
		return err
	})
}

// ownLine reports whether a response, which has no newline, needs one for what comes behind it:
// the prompt of a terminal, or a message where stdout and stderr are one.
func (a *app) ownLine(status int) bool {
	return isTerminal(a.Stdout) || status != 200 && sameFile(a.Stdout, a.Stderr)
}

// sameFile reports whether two writers are one file or pipe.
func sameFile(a, b io.Writer) bool {
	var infos [2]os.FileInfo
	for i, w := range []io.Writer{a, b} {
		f, ok := w.(*os.File)
		if !ok {
			return false
		}
		info, err := f.Stat()
		if err != nil {
			return false
		}
		infos[i] = info
	}
	return os.SameFile(infos[0], infos[1])
}

func inspect(ctx context.Context, s releaseStore, id, target string) (in edge.Inspection, err error) {
	if !strings.HasPrefix(target, "/") {
		return in, usage(fmt.Errorf("path %q: want one that starts with a slash, such as /3/movie/550", target))
	}
	if id == "" {
		if id, err = current(ctx, s); err != nil {
			return in, err
		}
	}
	rel, err := s.Open(ctx, id)
	if err != nil {
		return in, err
	}
	defer func() { err = errors.Join(err, rel.Close()) }()
	return edge.Inspect(rel, target)
}

func writePieces(w io.Writer, in *edge.Inspection) {
	fmt.Fprintln(w, "PIECE\tKIND\tOFFSET\tRAW\tSTORED\tCRC-32\tFROM\tFILE\tTEXT")
	stored := 0
	for i := range in.Pieces {
		p := &in.Pieces[i]
		fmt.Fprintf(w, "%d\t%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\n", p.Number, p.Kind, p.Offset, p.Raw, p.Stored, p.CRC, p.Origin, place(p), p.Text)
		stored += p.Stored
	}
	fmt.Fprintf(w, "total\t\t\t%d\t%d\t\t\t\t\n", in.RawBytes, stored)
	fmt.Fprintf(w, "gzip  %d bytes\netag  %s\n", in.GzipBytes, in.ETag)
}

// place returns file and offset of a segment.
func place(p *edge.Piece) string {
	if p.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.File, p.FileOffset)
}
