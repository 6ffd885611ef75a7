package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	gotoml "github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	envPrefix = "REELSPLICE_"
	keyDelim  = "."
)

// configure sets each flag of cmd that the command line leaves alone from the
// environment, or else from the config file. An empty variable counts as not set.
func (a *app) configure(cmd *cobra.Command) error {
	variables := koanf.New(keyDelim)
	o := env.Opt{Prefix: envPrefix, TransformFunc: flagOfVariable, EnvironFunc: a.Environ}
	if err := variables.Load(env.Provider(keyDelim, o), nil); err != nil {
		return fmt.Errorf("read environment: %w", err)
	}
	if path := variables.String("config"); a.config == "" && path != "" {
		a.config = path
	}
	settings, err := readConfig(a.config, cmd.Root())
	if err != nil {
		return err
	}
	var errs []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed && configurable(f.Name) {
			errs = append(errs, a.setFlag(cmd, f, variables, settings))
		}
	})
	return errors.Join(errs...)
}

// flagOfVariable turns REELSPLICE_MAX_AGE into max-age.
func flagOfVariable(name, value string) (flag string, v any) {
	if value == "" {
		return "", nil
	}
	name = strings.ToLower(strings.TrimPrefix(name, envPrefix))
	return strings.ReplaceAll(name, "_", "-"), value
}

func (a *app) setFlag(cmd *cobra.Command, f *pflag.Flag, variables, settings *koanf.Koanf) error {
	if v, ok := variables.Get(f.Name).(string); ok {
		if err := cmd.Flags().Set(f.Name, v); err != nil {
			return fmt.Errorf("%s%s: %w", envPrefix, strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")), err)
		}
		return nil
	}
	key, v := lookup(settings, configTables(cmd), f.Name)
	if key == "" {
		return nil
	}
	err := fmt.Errorf("want one value, not %T", v)
	switch v.(type) {
	case string, bool, int64, float64:
		err = cmd.Flags().Set(f.Name, fmt.Sprint(v))
	}
	if err != nil {
		return fmt.Errorf("config file %q: %s: %w", a.config, key, err)
	}
	return nil
}

// configTables returns the names of the tables that hold settings of cmd, the innermost
// first: token.issue, token and the top level, "".
func configTables(cmd *cobra.Command) []string {
	words := strings.Fields(cmd.CommandPath())[1:]
	var out []string
	for n := len(words); n >= 0; n-- {
		out = append(out, strings.Join(words[:n], keyDelim))
	}
	return out
}

// lookup returns the innermost setting of a flag; key is "" when there is none.
func lookup(settings *koanf.Koanf, tables []string, flag string) (key string, v any) {
	for _, table := range tables {
		key := strings.TrimPrefix(table+keyDelim+flag, keyDelim)
		v := settings.Get(key)
		// A table may be named like a flag: there are --releases and a command releases.
		if _, table := v.(map[string]any); v != nil && !table {
			return key, v
		}
	}
	return "", nil
}

// readConfig reads the config file, unless path is "".
func readConfig(path string, root *cobra.Command) (*koanf.Koanf, error) {
	k := koanf.New(keyDelim)
	if path == "" {
		return k, nil
	}
	err := k.Load(file.Provider(path), toml.Parser())
	var syntax *gotoml.DecodeError
	if errors.As(err, &syntax) {
		line, column := syntax.Position()
		return nil, fmt.Errorf("config file %q: line %d, column %d: %w", path, line, column, err)
	}
	if err != nil {
		return nil, fmt.Errorf("config file %q: %w", path, err)
	}
	if keys := unknownKeys(k.Raw(), root, ""); len(keys) > 0 {
		slices.Sort(keys)
		return nil, fmt.Errorf("config file %q: unknown key %s", path, strings.Join(keys, ", "))
	}
	return k, nil
}

// unknownKeys returns the keys that are no flag of cmd or of a command below it, and
// the tables that are no command.
func unknownKeys(settings map[string]any, cmd *cobra.Command, path string) []string {
	var out []string
	for key, v := range settings {
		table, isTable := v.(map[string]any)
		sub := subcommand(cmd, key)
		switch {
		case isTable && sub != nil:
			out = append(out, unknownKeys(table, sub, path+key+keyDelim)...)
		case isTable || !configurable(key) || !hasFlag(cmd, key):
			out = append(out, path+key)
		}
	}
	return out
}

// configurable reports whether a flag can be set elsewhere than on the command line.
func configurable(flag string) bool { return flag != "config" && flag != "help" && flag != "version" }

func subcommand(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// hasFlag reports whether cmd, or a command below it, has the flag.
func hasFlag(cmd *cobra.Command, name string) bool {
	if cmd.Flags().Lookup(name) != nil || cmd.Root().PersistentFlags().Lookup(name) != nil {
		return true
	}
	return slices.ContainsFunc(cmd.Commands(), func(c *cobra.Command) bool { return hasFlag(c, name) })
}
