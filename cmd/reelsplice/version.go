package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/release"
)

// versionReport says which program this is and which files it understands.
type versionReport struct {
	Version        string `json:"version"`
	Revision       string `json:"revision,omitempty"`
	Go             string `json:"go"`
	ReleaseFormat  int    `json:"release_format"`
	CatalogVersion string `json:"catalog_version"`
}

func version() versionReport {
	v := versionReport{Version: "(devel)", ReleaseFormat: release.FormatVersion, CatalogVersion: catalog.FormatVersion}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Go = info.GoVersion
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	return v
}

func (a *app) versionCommand() *cobra.Command {
	return a.leaf(&cobra.Command{
		Use:   "version",
		Short: "Print the version of the program and of its files",
	}, func(context.Context, []string) error {
		v := version()
		return a.print(v, func(w io.Writer) {
			fmt.Fprintf(w, "reelsplice %s, %s, release format %d, catalogue version %s\n",
				v.Version, v.Go, v.ReleaseFormat, v.CatalogVersion)
		})
	})
}
