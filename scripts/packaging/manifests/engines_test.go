package manifests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// engineDocuments returns the parts of a document for engines.
func engineDocuments(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../docs/reference/engines", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "---\n")
}

// TestEngineJobs parses the Jobs of "build submit --engine kubernetes" strictly: a field that the API lacks is an error.
func TestEngineJobs(t *testing.T) {
	for _, text := range engineDocuments(t, "jobs.yaml") {
		var j batch.Job
		if err := yaml.UnmarshalStrict([]byte(text), &j); err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		spec := j.Spec
		if *spec.CompletionMode != batch.IndexedCompletion || *spec.Completions != *spec.Parallelism || *spec.BackoffLimitPerIndex != 3 || *spec.MaxFailedIndexes != 0 {
			t.Errorf("%s: spec is %+v", j.Name, spec)
		}
		if rules := spec.PodFailurePolicy.Rules; rules[0].Action != batch.PodFailurePolicyActionIgnore || rules[1].OnExitCodes.Values[0] != 2 {
			t.Errorf("%s: rules are %+v", j.Name, rules)
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

// TestEngineCronJob parses the example of a nightly driver strictly.
func TestEngineCronJob(t *testing.T) {
	kinds := []any{new(core.ServiceAccount), new(rbac.Role), new(rbac.RoleBinding), new(batch.CronJob)}
	for i, text := range engineDocuments(t, "cronjob.yaml") {
		if err := yaml.UnmarshalStrict([]byte(text), kinds[i]); err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
	}
	driver := kinds[3].(*batch.CronJob).Spec.JobTemplate.Spec.Template.Spec.Containers[0]
	if driver.Args[5] != "--work=/shared/work/$(BUILD)" || driver.Env[0].Name != "BUILD" {
		t.Errorf("driver is %+v", driver)
	}
}
