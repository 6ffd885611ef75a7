// Command cluster is a Kubernetes of this machine alone, for tests of Jobs on a machine without
// containers: etcd, API server, controllers, scheduler and kubectl as they are released, and nodes
// that run the container of a pod as a process. Everything listens on 127.0.0.1 and keeps its files
// in one folder.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

const usage = `usage:
  cluster up DIR NODES      start a control plane and nodes, until SIGTERM; DIR/kubeconfig appears when all are ready
  cluster node DIR NAME     start a node of the cluster of DIR, until SIGTERM
  cluster kubectl ARGS      be kubectl`

func main() {
	if len(os.Args) > 1 && os.Args[1] == "kubectl" {
		os.Args = os.Args[1:]
		if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// run runs a part of the cluster in this process.
func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errors.New(usage)
	}
	component := func(c *cobra.Command) error {
		c.SetArgs(args[1:])
		return c.ExecuteContext(ctx)
	}
	switch {
	case args[0] == "apiserver":
		return component(apiserver.NewAPIServerCommand())
	case args[0] == "controllers":
		return component(controllers.NewControllerManagerCommand())
	case args[0] == "scheduler":
		return component(scheduler.NewSchedulerCommand())
	case args[0] == "etcd" && len(args) == 4:
		return runEtcd(ctx, args[1], args[2], args[3])
	case args[0] == "node" && len(args) == 3:
		return runNode(ctx, args[1], args[2])
	case args[0] == "up" && len(args) == 3:
		n, err := strconv.Atoi(args[2])
		if err != nil || n < 1 || n > 100 {
			return fmt.Errorf("nodes %q: want 1 to 100", args[2])
		}
		return up(ctx, args[1], n)
	}
	return errors.New(usage)
}
