package array

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Kubernetes is a cluster: each step is an Indexed Job, each task a pod.
type Kubernetes struct {
	Namespace string
	Image     string // image with reelsplice
	Claim     Claim
	Kubectl   []string // command that is kubectl
	Log       *slog.Logger
}

// A Claim is a persistent volume claim that all tasks mount: the shared file system of catalogue,
// releases and work folder.
type Claim struct{ Name, Path string }

// ParseClaim reads NAME:PATH.
func ParseClaim(text string) (Claim, error) {
	name, path, ok := strings.Cut(text, ":")
	if !ok || name == "" || !strings.HasPrefix(path, "/") {
		return Claim{}, fmt.Errorf("volume %q: want CLAIM:/PATH", text)
	}
	return Claim{name, path}, nil
}

// tolerationSeconds is how long a task waits for a node that is not ready. Kubernetes' own default
// is 300 s; starting elsewhere too early costs a task's work and nothing else.
const tolerationSeconds = 30

// job returns the name of a step's Job.
func (c *Chain) job(s Step) string { return c.Name + "-" + s.Name }

// manifest returns the Job of a step.
func (k *Kubernetes) manifest(c *Chain, s Step) ([]byte, error) {
	requests, limits := map[string]string{}, map[string]string{}
	if c.CPUs > 0 {
		requests["cpu"] = strconv.Itoa(c.CPUs)
	}
	if c.Memory > 0 {
		limits["memory"] = strconv.FormatInt(c.limit(), 10)
		requests["memory"] = limits["memory"]
	}
	return execute("job.yaml", map[string]any{
		"Job": c.job(s), "Kubernetes": k, "Chain": c, "Step": s, "Retries": c.Attempts - 1, "Final": Final,
		"Toleration": tolerationSeconds, "Requests": requests, "Limits": limits,
	})
}

