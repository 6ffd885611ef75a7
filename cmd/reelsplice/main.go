// Command reelsplice turns dumps of movie data into a catalogue, the catalogue into a release, and serves the
// release. This package has the flags, the wiring and the exit codes; packages ingest, build and serve do the work.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reelsplice/reelsplice/build/array"
	"github.com/reelsplice/reelsplice/schemas/bug"
	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/schemas/text"
)

func main() { runProcess("/etc/reelsplice/reelsplice.toml") }

func runProcess(systemConfig string) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, process{
		Args: os.Args[1:], Environ: os.Environ, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, SystemConfig: systemConfig,
	}))
}

// process is the environment of a run, besides files and the network.
type process struct {
	Args           []string        // without the program's name
	Environ        func() []string // NAME=value
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	SystemConfig   string // system-wide config file, used if there is no other
}

// The exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130 // the shell's code for a process ended by Ctrl-C
)

// logPatience is how long the process waits at exit until the reader of stderr has taken the log.
const logPatience = time.Second

// run executes the command line and returns the exit code.
func run(ctx context.Context, p process) int {
	a := newApp(p)
	if a.terminal {
		a.Stderr = &screen{out: p.Stderr}
	}
	defer func() {
		if a.queue != nil {
			a.queue.Close(logPatience)
		}
	}()
	root := rootCommand(a)
	root.SetArgs(p.Args)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	code, text := exitFailure, oneLine(err)
	var usage *usageError
	switch {
	case errors.As(err, &usage) || !a.running:
		code = exitUsage
		text += fmt.Sprintf(" (run %q)", cmd.CommandPath()+" --help")
	case errors.Is(err, array.ErrRefused):
		code = exitUsage // a retry would fail again
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		code, text = exitInterrupted, "interrupted"
	default:
		text += ownerNote(err)
	}
	fmt.Fprintf(a.Stderr, "reelsplice: %s\n", text)
	return code
}

// usageError is a usage error found after the command has started.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// usage marks err as a usage error; nil stays nil.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

// oneLine returns the message of err as a single line.
func oneLine(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, text.Line(line))
		}
	}
	return strings.Join(lines, "; ")
}

// ownerNote names the owner of the file in a permission error, or of the nearest existing folder above it. It returns
// "" if that is the user of this process.
func ownerNote(err error) string {
	var denied *fs.PathError
	if !errors.As(err, &denied) || !errors.Is(denied, fs.ErrPermission) {
		return ""
	}
	path := file.Nearest(denied.Path)
	uid, known := file.Owner(path)
	if !known || uid == os.Geteuid() {
		return ""
	}
	return fmt.Sprintf(" (%s belongs to user %s)", path, file.UserName(uid))
}

// app is one run of the program: the state that all commands share.
type app struct {
	console
	settings
	checks  map[*cobra.Command]func() error
	running bool // the command line was valid
}

func newApp(p process) *app {
	return &app{console: console{process: p, terminal: isTerminal(p.Stderr)}, settings: settings{environ: p.Environ, system: p.SystemConfig}}
}

func rootCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "reelsplice",
		Short: "A self-hosted movie API, built from dumps",
		Long: "reelsplice turns dumps of movie data into a catalogue (ingest), the catalogue into an\n" +
			"immutable release (build), and serves the API from the release (serve).\n\n" +
			"\"reelsplice up\" does all of this with the built-in sample.\n\n" +
			"Every flag can also be set in the environment, as REELSPLICE_ and its name in capitals with\n" +
			"underscores (REELSPLICE_MAX_AGE=1h), and in a TOML file, at its top or in a table with the command's name.\n" +
			"A flag takes precedence over the environment, which takes precedence over the file. The file is --config, or else\n" +
			"REELSPLICE_CONFIG, or else " + folderConfig + " in this folder, or else /etc/reelsplice/reelsplice.toml.\n\n" +
			"Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted.",
		Version:       version().Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	c.SetVersionTemplate("reelsplice {{.Version}}\n")
	c.SetFlagErrorFunc(flagError)
	f := c.PersistentFlags()
	f.StringVar(&a.config, "config", "", "read flags from this TOML `FILE` and no other")
	f.BoolVar(&a.json, "json", false, "report as JSON")
	f.BoolVar(&a.quiet, "quiet", false, "no progress on stderr, and only warnings and errors in the log")
	f.TextVar(&a.logLevel, "log-level", slog.LevelInfo, "lowest `LEVEL` of log lines: debug, info, warn or error")
	a.checks = map[*cobra.Command]func() error{}
	c.AddCommand(
		upCommand(a), genCommand(a), crawlCommand(a), ingestCommand(a), buildCommand(a), publishCommand(a), rollbackCommand(a),
		releasesCommand(a), pruneCommand(a), verifyCommand(a), diffCommand(a), inspectCommand(a), serveCommand(a),
		tokenCommand(a), healthCommand(a), doctorCommand(a), certCommand(a), versionCommand(a), openapiCommand(a),
		manCommand(a),
	)
	c.InitDefaultCompletionCmd()
	c.SetHelpCommand(helpCommand())
	group(c)
	for _, sub := range c.Commands() {
		if sub.HasSubCommands() && !sub.Runnable() {
			group(sub)
		}
	}
	a.addCompletions(c)
	help := c.HelpFunc()
	c.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		help(cmd, args)
		fmt.Fprintf(a.Stdout, "\nConfig file here: %s\n", cmp.Or(a.configFile(), "none"))
	})
	return c
}

