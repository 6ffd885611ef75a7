// Package manifests parses the Compose file, renders the chart with Helm's library, and checks the documents against the types of
// Kubernetes.
package manifests

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	network "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

const chartDir = "../helm/reelsplice"

var update = flag.Bool("update", false, "write the golden files")

// monitor has the fields of a ServiceMonitor that Prometheus' operator reads.
type monitor struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Selector struct {
			MatchLabels map[string]string `json:"matchLabels"`
		} `json:"selector"`
		Endpoints []struct{ Port, Path, Interval string } `json:"endpoints"`
	} `json:"spec"`
}

// newOf makes an empty object of each kind that the chart may render.
var newOf = map[string]func() any{
	"apps/v1/Deployment":                       func() any { return new(apps.Deployment) },
	"batch/v1/CronJob":                         func() any { return new(batch.CronJob) },
	"v1/Service":                               func() any { return new(core.Service) },
	"v1/ServiceAccount":                        func() any { return new(core.ServiceAccount) },
	"v1/Secret":                                func() any { return new(core.Secret) },
	"v1/PersistentVolumeClaim":                 func() any { return new(core.PersistentVolumeClaim) },
	"networking.k8s.io/v1/Ingress":             func() any { return new(network.Ingress) },
	"policy/v1/PodDisruptionBudget":            func() any { return new(policy.PodDisruptionBudget) },
	"rbac.authorization.k8s.io/v1/Role":        func() any { return new(rbac.Role) },
	"rbac.authorization.k8s.io/v1/RoleBinding": func() any { return new(rbac.RoleBinding) },
	"monitoring.coreos.com/v1/ServiceMonitor":  func() any { return new(monitor) },
}

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render returns the documents of the chart with values, joined in the order of their files.
func render(t *testing.T, values string) (string, error) {
	t.Helper()
	var v map[string]any
	if err := yaml.Unmarshal([]byte(values), &v); err != nil {
		t.Fatal(err)
	}
	c := load(t)
	all, err := chartutil.ToRenderValues(c, v, chartutil.ReleaseOptions{Name: "films", Namespace: "media", IsInstall: true}, chartutil.DefaultCapabilities)
	if err != nil {
		return "", err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return "", err
	}
	var names []string
	for name, text := range files {
		if strings.HasSuffix(name, ".yaml") && strings.TrimSpace(text) != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		b.WriteString("---\n" + strings.TrimSpace(files[name]) + "\n")
	}
	return b.String(), nil
}

// objects parses documents strictly: unknown and repeated fields are errors.
func objects(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, doc := range strings.Split(text, "---\n") {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		var head struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Metadata   struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		if err := yaml.Unmarshal([]byte(doc), &head); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		make, ok := newOf[head.APIVersion+"/"+head.Kind]
		if !ok {
			t.Fatalf("unexpected kind %s %s", head.APIVersion, head.Kind)
		}
		if problems := validation.IsDNS1035Label(head.Metadata.Name); len(problems) > 0 {
			t.Errorf("%s: name %q: %v", head.Kind, head.Metadata.Name, problems)
		}
		o := make()
		if err := yaml.UnmarshalStrict([]byte(doc), o); err != nil {
			t.Fatalf("%s %s: %v in\n%s", head.Kind, head.Metadata.Name, err, doc)
		}
		if key := head.Kind + " " + head.Metadata.Name; out[key] != nil {
			t.Errorf("%s is there twice", key)
		} else {
			out[key] = o
		}
	}
	return out
}

// cases are files of values in testdata, each beside its golden documents.
func cases(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.values.yaml")
	if err != nil || len(paths) < 4 {
		t.Fatalf("found %d files of values: %v", len(paths), err)
	}
	return paths
}

func TestChart(t *testing.T) {
	for _, path := range cases(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".values.yaml")
		t.Run(name, func(t *testing.T) {
			values, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text, err := render(t, string(values))
			if err != nil {
				t.Fatal(err)
			}
			all := objects(t, text)
			golden := filepath.Join("testdata", name+".golden.yaml")
			if *update {
				if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if text != string(want) {
				t.Errorf("%s differs: run go test -update in scripts/packaging/manifests", golden)
			}
			checkEdge(t, all)
			for _, o := range all {
				if job, ok := o.(*batch.CronJob); ok {
					checkPod(t, all, &job.Spec.JobTemplate.Spec.Template)
				}
			}
		})
	}
}

