package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reelsplice/reelsplice/serve"
	"github.com/reelsplice/reelsplice/serve/doctor"
)

func doctorCommand(a *app) *cobra.Command {
	cfg := serve.DefaultConfig()
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Find problems in this installation",
		Long: "doctor takes the flags of serve, from the same environment and the [serve] table of the config file, and checks\n" +
			"everything that serve depends on: addresses, limits, releases or their bucket and age, tokens, keys and certificate.\n" +
			"With --admin-addr it also checks that the running edge is ready, and lists the unknown keys that the edge refused\n" +
			"last. It prints a fix for each problem. doctor changes nothing and may run next to the edge. Run it as the edge's\n" +
			"user, because other users may have other permissions.\n\n" +
			"The exit code is 1 if the edge would not serve. Warnings, such as about settings of other commands, do not change it.",
		Annotations: map[string]string{settingsOf: "serve"},
	}
	installationFlags(c, &cfg)
	return a.leaf(c, func(ctx context.Context, _ []string) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		findings := append(a.unknownVariables(c.Root()), a.refusedSettings()...)
		in := doctor.Installation{Now: time.Now(), Catalog: a.setting("build", "catalog"), Command: program(), ConfigFile: a.config}
		in.BucketErr = openReleases(ctx, &cfg)
		in.Config = cfg
		found, err := in.Examine(ctx)
		if err != nil {
			return err
		}
		findings = append(findings, found...)
		err = a.print(findings, func(w io.Writer) {
			for _, f := range findings {
				fmt.Fprintf(w, "%s\t%s\t%s\n", f.Level, f.Check, f.Text)
				if f.Fix != "" {
					fmt.Fprintf(w, "\t\tfix: %s\n", f.Fix)
				}
			}
		})
		if err != nil {
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

// unknownVariables finds environment variables that look like settings but are not.
func (a *app) unknownVariables(root *cobra.Command) (findings []doctor.Finding) {
	flags := flagsBelow(root)
	for _, v := range a.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, envPrefix) || name == envPrefix+"CONFIG" || slices.ContainsFunc(flags, func(f string) bool { return variableOf(f) == name }) {
			continue
		}
		fix := "unset " + name
		flag := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, envPrefix)), "_", "-")
		if names := similar(flag, flags); len(names) > 0 {
			fix += ", and set " + variableOf(names[0]) + " if you meant that"
		}
		findings = append(findings, doctor.Finding{Check: "environment", Level: doctor.Warn, Text: name + " is not a setting", Fix: fix})
	}
	return findings
}

// refusedSettings finds settings that other commands reject. They do not affect the edge.
func (a *app) refusedSettings() (findings []doctor.Finding) {
	other := newApp(a.process)
	root, found := rootCommand(other), map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		name := strings.TrimPrefix(c.CommandPath(), root.Name()+" ")
		other.config = a.config
		err := other.configure(c)
		if check := other.checks[c]; err == nil && check != nil && c.ValidateRequiredFlags() == nil {
			if err = check(); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
		}
		if err != nil && !found[err.Error()] {
			found[err.Error()] = true
			findings = append(findings, doctor.Finding{
				Check: "config", Level: doctor.Warn, Text: oneLine(err), Fix: "correct it in " + cmp.Or(a.config, "the environment"),
			})
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return findings
}
