package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// versionReport has the versions of the program and of the files that it reads.
type versionReport struct {
	Version        string `json:"version"`
	Revision       string `json:"revision,omitempty"`
	Go             string `json:"go"`
	ReleaseFormat  int    `json:"release_format"`
	CatalogVersion string `json:"catalog_version"`
}

// nextVersion is the version under development. Builds of a tag have the tag's.
const nextVersion = "0.1.0-dev"

func version() versionReport {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionOf(info)
}

// versionOf returns the version of a build: its tag, or else nextVersion with the commit, if known. go run has none.
func versionOf(info *debug.BuildInfo) versionReport {
	v := versionReport{
		Version: info.Main.Version, Go: info.GoVersion, ReleaseFormat: release.FeatureVersion, CatalogVersion: catalog.FormatVersion,
	}
	dirty := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v.Revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = ".dirty"
		}
	}
	untagged := v.Version == "" || v.Version == "(devel)" || strings.HasPrefix(v.Version, "v0.0.0-")
	switch {
	case untagged && v.Revision != "":
		v.Version = nextVersion + "+" + v.Revision[:min(12, len(v.Revision))] + dirty
	case untagged:
		v.Version = nextVersion
	}
	v.Version = strings.TrimPrefix(v.Version, "v")
	return v
}

func versionCommand(a *app) *cobra.Command {
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
