package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/reelsplice/reelsplice/serve/localca"
)

func certCommand(a *app) *cobra.Command {
	var dir string
	names, days := []string{"api.themoviedb.org"}, 397
	c := &cobra.Command{
		Use:   "cert --out DIR",
		Short: "Make a certificate for clients that have the API's host wired in",
		Long: "cert makes a certificate authority and a certificate that it signs, for clients that reach this edge by a DNS\n" +
			"override. Clients have to trust ca.pem. The authority may sign for the given names alone, so its key opens no\n" +
			"other host.\n\n" +
			"The next run renews the certificate with the same authority; a running edge picks it up.",
		Example: "  reelsplice cert --out certs --name api.themoviedb.org\n" +
			"  reelsplice serve --releases releases --tokens tokens.txt --addr :443 --tls-cert certs/cert.pem --tls-key certs/key.pem",
	}
	c.Flags().StringVar(&dir, "out", "", "`DIR` of the files")
	c.Flags().StringSliceVar(&names, "name", names, "host name or address; may be repeated")
	c.Flags().IntVar(&days, "days", days, "how long the certificate is valid")
	required(c, "out")
	return a.leaf(c, func(context.Context, []string) error {
		r, err := localca.Make(dir, names, days, time.Now())
		if err != nil {
			return err
		}
		return a.print(r, func(w io.Writer) {
			authority := "authority, the same as before"
			if r.NewCA {
				authority = "authority, which clients have to trust"
			}
			fmt.Fprintf(w, "%s\t%s\n", filepath.Join(dir, localca.CAFile), authority)
			fmt.Fprintf(w, "%s\tcertificate, until %s\n", filepath.Join(dir, localca.LeafFile), r.Expires.Format(time.DateOnly))
			fmt.Fprintf(w, "%s\tits key\n", filepath.Join(dir, localca.LeafKey))
		})
	})
}
