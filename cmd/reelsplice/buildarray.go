package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/array"
	"github.com/reelsplice/reelsplice/build/task"
	"github.com/reelsplice/reelsplice/build/work"
)

func workFlag(f *pflag.FlagSet, s *array.Site) {
	f.StringVar(&s.Work, "work", "", "`DIR` that all tasks of this build share")
}

// sourceFlags adds the flags for catalogue and releases, which default to the plan's.
func sourceFlags(f *pflag.FlagSet, s *array.Site) {
	f.StringVar(&s.Catalog, "catalog", "", "`DIR` of the catalogue (default the plan's)")
	f.StringVar(&s.Releases.Dir, "releases", "", "`DIR` of the releases (default the plan's)")
}

// machineFlags adds the resource limits of a process.
func machineFlags(f *pflag.FlagSet, s *array.Site) {
	s.Memory = build.DefaultConfig().Memory
	f.StringVar(&s.Scratch, "scratch", "", "local `DIR` for temporary files (default the system's)")
	f.IntVar(&s.Jobs, "jobs", runtime.GOMAXPROCS(0), "tasks that run in parallel")
	f.Var(bytesFlag[int64]{&s.Memory}, "memory", "memory limit, such as 512MiB")
}

// openSite completes s: catalogue and releases default to the plan's. A missing plan is no error here, because the
// command reports it.
func (a *app) openSite(s *array.Site) (err error) {
	if s.Jobs < 1 && s.Memory > 0 {
		return usage(fmt.Errorf("jobs %d: want 1 or more", s.Jobs))
	}
	s.Program, s.Log = programVersion(), a.logger()
	if s.Work, err = workFolder(s.Work); err != nil {
		return err
	}
	if s.Catalog == "" || s.Releases.Dir == "" {
		p, err := work.ReadPlan(s.Work)
		switch {
		case err == nil:
			s.Catalog, s.Releases.Dir = cmp.Or(s.Catalog, p.Catalog), cmp.Or(s.Releases.Dir, p.Releases)
		case !errors.Is(err, os.ErrNotExist):
			return err
		}
	}
	if s.Catalog, err = catalogFolder(s.Catalog); err != nil {
		return err
	}
	s.Releases.Dir, err = releasesFolder(s.Releases.Dir)
	return err
}

// programVersion identifies this executable. Without a clean commit, the version alone is ambiguous, so it includes a
// hash of the file.
func programVersion() string {
	v := version()
	if v.Revision != "" && !strings.HasSuffix(v.Version, ".dirty") {
		return v.Version
	}
	path, err := os.Executable()
	if err != nil {
		return v.Version
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return v.Version
	}
	return fmt.Sprintf("%s+%.8x", v.Version, sha256.Sum256(program))
}

func buildPlanCommand(a *app) *cobra.Command {
	var s array.Site
	cfg := build.DefaultConfig()
	c := &cobra.Command{
		Use:   "plan --work DIR",
		Short: "Divide a build into tasks",
		Long: "plan divides a build into tasks and writes the plan to the work folder, which only this build may use. It keeps an\n" +
			"existing plan. \"build submit\" makes an engine run the steps: plan, each stage with \"build task\", and \"build seal\".",
	}
	f := c.Flags()
	f.StringVar(&cfg.Catalog, "catalog", defaultCatalog, "`DIR` of the catalogue")
	f.StringVar(&cfg.Releases, "releases", defaultReleases, "`DIR` of the releases")
	workFlag(f, &s)
	machineFlags(f, &s)
	contentFlags(f, &cfg)
	required(c, "work")
	return a.checked(c, cfg.Validate, func(ctx context.Context, _ []string) (err error) {
		s.Catalog, s.Releases.Dir = cfg.Catalog, cfg.Releases
		if err := a.openSite(&s); err != nil {
			return err
		}
		params := work.Params{Catalog: cfg.Catalog, Releases: cfg.Releases, Level: cfg.Level, Fallback: cfg.Fallback, Full: cfg.Full, Version: version().Version}
		if params.Previous, err = a.previousRelease(ctx, s.Releases, cfg.Previous); err != nil {
			return err
		}
		p, err := array.Plan(s, params)
		if err != nil {
			return err
		}
		v := struct {
			Plan     string           `json:"plan"`
			Records  map[string]int64 `json:"records"`
			Titles   int              `json:"title_tasks"`
			Parts    int              `json:"resource_tasks"`
			Previous string           `json:"previous"`
		}{p.ID(), p.Records, p.TitleTasks(), p.Partitions(), p.Previous}
		return a.print(v, func(w io.Writer) {
			fmt.Fprintf(w, "plan\t%s: %s and %s, based on %s\n", v.Plan, plural(v.Titles, "title task"), plural(v.Parts, "resource task"), cmp.Or(v.Previous, "no release"))
		})
	})
}

