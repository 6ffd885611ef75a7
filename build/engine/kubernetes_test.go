package engine

import (
	"bytes"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files")

// documents are what build submit prints for a nightly build.
func documents(t *testing.T) map[string][]byte {
	t.Helper()
	c, err := New(Settings{
		Program: "reelsplice", Name: "reelsplice-build", Catalog: "s3://films/catalog?region=eu-west-1", Releases: "s3://films/releases?region=eu-west-1",
		Work: "/shared/work", Count: 16, Attempts: 4, Memory: 2 << 30, CPUs: 1, Publish: true, JSON: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	k := &Kubernetes{
		Namespace: "films", Image: "reelsplice:1", ServiceAccount: "films", Secret: "bucket", Claim: Claim{"shared", "/shared"},
	}
	n := Night{Kubernetes: k, Name: "reelsplice-build", Program: "reelsplice", Schedule: "15 3 * * *", Driver: []string{
		"build", "submit", "--engine=kubernetes", "--run", "--json", "--work=" + WorkOfNight("/shared/work"),
	}}
	out := map[string][]byte{}
	for name, make := range map[string]func() ([]byte, error){
		"jobs.yaml":    func() ([]byte, error) { return k.Manifests(c) },
		"cronjob.yaml": n.CronJob,
		"argo.yaml":    func() ([]byte, error) { return k.Argo(c) },
		"slurm.sh": func() ([]byte, error) {
			return (&Slurm{Logs: "/shared/logs", Options: []string{"--partition=night"}}).Script(c)
		},
	} {
		if out[name], err = make(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestDocuments compares with the documents that users read. Argo's types have a module of their
// own: scripts/engines/argo parses that document.
func TestDocuments(t *testing.T) {
	for name, got := range documents(t) {
		path := filepath.Join("..", "..", "docs", "reference", "engines", name)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs: run go test ./build/engine -run TestDocuments -update", path)
		}
	}
}

// TestStagesOfDocument holds the loop over stages of the how-to to the stages that there are.
func TestStagesOfDocument(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "how-to", "build-on-a-cluster.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Settings{Program: "reelsplice", Count: 1, Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	var stages []string
	for _, s := range c.Steps {
		if s.Indexed {
			stages = append(stages, s.Name)
		}
	}
	last := len(stages) - 1
	for _, want := range []string{
		"for stage in " + strings.Join(stages, " ") + "; do",
		"The stages are `" + strings.Join(stages[:last], "`, `") + "` and `" + stages[last] + "`.",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q", path, want)
		}
	}
}

// TestManifests parses the manifests strictly: a field that the API lacks is an error.
func TestManifests(t *testing.T) {
	docs := documents(t)
	jobs := strings.Split(string(docs["jobs.yaml"]), "---\n")
	for _, text := range jobs {
		var j batch.Job
		if err := yaml.UnmarshalStrict([]byte(text), &j); err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		spec := j.Spec
		if *spec.CompletionMode != batch.IndexedCompletion || *spec.Completions != *spec.Parallelism || *spec.BackoffLimitPerIndex != 3 || *spec.MaxFailedIndexes != 0 {
			t.Errorf("%s: spec is %+v", j.Name, spec)
		}
		if rules := spec.PodFailurePolicy.Rules; rules[0].Action != batch.PodFailurePolicyActionIgnore || rules[1].OnExitCodes.Values[0] != Final {
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
		if task.VolumeMounts[0].Name != pod.Volumes[0].Name || task.EnvFrom[0].SecretRef.Name != "bucket" {
			t.Errorf("%s: container is %+v", j.Name, task)
		}
	}
	kinds := []any{new(core.ServiceAccount), new(rbac.Role), new(rbac.RoleBinding), new(batch.CronJob)}
	for i, text := range strings.Split(string(docs["cronjob.yaml"]), "---\n") {
		if err := yaml.UnmarshalStrict([]byte(text), kinds[i]); err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
	}
	driver := kinds[3].(*batch.CronJob).Spec.JobTemplate.Spec.Template.Spec.Containers[0]
	if work := driver.Args[len(driver.Args)-1]; work != "--work=/shared/work/$(BUILD)" || driver.Env[0].Name != "BUILD" {
		t.Errorf("driver is %+v", driver)
	}
}

// TestKubernetesCleans looks at the Job that is left: none after success, the failed one else.
func TestKubernetesCleans(t *testing.T) {
	for _, codes := range [][]int{nil, {2}} {
		f := newFake(t)
		f.fail(t, "seal", codes...)
		c := testChain(t, f)
		c.Steps = c.Steps[len(c.Steps)-2:]
		_, err := engines(f)["kubernetes"](t.Context(), c)
		if (err != nil) != (codes != nil) {
			t.Fatalf("codes %v: %v", codes, err)
		}
		if _, err := os.Stat(filepath.Join(f.dir, "kube-job")); (err == nil) != (codes != nil) {
			t.Errorf("codes %v: the Job of seal: %v", codes, err)
		}
	}
}

// TestKubernetesLost has a pod whose node is lost: it is marked as failed, others are not.
func TestKubernetesLost(t *testing.T) {
	f := newFake(t)
	pods := `{"items": [
		{"metadata": {"name": "lost", "deletionTimestamp": "2020-01-01T00:00:00Z"}, "status": {"phase": "Running"}},
		{"metadata": {"name": "ended", "deletionTimestamp": "2020-01-01T00:00:00Z"}, "status": {"phase": "Failed"}},
		{"metadata": {"name": "ending", "deletionTimestamp": "2999-01-01T00:00:00Z"}, "status": {"phase": "Running"}},
		{"metadata": {"name": "running"}, "status": {"phase": "Running"}}]}`
	if err := os.WriteFile(filepath.Join(f.dir, "kube-pods"), []byte(pods), 0o644); err != nil {
		t.Fatal(err)
	}
	k := &Kubernetes{Namespace: "films", Kubectl: []string{"kubectl"}, Log: slog.New(slog.DiscardHandler)}
	if err := k.dropLost(t.Context(), "uid of job"); err != nil {
		t.Fatal(err)
	}
	var patched []string
	for _, v := range f.lines("verbs") {
		if strings.HasPrefix(v, "patch") || strings.HasPrefix(v, "delete") {
			patched = append(patched, v)
		}
	}
	if want := []string{`patch pod lost {"status":{"phase":"Failed","reason":"NodeLost"}}`, "delete pod lost"}; !slices.Equal(patched, want) {
		t.Errorf("patched %q, want %q", patched, want)
	}
}
