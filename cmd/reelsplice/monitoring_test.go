package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/reelsplice/reelsplice/serve"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// monitoring is the folder of the dashboard and the rules.
var monitoring = filepath.Join("..", "..", "docs", "reference", "monitoring")

// A dashboard has the tested parts of Grafana's.
type dashboard struct {
	Panels []struct {
		ID          int
		Type, Title string
		Description string
		GridPos     struct{ X, Y, W, H int }
		Targets     []struct{ Expr, LegendFormat string }
	}
	Annotations struct{ List []struct{ Expr string } }
}

// A ruleFile is a file of alert rules.
type ruleFile struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Alert       string            `json:"alert"`
			Expr        string            `json:"expr"`
			For         string            `json:"for,omitempty"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"rules"`
	} `json:"groups"`
}

// readDashboard returns the dashboard, whose panels must have unique names, queries and places.
func readDashboard(t *testing.T) *dashboard {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(monitoring, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatalf("dashboard.json: %v", err)
	}
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("panel %d %q: want a title and an ID of its own", p.ID, p.Title)
		}
		ids[p.ID] = true
		if isRow := p.Type == "row"; isRow != (len(p.Targets) == 0) || isRow != (p.Description == "") {
			t.Errorf("panel %q: want queries and a description", p.Title)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("panel %q lies upon %q or outside", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
	return &d
}

// monitored returns the expressions of the dashboard and of the alert rules, by name.
func monitored(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	d := readDashboard(t)
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all["panel "+p.Title+", "+target.LegendFormat] = target.Expr
		}
	}
	for _, a := range d.Annotations.List {
		all["annotation"] = a.Expr
	}
	data, err := os.ReadFile(filepath.Join(monitoring, "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var rules ruleFile
	if err := yaml.UnmarshalStrict(data, &rules); err != nil {
		t.Fatalf("alerts.yml: %v", err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Annotations["summary"] == "" || r.Annotations["description"] == "" || r.Labels["severity"] == "" {
				t.Errorf("alert %s: want severity, summary and description", r.Alert)
			}
			all["alert "+r.Alert] = r.Expr
		}
	}
	if len(all) < 40 {
		t.Fatalf("%d expressions, want those of the dashboard and the rules", len(all))
	}
	return all
}

// selector is a metric in an expression, with its surroundings.
var selector = regexp.MustCompile(`(\w+\()?\b((?:reelsplice|process|go)_\w+)(?:\{([^}]*)\})?(\[)?`)

// TestMonitoringNames: the dashboard and the alert rules use existing metrics and labels, and counters only by their
// growth.
func TestMonitoringNames(t *testing.T) {
	described := map[string]observe.Description{}
	for _, d := range observe.Descriptions {
		described[d.Name] = d
		if d.Type == observe.Histogram {
			bucket := d
			bucket.Type, bucket.Labels = observe.Counter, append(slices.Clone(d.Labels), "le")
			described[d.Name+"_bucket"] = bucket
		}
	}
	var own bytes.Buffer
	if err := serve.WriteProcessMetrics(&own); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for where, expr := range monitored(t) {
		for _, m := range selector.FindAllStringSubmatch(expr, -1) {
			call, name, matchers, isRange := m[1], m[2], m[3], m[4] != ""
			used[name] = true
			if !strings.HasPrefix(name, "reelsplice_") {
				if runtime.GOOS == "linux" && !strings.Contains(own.String(), "\n"+name+" ") {
					t.Errorf("%s: the process has no %s", where, name)
				}
				continue
			}
			d, ok := described[name]
			if !ok {
				t.Errorf("%s: the edge has no %s", where, name)
			}
			if grows := call == "rate(" || call == "increase("; grows != (d.Type == observe.Counter) || isRange != (grows || call == "changes(") {
				t.Errorf("%s: %s%s is a %s", where, call, name, d.Type)
			}
			for matcher := range strings.SplitSeq(matchers, ",") {
				label := strings.TrimRight(matcher[:max(0, strings.IndexAny(matcher, "=!"))], "=!~")
				if label != "" && label != "job" && label != "instance" && !slices.Contains(d.Labels, label) {
					t.Errorf("%s: %s has no label %q", where, name, label)
				}
			}
		}
	}
	for _, name := range []string{"reelsplice_requests_total", "reelsplice_request_duration_seconds_bucket", "process_resident_memory_bytes"} {
		if !used[name] {
			t.Errorf("no expression has %s, so selectors are not found", name)
		}
	}
}

// TestPromtool checks the configuration, and the rules with their tests, with Prometheus' own tool.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skipf("rules are checked by Prometheus' tool: %v", err)
	}
	for _, args := range [][]string{{"check", "config", filepath.Join(monitoring, "prometheus.yml")}, {"test", "rules", filepath.Join(monitoring, "alerts_test.yml")}} {
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
