package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const envPrefix = "REELSPLICE_"

// settingsOf is the annotation of a command that looks at another one's installation: it takes the flags
// they share from that one's table of the config file.
const settingsOf = "settings of"

// ownTable is the annotation of a flag that the top of the config file does not set: a command with a folder of its own
// does not take that of the others.
const ownTable = "own table"

// configure sets each flag of cmd that is absent from the command line from the environment,
// or else from the config file. An empty variable counts as absent.
func (a *app) configure(cmd *cobra.Command) error {
	variables := a.variables()
	a.config = a.configFile()
	var err error
	if a.settings, err = readConfig(a.config, cmd.Root()); err != nil {
		return err
	}
	var errs []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed && configurable(f.Name) {
			errs = append(errs, a.setFlag(cmd, f, variables))
		}
	})
	return errors.Join(errs...)
}

// variables returns the variables of the environment that set flags.
func (a *app) variables() map[string]string {
	variables := map[string]string{}
	for _, v := range a.Environ() {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, envPrefix) && value != "" {
			variables[name] = value
		}
	}
	return variables
}

// folderConfig is the config file of a folder.
const folderConfig = "reelsplice.toml"

// configFile returns the config file: that of the flag, of the environment, of this folder or of the system; "" for none.
func (a *app) configFile() string {
	if path := cmp.Or(a.config, a.variables()[envPrefix+"CONFIG"]); path != "" {
		return path
	}
	for _, path := range []string{folderConfig, a.SystemConfig} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

func (a *app) setFlag(cmd *cobra.Command, f *pflag.Flag, variables map[string]string) error {
	variable := variableOf(f.Name)
	if v, ok := variables[variable]; ok {
		if err := cmd.Flags().Set(f.Name, v); err != nil {
			return fmt.Errorf("%s: %w", variable, err)
		}
		return nil
	}
	key, v := lookup(a.settings, strings.Fields(cmd.CommandPath())[1:], f.Name)
	if f.Annotations[ownTable] != nil && key == f.Name {
		return nil
	}
	if other := cmd.Annotations[settingsOf]; other != "" && (key == "" || key == f.Name) {
		if k, value := lookup(a.settings, []string{other}, f.Name); k != "" {
			key, v = k, value
		}
	}
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

// variableOf returns the variable that sets a flag: that of max-age is REELSPLICE_MAX_AGE.
func variableOf(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// lookup returns the innermost setting of a flag in the tables of a command, such as
// [token.issue], [token] and the top; key is "" if there is none.
func lookup(settings map[string]any, command []string, flag string) (key string, v any) {
	for n := len(command); n >= 0; n-- {
		table := settings
		for _, name := range command[:n] {
			table, _ = table[name].(map[string]any)
		}
		// A table may be named like a flag: there are --releases and a command releases.
		if _, isTable := table[flag].(map[string]any); table[flag] != nil && !isTable {
			return strings.Join(append(slices.Clone(command[:n]), flag), "."), table[flag]
		}
	}
	return "", nil
}

// readConfig reads the config file; without a path there are no settings.
func readConfig(path string, root *cobra.Command) (map[string]any, error) {
	settings := map[string]any{}
	if path == "" {
		return settings, nil
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = toml.Unmarshal(data, &settings)
	}
	var syntax *toml.DecodeError
	if errors.As(err, &syntax) {
		line, column := syntax.Position()
		return nil, fmt.Errorf("config file %q: line %d, column %d: %w", path, line, column, err)
	}
	if err != nil {
		return nil, fmt.Errorf("config file %q: %w", path, err)
	}
	if keys := unknownKeys(settings, root, ""); len(keys) > 0 {
		slices.Sort(keys)
		return nil, fmt.Errorf("config file %q: unknown key %s", path, strings.Join(keys, ", "))
	}
	return settings, nil
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
			out = append(out, unknownKeys(table, sub, path+key+".")...)
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
