package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reelsplice/reelsplice/build/array"
)

// submission is a build that goes to an engine: what the flags of build submit hold.
type submission struct {
	engine     string
	chain      array.Settings
	slurm      array.Slurm
	kubernetes array.Kubernetes
	volume     string
	parallel   int
	gate       publishGate
	run        bool
	planFlags  *pflag.FlagSet // flags of build plan that are passed on
}

func submitCommand(a *app) *cobra.Command {
	s := submission{planFlags: pflag.NewFlagSet("plan", pflag.ContinueOnError)}
	c := &cobra.Command{
		Use:   "submit --engine NAME --work DIR --count N",
		Short: "Build on an engine: Slurm, Kubernetes or processes of this machine",
		Long: "submit divides a build into a chain of array jobs: one a stage, which starts when all tasks of the one before it\n" +
			"are done. For slurm it prints a script that submits all jobs and ends, for kubernetes a script that creates each\n" +
			"Job and waits for it. With --run, processes of this machine run the chain, and the report of the build is printed.\n\n" +
			"Catalogue, releases and work folder are folders that all nodes share. --count may exceed the\n" +
			"tasks that a stage has. It changes no byte of the release.\n\n" +
			"A failed chain can be submitted again with the same work folder: finished tasks are kept.",
		Example: "  reelsplice build submit --engine slurm --catalog /data/catalog --releases /data/releases \\\n" +
			"    --work /data/work --count 16 --publish >build.sh && bash build.sh",
	}
	f := c.Flags()
	f.StringVar(&s.engine, "engine", "", "`NAME` of the engine: slurm, kubernetes or processes")
	f.StringVar(&s.chain.Catalog, "catalog", usualCatalog, "`DIR` of the catalogue, as tasks see it")
	f.StringVar(&s.chain.Releases, "releases", usualReleases, "`DIR` of the releases, as tasks see it")
	f.StringVar(&s.chain.Work, "work", "", "`DIR` of the files between tasks, of this build alone")
	f.IntVar(&s.chain.Count, "count", 0, "tasks of each stage")
	f.IntVar(&s.chain.Attempts, "attempts", 4, "times that a task is tried")
	f.Var(bytesFlag[int64]{&s.chain.Memory}, "memory", "bytes that a task may use, such as 512MiB")
	f.IntVar(&s.chain.CPUs, "cpus", 0, "CPUs of a task")
	f.StringVar(&s.chain.Scratch, "scratch", "", "local `DIR` of a task for its temporary files")
	f.StringVar(&s.chain.Program, "program", "", "`PATH` of reelsplice where tasks run; this program by default, and its name in containers")
	f.StringVar(&s.chain.Name, "name", "", "`NAME` of the build, at the start of the names of its jobs")
	f.BoolVar(&s.chain.Publish, "publish", false, "make the release current")
	s.gate.add(f)
	f.BoolVar(&s.run, "run", false, "processes: run the chain and print the report")
	f.IntVar(&s.parallel, "parallel", runtime.GOMAXPROCS(0), "processes: how many run at once")
	f.StringVar(&s.slurm.Logs, "logs", "reelsplice-logs", "slurm: `DIR` for the output of tasks, on a shared file system")
	f.StringArrayVar(&s.slurm.Options, "sbatch", nil, "slurm: `OPTION` of sbatch, such as --partition=night; repeatable")
	f.StringVar(&s.kubernetes.Image, "image", "reelsplice", "kubernetes: container image of reelsplice")
	f.StringVar(&s.kubernetes.Namespace, "namespace", "default", "kubernetes: namespace of the jobs")
	f.StringVar(&s.volume, "volume", "", "kubernetes: `CLAIM:PATH`, a persistent volume claim that all tasks mount")
	new(contentFlags).add(s.planFlags) // build plan checks them
	f.AddFlagSet(s.planFlags)
	required(c, "engine", "work", "count")
	return a.checked(c, s.gate.read, func(ctx context.Context, _ []string) error { return a.submit(ctx, &s) })
}

// submit prints or runs the chain.
func (a *app) submit(ctx context.Context, s *submission) error {
	processes := array.Processes{Parallel: s.parallel, Log: a.logger()}
	produce := map[string]func(array.Chain) ([]byte, error){
		"slurm": s.slurm.Script, "kubernetes": s.kubernetes.Script,
		"processes": func(c array.Chain) ([]byte, error) { return processes.Run(ctx, c) },
	}[s.engine]
	switch {
	case produce == nil:
		return usage(fmt.Errorf("engine %q: want slurm, kubernetes or processes", s.engine))
	case !s.run && s.engine == "processes":
		return usage(errors.New("engine processes: want --run"))
	case s.run && s.engine != "processes":
		return usage(fmt.Errorf("engine %s: --run is for processes alone: use \"build submit --engine %[1]s ... >build.sh && bash build.sh\"", s.engine))
	}
	var err error
	if s.chain.Catalog, err = catalogFolder(s.chain.Catalog); err != nil {
		return err
	}
	if s.chain.Releases, err = releasesFolder(s.chain.Releases); err != nil {
		return err
	}
	if s.chain.Work, err = workFolder(s.chain.Work); err != nil {
		return err
	}
	chain, err := s.settle(a)
	if err != nil {
		return usage(err)
	}
	out, err := produce(chain)
	if err != nil {
		return err
	}
	return a.write(out)
}

// settle completes what the flags leave open and returns the chain.
func (s *submission) settle(a *app) (array.Chain, error) {
	local := s.engine == "slurm" || s.engine == "processes"
	if s.chain.Program == "" {
		s.chain.Program = "reelsplice"
		if self, err := os.Executable(); err == nil && local {
			s.chain.Program = self
		}
	}
	s.planFlags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			s.chain.Plan = append(s.chain.Plan, "--"+f.Name+"="+f.Value.String())
		}
	})
	s.chain.JSON = a.json
	var err error
	if s.chain.Gate, err = s.gate.args(); err != nil {
		return array.Chain{}, err
	}
	switch {
	case s.parallel < 1:
		return array.Chain{}, fmt.Errorf("parallel %d: want 1 or more", s.parallel)
	case s.volume != "":
		if s.kubernetes.Claim, err = array.ParseClaim(s.volume); err != nil {
			return array.Chain{}, err
		}
	}
	// Tasks run in folders of their own choice.
	if s.engine == "slurm" {
		if s.slurm.Logs, err = filepath.Abs(s.slurm.Logs); err != nil {
			return array.Chain{}, err
		}
	}
	return array.NewChain(s.chain)
}
