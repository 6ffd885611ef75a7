package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// addCompletions registers shell completions for flags and arguments. root must have all its subcommands.
func (a *app) addCompletions(root *cobra.Command) {
	var kinds, stages []string
	for _, t := range catalog.Types() {
		kinds = append(kinds, t.Name())
	}
	for _, s := range task.Stages() {
		stages = append(stages, s.Name)
	}
	values := map[string][]string{
		"layout": ingest.Layouts(), "kind": kinds, "engine": {"slurm", "kubernetes", "processes"},
		"cache":     {edge.CachePublic, edge.CachePrivate, edge.CacheRevalidate},
		"log-level": {"debug", "info", "warn", "error"},
	}
	arguments := map[string]cobra.CompletionFunc{
		"publish": a.releaseIDs, "verify": a.releaseIDs, "diff": a.releaseIDs, "task": cobra.FixedCompletions(stages, cobra.ShellCompDirectiveNoFileComp),
	}
	var add func(*cobra.Command)
	add = func(c *cobra.Command) {
		complete := func(f *pflag.Flag) {
			if list, ok := values[f.Name]; ok {
				_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)) // fails only for a second registration
			}
		}
		c.LocalNonPersistentFlags().VisitAll(complete)
		c.PersistentFlags().VisitAll(complete)
		if c.Runnable() && c.ValidArgsFunction == nil {
			c.ValidArgsFunction = arguments[c.Name()]
		}
		switch c.Name() {
		case "revoke":
			_ = c.RegisterFlagCompletionFunc("name", a.tokenNames)
		case "inspect":
			_ = c.RegisterFlagCompletionFunc("release", a.releaseIDs)
		}
		for _, sub := range c.Commands() {
			add(sub)
		}
	}
	add(root)
}

// releaseIDs completes release ids, newest first. It ignores errors.
func (a *app) releaseIDs(c *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
	if a.configure(c) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx := c.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	_ = a.atStore(ctx, c.Flag("releases").Value.String(), func(s releaseSet) error {
		infos, err := s.List(ctx)
		for _, i := range infos {
			ids = append(ids, i.ID)
		}
		return err
	})
	if c.Name() == "diff" {
		ids = append(ids, "current", "previous")
	}
	return slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(args, id) }), cobra.ShellCompDirectiveNoFileComp
}

// tokenNames completes names of tokens that are not revoked.
func (a *app) tokenNames(c *cobra.Command, _ []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	if a.configure(c) == nil {
		records, _ := auth.List(c.Flag("tokens").Value.String())
		for i := range records {
			if records[i].Revoked.IsZero() {
				names = append(names, records[i].Name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