// leaf completes a command with an action: it sets the flags from all sources before run.
func (a *app) leaf(c *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	if c.Args == nil {
		c.Args = argCount(0, 0)
	}
	c.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.configure(cmd); err != nil {
			return err
		}
		return cmd.ValidateRequiredFlags()
	}
	c.RunE = func(cmd *cobra.Command, args []string) (err error) {
		a.running = true
		defer bug.Catch(&err)
		return run(cmd.Context(), args)
	}
	return c
}

// checked is leaf for a command that validates its flags beyond parsing. The doctor runs check too.
func (a *app) checked(c *cobra.Command, check func() error, run func(ctx context.Context, args []string) error) *cobra.Command {
	a.checks[c] = check
	return a.leaf(c, func(ctx context.Context, args []string) error {
		if err := usage(check()); err != nil {
			return err
		}
		return run(ctx, args)
	})
}

// group completes a command that only holds subcommands. Without an argument, the root prints its help.
func group(c *cobra.Command) {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return unknownCommand(cmd, args[0])
		case cmd.HasParent():
			var names []string
			for _, sub := range cmd.Commands() {
				names = append(names, sub.Name())
			}
			return fmt.Errorf("%s: want one of %s after it", cmd.Name(), strings.Join(names, ", "))
		}
		return cmd.Help()
	}
}

func unknownCommand(parent *cobra.Command, name string) error {
	err := fmt.Errorf("unknown command %q for %q", name, parent.CommandPath())
	parent.SuggestionsMinimumDistance = 2
	if names := parent.SuggestionsFor(name); len(names) > 0 {
		err = fmt.Errorf("%w: did you mean %q?", err, names[0])
	}
	return err
}

// flagError explains an unknown or invalid flag. An unknown command takes precedence.
func flagError(c *cobra.Command, err error) error {
	if args := c.Flags().Args(); c.HasSubCommands() && len(args) > 0 && !errors.Is(err, pflag.ErrHelp) {
		return unknownCommand(c, args[0])
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if names = similar(unknown.GetSpecifiedName(), names); len(names) > 0 {
			err = fmt.Errorf("%w: did you mean --%s?", err, names[0])
		}
	}
	var invalid *pflag.InvalidValueError
	if plain := plainValue(err); plain != err && errors.As(err, &invalid) {
		err = fmt.Errorf("--%s: %w", invalid.GetFlag().Name, plain)
	}
	return err
}

// plainValue replaces an error of package strconv, which names Go functions, by a plain one.
func plainValue(err error) error {
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	switch {
	case !errors.As(err, &invalid) || !errors.As(err, &number):
		return err
	case number.Func == "ParseBool":
		return fmt.Errorf("want true or false, found %q", invalid.GetValue())
	default:
		return fmt.Errorf("want a number, found %q", invalid.GetValue())
	}
}

// similar returns the names that are similar to name, by cobra's rule for commands.
func similar(name string, names []string) []string {
	c := &cobra.Command{SuggestionsMinimumDistance: 2}
	if len(name) < 5 {
		c.SuggestionsMinimumDistance = 1
	}
	for _, n := range names {
		c.AddCommand(&cobra.Command{Use: n, Run: func(*cobra.Command, []string) {}})
	}
	return c.SuggestionsFor(name)
}

// argCount accepts low to high arguments. A negative high means no limit.
func argCount(low, high int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < low:
			return fmt.Errorf("too few arguments: want %q", c.UseLine())
		case high >= 0 && len(args) > high:
			return fmt.Errorf("unexpected argument %q: want %q", args[high], c.UseLine())
		}
		return nil
	}
}

// required marks required flags.
func required(c *cobra.Command, names ...string) {
	for _, name := range names {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is not defined
		}
	}
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		RunE: func(c *cobra.Command, args []string) error {
			cmd, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd, args[len(args)-max(1, len(rest))])
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}