func buildTaskCommand(a *app) *cobra.Command {
	var s array.Site
	share := array.Share{Index: -1}
	var names []string
	for _, stage := range task.Stages() {
		names = append(names, stage.Name)
	}
	c := &cobra.Command{
		Use:   "task STAGE --work DIR --count N",
		Short: "Run one process's share of the tasks of a stage",
		Long: "task runs share --index (from 0) of --count of the tasks of a stage. All shares of the earlier stages must be\n" +
			"done: " + strings.Join(names[:len(names)-1], ", ") + ".\n\n" +
			"--index defaults to the engine's environment variable: JOB_COMPLETION_INDEX (Kubernetes),\n" +
			"SLURM_ARRAY_TASK_ID, AWS_BATCH_JOB_ARRAY_INDEX, NOMAD_ALLOC_INDEX or CLOUD_RUN_TASK_INDEX.\n\n" +
			"It may be killed, repeated, or run twice at the same time. Exit code 2 means that a retry cannot help: the plan\n" +
			"belongs to another program or catalogue.",
		Args: argCount(1, 1),
	}
	f := c.Flags()
	workFlag(f, &s)
	sourceFlags(f, &s)
	machineFlags(f, &s)
	f.IntVar(&share.Index, "index", -1, "number of the share, from 0")
	f.IntVar(&share.Count, "count", 0, "number of shares")
	required(c, "work", "count")
	return a.leaf(c, func(ctx context.Context, args []string) (err error) {
		share.Stage = args[0]
		if share.Index < 0 {
			if share.Index, err = arrayIndex(a.Environ()); err != nil {
				return usage(err)
			}
		}
		if err := share.Validate(); err != nil {
			return usage(err)
		}
		if share.Stage == names[len(names)-1] {
			return usage(fmt.Errorf("stage %s: build seal runs it", share.Stage))
		}
		if err := a.openSite(&s); err != nil {
			return err
		}
		run, err := array.RunShare(ctx, s, share)
		if err != nil {
			return fmt.Errorf("share %d of %d of stage %s: %w", share.Index, share.Count, share.Stage, err)
		}
		return a.print(run, func(w io.Writer) {
			fmt.Fprintf(w, "%s\t%s of %d done, share %d of %d, in %.1f s\n", run.Stage, plural(run.Done, "task"), run.Tasks, run.Index, run.Count, run.Seconds)
		})
	})
}

// indexVariables hold the index of a task, from 0, under Kubernetes, Slurm, AWS Batch, Nomad and Cloud Run.
var indexVariables = []string{
	"JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_ID", "AWS_BATCH_JOB_ARRAY_INDEX", "NOMAD_ALLOC_INDEX", "CLOUD_RUN_TASK_INDEX",
}

// arrayIndex returns the index from environ, a list of NAME=value. An empty variable counts as absent.
func arrayIndex(environ []string) (index int, err error) {
	index = -1
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if value == "" || !slices.Contains(indexVariables, name) {
			continue
		}
		n, err := strconv.ParseUint(value, 10, 31)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%s is %q: want a number, or --index", name, value)
		case index >= 0:
			return 0, fmt.Errorf("%s and another engine's index are both set: want --index", name)
		}
		index = int(n)
	}
	if index < 0 {
		return 0, errors.New("want --index, or the environment of an array job")
	}
	return index, nil
}