// checkEdge checks that the parts of the edge refer to one another.
func checkEdge(t *testing.T, all map[string]any) {
	t.Helper()
	d, ok := all["Deployment films-reelsplice"].(*apps.Deployment)
	if !ok {
		t.Fatal("no Deployment films-reelsplice")
	}
	pod := &d.Spec.Template
	checkPod(t, all, pod)
	match := func(what string, selector map[string]string) {
		t.Helper()
		for k, v := range selector {
			if pod.Labels[k] != v {
				t.Errorf("%s selects %s=%s; the pods have %q", what, k, v, pod.Labels[k])
			}
		}
		if len(selector) == 0 {
			t.Errorf("%s selects nothing", what)
		}
	}
	match("Deployment", d.Spec.Selector.MatchLabels)
	for _, c := range pod.Spec.TopologySpreadConstraints {
		match("spread", c.LabelSelector.MatchLabels)
	}
	ports := map[string]bool{}
	for _, p := range pod.Spec.Containers[0].Ports {
		ports[p.Name] = true
	}
	for key, o := range all {
		switch o := o.(type) {
		case *core.Service:
			match(key, o.Spec.Selector)
			for _, p := range o.Spec.Ports {
				if !ports[p.TargetPort.StrVal] {
					t.Errorf("%s: no port %v in %v", key, p.TargetPort, ports)
				}
			}
		case *policy.PodDisruptionBudget:
			match(key, o.Spec.Selector.MatchLabels)
		case *network.Ingress:
			b := o.Spec.Rules[0].HTTP.Paths[0].Backend.Service
			if s, ok := all["Service "+b.Name].(*core.Service); !ok || s.Spec.Ports[0].Name != b.Port.Name {
				t.Errorf("%s: backend %+v is no service", key, b)
			}
		case *monitor:
			s, ok := all["Service films-reelsplice-admin"].(*core.Service)
			for k, v := range o.Spec.Selector.MatchLabels {
				if !ok || s.Labels[k] != v {
					t.Errorf("%s selects %s=%s: no service has it", key, k, v)
				}
			}
			if o.Spec.Endpoints[0].Port != s.Spec.Ports[0].Name {
				t.Errorf("%s: no port %s", key, o.Spec.Endpoints[0].Port)
			}
		}
	}
}

// checkPod checks a pod against the standard "restricted", and that its volumes exist.
func checkPod(t *testing.T, all map[string]any, pod *core.PodTemplateSpec) {
	t.Helper()
	s := pod.Spec.SecurityContext
	if s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.SeccompProfile == nil || s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
		t.Errorf("security of the pod: %+v", s)
	}
	volumes := map[string]bool{}
	for _, v := range pod.Spec.Volumes {
		volumes[v.Name] = true
		if c := v.PersistentVolumeClaim; c != nil && c.ClaimName != "mine" && all["PersistentVolumeClaim "+c.ClaimName] == nil {
			t.Errorf("volume %s: no claim %s", v.Name, c.ClaimName)
		}
		if c := v.Secret; c != nil && strings.HasPrefix(c.SecretName, "films-") && all["Secret "+c.SecretName] == nil {
			t.Errorf("volume %s: no secret %s", v.Name, c.SecretName)
		}
	}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		s := c.SecurityContext
		if s == nil || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
			t.Errorf("%s: security %+v", c.Name, s)
		}
		if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
			t.Errorf("%s: no limit of memory or no request of CPU: %+v", c.Name, c.Resources)
		}
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("%s mounts %s, which is no volume", c.Name, m.Name)
			}
		}
	}
	if name := pod.Spec.ServiceAccountName; name != "" && all["ServiceAccount "+name] == nil {
		t.Errorf("no service account %s", name)
	}
}

// TestCommandLines: the program has the commands and flags of all containers. With REELSPLICE=PROGRAM, each command
// line runs with --help at its end, which rejects unknown flags.
func TestCommandLines(t *testing.T) {
	program := os.Getenv("REELSPLICE")
	if program == "" {
		t.Skip("the command lines of the chart are checked with REELSPLICE=PROGRAM, as scripts/packaging/test.sh has it")
	}
	for _, path := range cases(t) {
		values, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := render(t, string(values))
		if err != nil {
			t.Fatal(err)
		}
		for key, o := range objects(t, text) {
			var pod core.PodSpec
			switch o := o.(type) {
			case *apps.Deployment:
				pod = o.Spec.Template.Spec
			case *batch.CronJob:
				pod = o.Spec.JobTemplate.Spec.Template.Spec
			}
			for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
				if out, err := runHelp(t, program, c.Args); err != nil {
					t.Errorf("%s: %s: %v: %s: %v", path, key, c.Args, out, err)
				}
			}
		}
	}
}

// TestRefusals: values that cannot work are refused, with their name.
func TestRefusals(t *testing.T) {
	for values, want := range map[string]string{
		"{}": "tokens: want existingSecret or file",
		"{tokens: {existingSecret: t}, replica: 3}":                                   "replica",
		"{tokens: {existingSecret: t}, releases: {url: 'https://films/releases'}}":    "url",
		"{tokens: {existingSecret: t}, releases: {cache: {size: 20G}}}":               "size",
		"{tokens: {existingSecret: t}, service: {port: 70000}}":                       "port",
		"{tokens: {existingSecret: t}, serve: {args: [max-age=1m]}}":                  "args",
		"{tokens: {existingSecret: t}, ingress: {enabled: true}}":                     "ingress.hosts: want a name",
		"{tokens: {existingSecret: t}, nightly: {enabled: true, engine: kubernetes}}": "nightly.kubernetes.image: want an image",
		"{tokens: {existingSecret: t}, nightly: {engine: slurm}}":                     "engine",
	} {
		if _, err := render(t, values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", values, err, want)
		}
	}
}

// TestLint is "helm lint".
func TestLint(t *testing.T) {
	l := lint.All(chartDir, map[string]any{"tokens": map[string]any{"existingSecret": "t"}}, "media", true)
	for _, m := range l.Messages {
		if m.Severity > support.InfoSev {
			t.Error(m)
		}
	}
}
