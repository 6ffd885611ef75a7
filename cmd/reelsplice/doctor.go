package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reelsplice/reelsplice/serve"
	"github.com/reelsplice/reelsplice/serve/doctor"
)

// doctorTimeout bounds questions to an edge that runs, and to a bucket.
const doctorTimeout = 10 * time.Second

func doctorCommand(a *app) *cobra.Command {
	cfg := serve.DefaultConfig()
	c := &cobra.Command{
		Use:   "doctor --releases DIR|URL --tokens FILE",
		Short: "Find what is wrong with this installation",
		Long: "doctor takes the flags of serve, from the same environment and the [serve] table of the config file, and checks\n" +
			"what serve would find: addresses, limits, memory, disk, releases, tokens, certificate and clock. Each problem\n" +
			"comes with the command that mends it. It changes nothing and may run beside the edge.\n\n" +
			"The exit code is 1 if the edge would not serve. Warnings leave it at 0.",
		Example:     "  reelsplice doctor --config /etc/reelsplice/reelsplice.toml",
		Annotations: map[string]string{settingsOf: "serve"},
	}
	installationFlags(c, &cfg)
	return a.leaf(c, func(ctx context.Context, _ []string) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		findings := a.unknownVariables(c.Root())
		closeReleases, err := openReleases(ctx, &cfg)
		if err != nil {
			return err
		}
		defer closeReleases()
		in := doctor.Installation{Config: cfg, Now: time.Now(), Ready: func(ctx context.Context, addr string) (string, error) {
			ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
			defer cancel()
			h, err := askReady(ctx, addr)
			return h.Text, err
		}}
		found, err := in.Examine(ctx)
		if err != nil {
			return err
		}
		findings = append(findings, found...)
		if err := a.print(findings, func(w io.Writer) { writeFindings(w, findings) }); err != nil {
			return err
		}
		failed := 0
		for _, f := range findings {
			if f.Level == doctor.Fail {
				failed++
			}
		}
		if failed > 0 {
			return errors.New(plural(failed, "check") + " failed")
		}
		return nil
	})
}

func writeFindings(w io.Writer, findings []doctor.Finding) {
	for _, f := range findings {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Level, f.Check, f.Text)
		if f.Mend != "" {
			fmt.Fprintf(w, "\t\tmend: %s\n", f.Mend)
		}
	}
}

// unknownVariables finds variables of the environment that look like settings and are none.
func (a *app) unknownVariables(root *cobra.Command) (findings []doctor.Finding) {
	for _, v := range a.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, envPrefix) || name == envPrefix+"CONFIG" || hasVariable(root, name) {
			continue
		}
		findings = append(findings, doctor.Finding{
			Check: "environment", Level: doctor.Warn, Text: name + " is no setting", Mend: "reelsplice serve --help lists the settings",
		})
	}
	return findings
}

// hasVariable reports whether a flag of cmd, or of a command below it, can be set by the variable.
func hasVariable(cmd *cobra.Command, name string) (found bool) {
	look := func(f *pflag.Flag) { found = found || configurable(f.Name) && variableOf(f.Name) == name }
	cmd.Flags().VisitAll(look)
	cmd.PersistentFlags().VisitAll(look)
	return found || slices.ContainsFunc(cmd.Commands(), func(c *cobra.Command) bool { return hasVariable(c, name) })
}
