package manifests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// kubectl keeps the Jobs that a script creates, and all succeed.
const kubectl = `#!/bin/sh
case "$*" in *create*) cat >>"$JOBS" && echo --- >>"$JOBS" ;; esac
`

// TestEngineJobs runs the script of "build submit --engine kubernetes" and parses its Jobs strictly: a field that the API
// lacks is an error.
func TestEngineJobs(t *testing.T) {
	dir := t.TempDir()
	command, jobs := filepath.Join(dir, "kubectl"), filepath.Join(dir, "jobs")
	if err := os.WriteFile(command, []byte(kubectl), 0o755); err != nil {
		t.Fatal(err)
	}
	script := exec.CommandContext(t.Context(), "sh", "../../../docs/reference/engines/kubernetes.sh")
	script.Env = append(os.Environ(), "KUBECTL="+command, "JOBS="+jobs)
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(jobs)
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.SplitSeq(strings.TrimSuffix(string(text), "---\n"), "---\n") {
		var j batch.Job
		if err := yaml.UnmarshalStrict([]byte(text), &j); err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		spec := j.Spec
		if *spec.CompletionMode != batch.IndexedCompletion || *spec.Completions != *spec.Parallelism || *spec.BackoffLimitPerIndex != 3 || *spec.MaxFailedIndexes != 0 {
			t.Errorf("%s: spec is %+v", j.Name, spec)
		}
		if *spec.PodReplacementPolicy != batch.TerminatingOrFailed { // Failed waits until a lost Node is deleted
			t.Errorf("%s: pods are replaced when %s", j.Name, *spec.PodReplacementPolicy)
		}
		pod := spec.Template.Spec
		if len(pod.Tolerations) != 2 || *pod.Tolerations[0].TolerationSeconds > 60 || pod.RestartPolicy != core.RestartPolicyNever {
			t.Errorf("%s: pod is %+v", j.Name, pod)
		}
		task := pod.Containers[0]
		if memory := task.Resources.Limits[core.ResourceMemory]; memory.Value() != 5<<29 {
			t.Errorf("%s: limit of memory is %s, want 2.5 GiB", j.Name, memory.String())
		}
		if task.VolumeMounts[0].Name != pod.Volumes[0].Name {
			t.Errorf("%s: container is %+v", j.Name, task)
		}
	}
}
