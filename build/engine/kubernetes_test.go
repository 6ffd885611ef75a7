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
)

var update = flag.Bool("update", false, "write the golden files")

// documents are what build submit prints.
func documents(t *testing.T) map[string][]byte {
	t.Helper()
	c, err := New(Settings{
		Program: "reelsplice", Name: "reelsplice-build", Catalog: "/shared/catalog", Releases: "/shared/releases",
		Work: "/shared/work", Count: 16, Attempts: 4, Memory: 2 << 30, CPUs: 1, Publish: true, JSON: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	k := &Kubernetes{
		Namespace: "films", Image: "reelsplice:1", ServiceAccount: "films", Secret: "films", Claim: Claim{"shared", "/shared"},
	}
	out := map[string][]byte{}
	for name, make := range map[string]func() ([]byte, error){
		"jobs.yaml": func() ([]byte, error) { return k.Manifests(c) },
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

// TestDocuments compares with the documents that users read. scripts/packaging/manifests parses the Jobs.
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

// TestStagesOfDocument holds the loop over stages of the how-to, and the example of Argo, to the stages that there are.
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
	argo, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "engines", "argo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range stages {
		if !strings.Contains(string(argo), "{name: stage, value: "+stage+"}") {
			t.Errorf("argo.yaml lacks the stage %s", stage)
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
