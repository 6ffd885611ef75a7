package main

import (
	"cmp"
	"encoding/csv"
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

// settingsOf annotates a command that reads its flags from another command's table of the config file, as doctor does
// from serve's.
const settingsOf = "settings of"

// ownTable annotates a flag of up that ignores the top of the config file, because up has its own folder.
const ownTable = "own table"

// settings are the sources of flag values other than the command line.
type settings struct {
	environ func() []string
	system  string         // config file of the system
	config  string         // config file, "" for none
	values  map[string]any // settings in the config file
}

// configure sets each flag of cmd that is absent from the command line from the environment, or else from the config
// file. An empty variable counts as absent.
func (s *settings) configure(cmd *cobra.Command) error {
	variables := s.variables()
	s.config = s.configFile()
	var err error
	if s.values, err = readConfig(s.config, cmd.Root()); err != nil {
		return err
	}
	var errs []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed && configurable(f.Name) {
			errs = append(errs, s.setFlag(cmd, f, variables))
		}
	})
	return errors.Join(errs...)
}

// variables returns the environment variables that set flags.
func (s *settings) variables() map[string]string {
	variables := map[string]string{}
	for _, v := range s.environ() {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, envPrefix) && value != "" {
			variables[name] = value
		}
	}
	return variables
}

// folderConfig is the config file of a folder.
const folderConfig = "reelsplice.toml"

// configFile returns the config file: from the flag, the environment, this folder or the system; "" for none.
func (s *settings) configFile() string {
	if path := cmp.Or(s.config, s.variables()[envPrefix+"CONFIG"]); path != "" {
		return path
	}
	for _, path := range []string{folderConfig, s.system} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

func (s *settings) setFlag(cmd *cobra.Command, f *pflag.Flag, variables map[string]string) error {
	variable := variableOf(f.Name)
	if v, ok := variables[variable]; ok {
		if err := setText(cmd, f, v); err != nil {
			return fmt.Errorf("%s: %w", variable, plainValue(err))
		}
		return nil
	}
	key, v := lookup(s.values, strings.Fields(cmd.CommandPath())[1:], f.Name)
	if f.Annotations[ownTable] != nil && key == f.Name {
		return nil
	}
	if other := cmd.Annotations[settingsOf]; other != "" && (key == "" || key == f.Name) {
		if k, value := lookup(s.values, []string{other}, f.Name); k != "" {
			key, v = k, value
		}
	}
	if key == "" {
		return nil
	}
	if err := setValue(cmd, f, v); err != nil {
		return fmt.Errorf("config file %q: %s: %w", s.config, key, plainValue(err))
	}
	return nil
}

// setText sets a flag from a variable. For a repeatable flag, the variable is a line of CSV with its values.
func setText(cmd *cobra.Command, f *pflag.Flag, text string) error {
	if _, isList := f.Value.(pflag.SliceValue); !isList {
		return cmd.Flags().Set(f.Name, text)
	}
	cells, err := csv.NewReader(strings.NewReader(text)).Read()
	if err != nil {
		return fmt.Errorf("want comma-separated values: %w", err)
	}
	for _, cell := range cells {
		if err := cmd.Flags().Set(f.Name, cell); err != nil {
			return err
		}
	}
	return nil
}

// setValue sets a flag from a TOML value, which may be a list only for a repeatable flag.
func setValue(cmd *cobra.Command, f *pflag.Flag, v any) error {
	switch v := v.(type) {
	case string, bool, int64, float64:
		return cmd.Flags().Set(f.Name, fmt.Sprint(v))
	case []any:
		if _, isList := f.Value.(pflag.SliceValue); !isList {
			break
		}
		for _, element := range v {
			if _, nested := element.([]any); nested {
				return errors.New("want a list of values, not of lists")
			}
			if err := setValue(cmd, f, element); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.New("want one value")
}

// variableOf returns the variable that sets a flag, such as REELSPLICE_MAX_AGE for max-age.
func variableOf(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// lookup returns the innermost setting of a flag: from [token.issue], or else [token], or else the top of the file. key
// is "" if none sets the flag.
func lookup(settings map[string]any, command []string, flag string) (key string, v any) {
	for n := len(command); n >= 0; n-- {
		table := settings
		for _, name := range command[:n] {
			table, _ = table[name].(map[string]any)
		}
		// A table may have the name of a flag: there are --releases and a command releases.
		if _, isTable := table[flag].(map[string]any); table[flag] != nil && !isTable {
			return strings.Join(append(slices.Clone(command[:n]), flag), "."), table[flag]
		}
	}
	return "", nil
}

// readConfig reads the config file. An empty path means no settings.
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

// unknownKeys returns keys that are not flags of cmd or its subcommands, and tables that are not commands, each with a
// suggestion.
func unknownKeys(settings map[string]any, cmd *cobra.Command, path string) []string {
	var unknown, tables []string
	commands := map[string]*cobra.Command{}
	for _, c := range cmd.Commands() {
		commands[c.Name()] = c
		tables = append(tables, c.Name())
	}
	for key, v := range settings {
		table, isTable := v.(map[string]any)
		switch {
		case isTable && commands[key] != nil:
			unknown = append(unknown, unknownKeys(table, commands[key], path+key+".")...)
		case isTable:
			unknown = append(unknown, path+key+didYouMean(path, similar(key, tables)))
		default:
			if flags := flagsBelow(cmd); !slices.Contains(flags, key) {
				unknown = append(unknown, path+key+didYouMean(path, similar(key, flags)))
			}
		}
	}
	return unknown
}

// configurable reports whether a flag can be set outside the command line.
func configurable(flag string) bool { return flag != "config" && flag != "help" && flag != "version" }

// didYouMean suggests the first of the similar names.
func didYouMean(path string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s%s?)", path, names[0])
}

// flagsBelow returns the names of the flags of cmd and its subcommands, and of the global flags.
func flagsBelow(cmd *cobra.Command) (names []string) {
	add := func(f *pflag.Flag) {
		if configurable(f.Name) {
			names = append(names, f.Name)
		}
	}
	cmd.Flags().VisitAll(add)
	cmd.Root().PersistentFlags().VisitAll(add)
	for _, sub := range cmd.Commands() {
		names = append(names, flagsBelow(sub)...)
	}
	return names
}
