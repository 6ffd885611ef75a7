package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// generated compares a document of docs/reference with its generator, or writes it.
func generated(t *testing.T, name, want string) {
	t.Helper()
	sharedtest.Golden(t, filepath.Join("..", "..", "docs", "reference", name), want)
}

// generatedPart is generated for the part of a document between comments with its name.
func generatedPart(t *testing.T, name, part, want string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", name))
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- begin "+part+" -->\n", "<!-- end "+part+" -->"
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("docs/reference/%s has no place between %q and %q", name, begin, end)
	}
	generated(t, name, head+begin+want+end+tail)
}

// TestReferenceCommands: docs/reference/commands.md has every command with its flags.
func TestReferenceCommands(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Commands\n\n<!-- Generated from the commands: go test ./cmd/reelsplice -run TestReference -update -->\n\n" +
		"Every command takes the flags of the last section too. [Configuration](configuration.md) explains how to set flags by\n" +
		"environment and file. Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted.\n")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(7)) // a default that depends on the CPUs shows as 7
	a := newApp(process{})
	root := rootCommand(a)
	describeCommands(&b, root)
	b.WriteString("\n## Flags of every command\n")
	describeFlags(&b, root.PersistentFlags())
	generated(t, "commands.md", b.String())
}

// describeCommands writes the visible commands below c, depth first.
func describeCommands(b *strings.Builder, c *cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.Hidden || sub.Name() == "help" || sub.Name() == "completion" {
			continue
		}
		if sub.Runnable() {
			long := sub.Long
			if long == "" {
				long = sub.Short
			}
			fmt.Fprintf(b, "\n## %s\n\n```\n%s\n```\n\n%s\n", strings.TrimPrefix(sub.CommandPath(), "reelsplice "), sub.UseLine(), strings.TrimSpace(long))
			if sub.Example != "" {
				fmt.Fprintf(b, "\n```console\n%s\n```\n", strings.TrimRight(sub.Example, "\n"))
			}
			describeFlags(b, sub.NonInheritedFlags())
		}
		describeCommands(b, sub)
	}
}

// describeFlags writes a table of flags, if there are any.
func describeFlags(b *strings.Builder, flags *pflag.FlagSet) {
	var rows strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		def := defaultOf(f)
		if def == "[]" || def == "false" || def == "0" {
			def = ""
		}
		usage = strings.ReplaceAll(strings.Join(strings.Fields(usage), " "), "|", "\\|")
		fmt.Fprintf(&rows, "| `--%s` | %s | %s | %s |\n", f.Name, name, def, usage)
	})
	if rows.Len() > 0 {
		b.WriteString("\n| flag | value | default | |\n| --- | --- | --- | --- |\n" + rows.String())
	}
}

// TestReferenceOperations: docs/reference/operations.md has every read operation.
func TestReferenceOperations(t *testing.T) {
	var b strings.Builder
	group := ""
	for i := range api.Operations() {
		op := &api.Operations()[i]
		if op.Writes || op.Method != "GET" {
			continue
		}
		if op.Group != group {
			group = op.Group
			fmt.Fprintf(&b, "\n### %s\n\n| path | parameters | appended names |\n| --- | --- | --- |\n", strings.ToLower(strings.ReplaceAll(group, "_", " ")))
		}
		var params, names []string
		for _, p := range op.QueryParams {
			params = append(params, "`"+p.Name+"`")
		}
		for _, n := range api.AppendNames(op.Appends) {
			names = append(names, "`"+n.Name+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", op.Path, strings.Join(params, " "), strings.Join(names, " "))
	}
	b.WriteString("\n")
	generatedPart(t, "operations.md", "operations", b.String())
}

// TestReferenceMetrics: docs/reference/metrics.md has the metrics of the edge.
func TestReferenceMetrics(t *testing.T) {
	var b strings.Builder
	b.WriteString("| metric | type | meaning |\n| --- | --- | --- |\n")
	for _, d := range observe.Descriptions {
		name, help := d.Name, strings.TrimSuffix(d.Help, ".")
		if len(d.Labels) > 0 {
			name += "{" + strings.Join(d.Labels, ",") + "}"
		}
		if d.With != "" {
			help += "; only " + d.With
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, d.Type, help)
	}
	generatedPart(t, "metrics.md", "metrics", b.String())
}