func buildSealCommand(a *app) *cobra.Command {
	var s array.Site
	var publish bool
	var g publishGate
	c := &cobra.Command{
		Use:   "seal --work DIR",
		Short: "Complete the release when all tasks are done",
		Long:  "seal completes the release, adds it to the folder of releases, empties the work folder and prints the report.",
	}
	f := c.Flags()
	workFlag(f, &s)
	sourceFlags(f, &s)
	machineFlags(f, &s)
	f.BoolVar(&publish, "publish", false, "make the release current, unless --max-drop or --expect prevents it")
	g.add(f)
	required(c, "work")
	return a.checked(c, g.read, func(ctx context.Context, _ []string) error {
		if err := a.openSite(&s); err != nil {
			return err
		}
		r, err := array.Seal(ctx, s)
		if err != nil {
			return err
		}
		err = a.publishBuilt(ctx, &r, s.Releases, publish, &g)
		if err != nil && !errors.As(err, new(heldBackError)) {
			return err
		}
		if err := array.Clean(s); err != nil {
			return err
		}
		return usage(err) // a heldBackError: a retry would fail again
	})
}

func buildCleanCommand(a *app) *cobra.Command {
	var s array.Site
	c := &cobra.Command{
		Use:   "clean --work DIR",
		Short: "Remove the files of an abandoned build from its work folder",
	}
	workFlag(c.Flags(), &s)
	required(c, "work")
	return a.leaf(c, func(context.Context, []string) error {
		if err := a.openSite(&s); err != nil {
			return err
		}
		return array.Clean(s)
	})
}

func buildStatusCommand(a *app) *cobra.Command {
	var s array.Site
	c := &cobra.Command{
		Use:   "status --work DIR",
		Short: "Show the progress of a build",
	}
	workFlag(c.Flags(), &s)
	required(c, "work")
	return a.leaf(c, func(context.Context, []string) error {
		if err := a.openSite(&s); err != nil {
			return err
		}
		status, err := array.ReadStatus(s)
		if err != nil {
			return err
		}
		return a.print(status, func(w io.Writer) {
			fmt.Fprintln(w, "STAGE\tDONE\tRUNNING\tFAILED")
			for _, stage := range status.Stages {
				tasks := "?"
				if stage.Tasks >= 0 {
					tasks = fmt.Sprint(stage.Tasks)
				}
				fmt.Fprintf(w, "%s\t%d of %s\t%d\t%d\n", stage.Stage, stage.Done, tasks, stage.Running, stage.Failed)
			}
			slices.SortFunc(status.Runs, func(x, y array.Run) int { return x.Started.Compare(y.Started) })
			for _, r := range status.Runs {
				if r.Error != "" {
					fmt.Fprintf(w, "failed\t%s, share %d of %d, on %s at %s: %s\n", r.Stage, r.Index, r.Count, r.Host, r.Ended.Format(time.RFC3339), r.Error)
				}
			}
		})
	})
}

