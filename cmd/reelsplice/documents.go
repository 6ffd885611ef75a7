package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/file"
)

// manCommand is hidden: only package builds run it.
func manCommand(a *app) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:    "man --out DIR",
		Short:  "Write the manual pages",
		Hidden: true,
		Long:   "man writes a manual page for each command to DIR. Their date is SOURCE_DATE_EPOCH, or today.",
	}
	c.Flags().StringVar(&out, "out", "", "`DIR` of the pages, created if missing")
	required(c, "out")
	return a.leaf(c, func(context.Context, []string) error {
		if err := os.MkdirAll(out, 0o755); err != nil {
			return fmt.Errorf("make folder of manual pages: %w", err)
		}
		root := rootCommand(newApp(process{}))
		root.DisableAutoGenTag = true
		asMarkdown(root)
		header := &doc.GenManHeader{Section: "1", Source: "reelsplice " + version().Version, Manual: "reelsplice"}
		if err := doc.GenManTree(root, header, out); err != nil {
			return fmt.Errorf("write manual pages to %q: %w", out, err)
		}
		return nil
	})
}

// asMarkdown escapes the texts of c and its subcommands for the page generator, which reads them as Markdown.
// Defaults do not depend on this machine.
func asMarkdown(c *cobra.Command) {
	c.Short, c.Long = markdown.Replace(c.Short), markdown.Replace(c.Long)
	edit := func(f *pflag.Flag) {
		name, text := pflag.UnquoteUsage(f)
		f.Usage = markdown.Replace(text)
		if name != strings.ToLower(name) && !strings.Contains(text, name) { // SIZE, but not the Go type
			f.Usage = name + ": " + f.Usage
		}
		f.DefValue = defaultOf(f)
	}
	c.LocalNonPersistentFlags().VisitAll(edit)
	c.PersistentFlags().VisitAll(edit)
	for _, sub := range c.Commands() {
		asMarkdown(sub)
	}
}

// defaultOf returns the default of a flag for documents, which must not depend on the machine.
func defaultOf(f *pflag.Flag) string {
	if f.Name == "jobs" || f.Name == "parallel" {
		return "CPUs"
	}
	return f.DefValue
}

var markdown = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "<", `\<`, "`", "\\`")

func openapiCommand(a *app) *cobra.Command {
	var out, spec string
	c := &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document of the API",
		Long: "openapi prints the OpenAPI document of the operations that the edge serves, as JSON: parameters, responses,\n" +
			"errors and credentials. It describes this version of the program, not the release.\n\n" +
			"The document is OpenAPI 3.1. For tools that cannot read 3.1, --spec 3.0 prints it as 3.0, which allows any\n" +
			"additional field where 3.1 has patterns of names, such as season/1 appended to a series.",
		Example: "  reelsplice openapi --out openapi.json",
	}
	f := c.Flags()
	f.StringVar(&out, "out", "", "write to `FILE` instead of stdout")
	f.StringVar(&spec, "spec", "3.1", "`VERSION` of OpenAPI: 3.1 or 3.0")
	return a.leaf(c, func(context.Context, []string) error {
		text := api.OpenAPI()
		switch spec {
		case "3.1":
		case "3.0":
			text = api.OpenAPI30()
		default:
			return usage(fmt.Errorf("spec %q: want 3.1 or 3.0", spec))
		}
		if len(text) == 0 {
			return errors.New("the document in this program is damaged: reinstall the program")
		}
		if out == "" {
			return a.write(text)
		}
		if err := file.WriteFile(out, text, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", out, err)
		}
		return nil
	})
}