// Manifests returns the Jobs of the chain. Kubernetes knows no order of Jobs: each is to be applied
// when the one before it is complete.
func (k *Kubernetes) Manifests(c Chain) ([]byte, error) {
	var all [][]byte
	for _, s := range c.Steps {
		m, err := k.manifest(&c, s)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return bytes.Join(all, []byte("---\n")), nil
}

// Run runs one Job after another and returns what the last one printed. A Job is deleted when it is
// complete; one that failed stays for a day, with its pods.
func (k *Kubernetes) Run(ctx context.Context, c Chain) (report []byte, err error) {
	for i, s := range c.Steps {
		manifest, err := k.manifest(&c, s)
		if err != nil {
			return nil, err
		}
		// A Job of an earlier run with the same work folder may be there, of whatever state. Its
		// tasks that are done stay done.
		if err := k.delete(ctx, c.job(s)); err != nil {
			return nil, err
		}
		uid, err := k.kubectl(ctx, manifest, "create", "-f", "-", "-o", "jsonpath={.metadata.uid}")
		if err != nil {
			return nil, err
		}
		look := func() (bool, error) { return k.look(ctx, c.job(s), string(uid), s) }
		if err := follow(ctx, k.Log, s, look); err != nil {
			if ctx.Err() != nil { // interrupted: take back what runs
				clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
				_ = k.delete(clean, c.job(s)) // the interrupt is the error to tell
				cancel()
			}
			return nil, err
		}
		if i == len(c.Steps)-1 {
			if report, err = k.report(ctx, string(uid)); err != nil { // the release is there all the same
				k.Log.Warn("the build is done, but its report cannot be read", "error", err)
			}
		}
		if err := k.delete(ctx, c.job(s)); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// look reports whether a Job is complete.
func (k *Kubernetes) look(ctx context.Context, name, uid string, s Step) (done bool, err error) {
	var j job
	out, err := k.kubectl(ctx, nil, "get", "job", name, "-o", "json")
	if err == nil {
		err = json.Unmarshal(out, &j)
	}
	switch {
	case err != nil && strings.Contains(err.Error(), "(NotFound)"):
		return false, &TaskError{Step: s.Name, Detail: fmt.Sprintf("job %s is gone", name)}
	case err != nil:
		return false, err
	case j.has("Complete"):
		return true, nil
	case j.has("Failed"), j.has("FailureTarget"):
		return false, k.failure(ctx, uid, s, &j)
	}
	return false, k.dropLost(ctx, uid)
}

// lostAfter is how long after its grace period a pod that is being deleted counts as lost.
const lostAfter = 15 * time.Second

// dropLost marks pods as failed that are being deleted and whose node has not answered for long, and removes
// them. Kubernetes itself replaces those only after their Node is deleted, which nobody may do for days.
// A pod that runs on unseen does no harm: tasks are idempotent.
func (k *Kubernetes) dropLost(ctx context.Context, uid string) error {
	list, err := k.pods(ctx, uid)
	if err != nil {
		return err
	}
	for _, p := range list {
		// The time of deletion has the grace period in it.
		if p.Metadata.DeletionTimestamp.IsZero() || time.Since(p.Metadata.DeletionTimestamp) < lostAfter ||
			p.Status.Phase == "Failed" || p.Status.Phase == "Succeeded" {
			continue
		}
		k.Log.Warn("pod is lost with its node: its task starts elsewhere", "pod", p.Metadata.Name, "node", p.Spec.NodeName)
		if _, err := k.kubectl(ctx, nil, "patch", "pod", p.Metadata.Name, "--subresource=status", "--type=merge",
			"-p", `{"status":{"phase":"Failed","reason":"NodeLost"}}`); err != nil {
			return err
		}
		if _, err := k.kubectl(ctx, nil, "delete", "pod", p.Metadata.Name, "--force", "--grace-period=0", "--wait=false"); err != nil {
			return err
		}
	}
	return nil
}

// failure names the task that made a Job fail.
func (k *Kubernetes) failure(ctx context.Context, uid string, s Step, j *job) error {
	f := &TaskError{Step: s.Name}
	for _, c := range j.Status.Conditions {
		if c.Type == "Failed" || c.Type == "FailureTarget" {
			f.Detail = c.Reason + " " + c.Message
		}
	}
	list, err := k.pods(ctx, uid)
	if err != nil {
		return f
	}
	for _, p := range list {
		code := p.exitCode()
		if p.Status.Phase != "Failed" || code == 0 || f.Code == Final {
			continue
		}
		f.Code = code
		f.Index, _ = strconv.Atoi(p.Metadata.Annotations["batch.kubernetes.io/job-completion-index"])
		if out, err := k.kubectl(ctx, nil, "logs", "--tail=1", p.Metadata.Name); err == nil && len(bytes.TrimSpace(out)) > 0 {
			f.Detail = lastLine(out)
		}
	}
	return f
}

// report returns what the task of a Job printed on stdout. Kubernetes mixes it with stderr, whose
// lines are lines of the log.
func (k *Kubernetes) report(ctx context.Context, uid string) ([]byte, error) {
	list, err := k.pods(ctx, uid)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if p.Status.Phase != "Succeeded" {
			continue
		}
		out, err := k.kubectl(ctx, nil, "logs", p.Metadata.Name)
		if err != nil {
			return nil, err
		}
		var report []byte
		for line := range bytes.Lines(out) {
			if bytes.HasPrefix(line, []byte(`{"time":`)) {
				k.Log.Warn("log of the last task", "line", string(bytes.TrimSpace(line)))
				continue
			}
			report = append(report, line...)
		}
		return report, nil
	}
	return nil, errors.New("no pod of its job is there")
}

// delete deletes a Job. Its pods go later, and pods on lost nodes much later.
func (k *Kubernetes) delete(ctx context.Context, name string) error {
	_, err := k.kubectl(ctx, nil, "delete", "job", name, "--ignore-not-found", "--cascade=background")
	return err
}

// pods returns the pods of a Job. One that was deleted may have left some under the same name.
func (k *Kubernetes) pods(ctx context.Context, uid string) ([]pod, error) {
	out, err := k.kubectl(ctx, nil, "get", "pods", "--selector=batch.kubernetes.io/controller-uid="+uid, "-o", "json")
	if err != nil {
		return nil, err
	}
	var list struct{ Items []pod }
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("read list of pods: %w", err)
	}
	return list.Items, nil
}

// kubectl runs kubectl and returns its stdout.
func (k *Kubernetes) kubectl(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	args = append(append(k.Kubectl[1:len(k.Kubectl):len(k.Kubectl)], "--namespace="+k.Namespace), args...)
	cmd := exec.CommandContext(ctx, k.Kubectl[0], args...)
	cmd.Stdin = bytes.NewReader(stdin)
	return output(cmd)
}

// A job is what the driver reads of a Job.
type job struct {
	Status struct {
		Conditions []condition
	}
}

type condition struct{ Type, Status, Reason, Message string }

// has reports whether a condition is true.
func (j *job) has(condition string) bool {
	for _, c := range j.Status.Conditions {
		if c.Type == condition && c.Status == "True" {
			return true
		}
	}
	return false
}

// A pod is what the driver reads of a Pod.
type pod struct {
	Metadata struct {
		Name              string
		Annotations       map[string]string
		DeletionTimestamp time.Time
	}
	Spec   struct{ NodeName string }
	Status struct {
		Phase             string
		ContainerStatuses []containerStatus
	}
}

type containerStatus struct {
	State struct {
		Terminated struct{ ExitCode int }
	}
}

func (p *pod) exitCode() int {
	if len(p.Status.ContainerStatuses) == 0 {
		return 0
	}
	return p.Status.ContainerStatuses[0].State.Terminated.ExitCode
}
