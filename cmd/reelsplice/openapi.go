package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/durable"
)

func openapiCommand(a *app) *cobra.Command {
	var out, spec string
	c := &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document of the API",
		Long: "openapi prints the OpenAPI document of the operations that the edge serves, as JSON: parameters, responses,\n" +
			"errors and credentials. It is that of this version of the program, whatever the release holds.\n\n" +
			"The document is OpenAPI 3.1. For tools that read no 3.1, --spec 3.0 prints it as 3.0, which allows any\n" +
			"further field where 3.1 has patterns of names, such as season/1 appended to a series.",
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
			return errors.New("the document in this program is damaged: install the program anew")
		}
		if out == "" {
			return a.write(text)
		}
		if err := durable.WriteFile(out, text, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", out, err)
		}
		return nil
	})
}
