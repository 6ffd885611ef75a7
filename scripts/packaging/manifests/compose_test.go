package manifests

import (
	"os"
	"slices"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// TestCompose loads the Compose file like "docker compose config", which rejects unknown keys and broken references.
func TestCompose(t *testing.T) {
	const path = "../compose.yaml"
	p, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: "..", ConfigFiles: []types.ConfigFile{{Filename: path}}, Environment: map[string]string{"DUMPS": "/srv/dumps"},
	}, loader.WithProfiles([]string{"nightly"}))
	if err != nil {
		t.Fatal(err)
	}
	program := os.Getenv("REELSPLICE")
	for name, s := range p.Services {
		if !s.ReadOnly || s.User != "65532:65532" || !slices.Contains(s.CapDrop, "ALL") {
			t.Errorf("service %s: read only %v, user %q, drops %v", name, s.ReadOnly, s.User, s.CapDrop)
		}
		if !slices.ContainsFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool { return v.Source == "data" && v.Target == "/data" }) {
			t.Errorf("service %s has no data", name)
		}
		if program != "" {
			if out, err := runHelp(t, program, s.Command); err != nil {
				t.Errorf("service %s: %v: %s: %v", name, s.Command, out, err)
			}
		}
	}
	edge := p.Services["edge"]
	if len(edge.Profiles) != 0 || !slices.Equal(edge.HealthCheck.Test, []string{"CMD", "/reelsplice", "health"}) || edge.Ports[0].HostIP != "127.0.0.1" {
		t.Errorf("edge: profiles %v, check %v, ports %v", edge.Profiles, edge.HealthCheck, edge.Ports)
	}
	order := []string{"nightly", "build", "ingest"}
	for i, name := range order[:2] {
		if d := p.Services[name].DependsOn[order[i+1]]; d.Condition != "service_completed_successfully" {
			t.Errorf("%s depends on %s: %+v", name, order[i+1], d)
		}
	}
}
