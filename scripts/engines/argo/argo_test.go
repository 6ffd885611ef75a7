// Package argo checks the Workflow that "reelsplice build submit --engine argo" prints against the
// types of Argo.
package argo

import (
	"os"
	"testing"

	"github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"sigs.k8s.io/yaml"
)

// TestWorkflow parses the document strictly: a field that Argo lacks is an error.
func TestWorkflow(t *testing.T) {
	text, err := os.ReadFile("../../../docs/reference/engines/argo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var w v1alpha1.Workflow
	if err := yaml.UnmarshalStrict(text, &w); err != nil {
		t.Fatal(err)
	}
	build := w.GetTemplateByName(w.Spec.Entrypoint)
	if build == nil || len(build.Steps) != len(w.Spec.Templates)-1 {
		t.Fatalf("entry %q has %+v for %d templates", w.Spec.Entrypoint, build, len(w.Spec.Templates))
	}
	for _, group := range build.Steps {
		if len(group.Steps) != 1 {
			t.Fatalf("steps side by side: %+v", group.Steps)
		}
		step := group.Steps[0]
		stage := w.GetTemplateByName(step.Template)
		if stage == nil || stage.Container == nil || stage.RetryStrategy == nil {
			t.Fatalf("step %s: template %+v", step.Name, stage)
		}
		if array := step.WithSequence != nil; array != (stage.Inputs.GetParameterByName("index") != nil) || array != (step.Arguments.GetParameterByName("index") != nil) {
			t.Errorf("step %s: index of %+v", step.Name, stage.Inputs)
		}
	}
}