func submitCommand(a *app) *cobra.Command {
	var engine, volume string
	var chainSettings array.Settings
	var slurm array.Slurm
	var kubernetes array.Kubernetes
	var parallel int
	var runHere bool
	var gate publishGate
	planFlags := pflag.NewFlagSet("plan", pflag.ContinueOnError) // for build plan
	c := &cobra.Command{
		Use:   "submit --engine NAME --work DIR --count N",
		Short: "Build on an engine: Slurm, Kubernetes or processes on this machine",
		Long: "submit divides a build into a chain of array jobs, one per stage; each starts when all tasks of the previous job\n" +
			"are done. For slurm it prints a script that submits all jobs and exits, for kubernetes a script that creates each\n" +
			"Job and waits for it. With --run, it runs the chain as processes on this machine, and prints the build's report.\n\n" +
			"Catalogue, releases and work folder are folders that all nodes share. --count may exceed\n" +
			"the number of tasks in a stage. It does not change the release.\n\n" +
			"After a failure, submit the chain again with the same work folder: finished tasks are not repeated.",
		Example: "  reelsplice build submit --engine slurm --catalog /data/catalog --releases /data/releases \\\n" +
			"    --work /data/work --count 16 --publish >build.sh && bash build.sh",
	}
	f := c.Flags()
	f.StringVar(&engine, "engine", "", "`NAME` of the engine: slurm, kubernetes or processes")
	f.StringVar(&chainSettings.Catalog, "catalog", defaultCatalog, "`DIR` of the catalogue, as tasks see it")
	f.StringVar(&chainSettings.Releases, "releases", defaultReleases, "`DIR` of the releases, as tasks see it")
	f.StringVar(&chainSettings.Work, "work", "", "`DIR` for intermediate files, used by this build only")
	f.IntVar(&chainSettings.Count, "count", 0, "array tasks per stage")
	f.IntVar(&chainSettings.Attempts, "attempts", 4, "attempts per task")
	f.Var(bytesFlag[int64]{&chainSettings.Memory}, "memory", "memory limit of a task, such as 512MiB")
	f.IntVar(&chainSettings.CPUs, "cpus", 0, "CPUs of a task")
	f.StringVar(&chainSettings.Scratch, "scratch", "", "local `DIR` of a task for its temporary files")
	f.StringVar(&chainSettings.Program, "program", "", "`PATH` of reelsplice on the nodes; by default this executable, or reelsplice in containers")
	f.StringVar(&chainSettings.Name, "name", "", "`NAME` of the build, the prefix of its job names")
	f.BoolVar(&chainSettings.Publish, "publish", false, "make the release current")
	gate.add(f)
	f.BoolVar(&runHere, "run", false, "processes: run the chain and print the report")
	f.IntVar(&parallel, "parallel", runtime.GOMAXPROCS(0), "processes: how many run at once")
	f.StringVar(&slurm.Logs, "logs", "reelsplice-logs", "slurm: `DIR` for the output of tasks, on a shared file system")
	f.StringArrayVar(&slurm.Options, "sbatch", nil, "slurm: `OPTION` of sbatch, such as --partition=night; repeatable")
	f.StringVar(&kubernetes.Image, "image", "reelsplice", "kubernetes: container image of reelsplice")
	f.StringVar(&kubernetes.Namespace, "namespace", "default", "kubernetes: namespace of the jobs")
	f.StringVar(&volume, "volume", "", "kubernetes: `CLAIM:PATH`, a persistent volume claim that all tasks mount")
	contentFlags(planFlags, new(build.Config)) // build plan checks them
	f.AddFlagSet(planFlags)
	required(c, "engine", "work", "count")
	return a.checked(c, gate.read, func(ctx context.Context, _ []string) error {
		processes := array.Processes{Parallel: parallel, Log: a.logger()}
		produce := map[string]func(array.Chain) ([]byte, error){
			"slurm": slurm.Script, "kubernetes": kubernetes.Script,
			"processes": func(c array.Chain) ([]byte, error) { return processes.Run(ctx, c) },
		}[engine]
		switch {
		case produce == nil:
			return usage(fmt.Errorf("engine %q: want slurm, kubernetes or processes", engine))
		case !runHere && engine == "processes":
			return usage(errors.New("engine processes: want --run"))
		case runHere && engine != "processes":
			return usage(fmt.Errorf("engine %s: --run works only with processes: use \"build submit --engine %[1]s ... >build.sh && bash build.sh\"", engine))
		}
		var err error
		if chainSettings.Catalog, err = catalogFolder(chainSettings.Catalog); err != nil {
			return err
		}
		if chainSettings.Releases, err = releasesFolder(chainSettings.Releases); err != nil {
			return err
		}
		if chainSettings.Work, err = workFolder(chainSettings.Work); err != nil {
			return err
		}
		if chainSettings.Program == "" {
			chainSettings.Program = "reelsplice"
			if path, err := os.Executable(); err == nil && engine != "kubernetes" {
				chainSettings.Program = path
			}
		}
		planFlags.VisitAll(func(f *pflag.Flag) {
			if f.Changed {
				chainSettings.Plan = append(chainSettings.Plan, "--"+f.Name+"="+f.Value.String())
			}
		})
		chainSettings.JSON = a.json
		if chainSettings.Gate, err = gate.args(); err != nil {
			return usage(err)
		}
		if parallel < 1 {
			return usage(fmt.Errorf("parallel %d: want 1 or more", parallel))
		}
		if volume != "" {
			if kubernetes.Claim, err = array.ParseClaim(volume); err != nil {
				return usage(err)
			}
		}
		// Tasks run in other working directories.
		if engine == "slurm" {
			if slurm.Logs, err = filepath.Abs(slurm.Logs); err != nil {
				return usage(err)
			}
		}
		chain, err := array.NewChain(chainSettings)
		if err != nil {
			return usage(err)
		}
		out, err := produce(chain)
		if err != nil {
			return err
		}
		return a.write(out)
	})
}
