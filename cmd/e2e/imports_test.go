package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// TestImports checks the imports: commands import the stages, the stages import the schemas and not one another, and
// the edge links few packages.
func TestImports(t *testing.T) {
	deps := map[string][]string{}
	out, err := exec.Command("go", "list", "-f", `{{.Module.Path}} {{.ImportPath}} {{join .Deps " "}}`, "../../...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		module, line, _ := strings.Cut(line, " ")
		line = strings.ReplaceAll(line, module+"/", "") // paths below the module's
		f := strings.Fields(line)
		deps[f[0]] = f[1:]
	}
	const sonic, parquet, fasthttp = "github.com/bytedance/sonic", "github.com/parquet-go/parquet-go", "github.com/valyala/fasthttp"
	vendors := []string{"schemas/object/s3", "github.com/minio"}
	for _, rule := range []struct {
		from, reason string
		not          []string
	}{
		{"schemas", "shared packages import no stage", []string{"ingest", "build", "serve", "cmd"}},
		{"data", "facts import nothing", []string{"ingest", "build", "serve", "cmd"}},
		{"ingest", "the stages do not import one another", []string{"build", "serve", "cmd", fasthttp}},
		{"build", "the stages do not import one another", []string{"ingest", "serve", "cmd", fasthttp}},
		// It encodes its own JSON, of facts and of the page, outside the API's paths.
		{"serve", "the edge imports releases only, and never encodes records", []string{"ingest", "build", "cmd", "schemas/catalog", "schemas/record", sonic, parquet}},
		{"ingest", "buckets are opened by whoever asks for an ingest", vendors},
		{"build", "buckets are opened by whoever asks for a build", vendors},
		{"serve", "the edge does not link the libraries of object stores", vendors},
		{"schemas/release", "the edge does not link the libraries of object stores", vendors},
		{"serve", "the specification of the API is read by its generator alone", []string{"go.yaml.in/yaml", "sigs.k8s.io/yaml"}},
		{"cmd/reelsplice", "validation of the OpenAPI document is for tests", []string{"github.com/getkin/kin-openapi", "github.com/santhosh-tekuri/jsonschema"}},
		{"cmd/reelsplice", "test servers are for tests", []string{"github.com/johannesboyne/gofakes3", "schemas/object/objecttest"}},
		{"serve/edge", "the edge has no transport", []string{fasthttp, "net/http", "serve/http"}},
		{"serve/releases", "the core has no transport", []string{fasthttp, "net/http"}},
		{"serve/splice", "the core has no transport", []string{fasthttp, "net/http"}},
		{"serve/route", "the core has no transport", []string{fasthttp, "net/http"}},
		{"serve/variant", "the core has no transport", []string{fasthttp, "net/http"}},
		{"serve/auth", "the core has no transport", []string{fasthttp, "net/http"}},
	} {
		for pkg, list := range deps {
			if !under(pkg, rule.from) || pkg == "serve/servetest" { // only tests import it
				continue
			}
			for _, dep := range list {
				for _, bad := range rule.not {
					if under(dep, bad) {
						t.Errorf("%s imports %s: %s", pkg, dep, rule.reason)
					}
				}
			}
		}
	}
}

// under reports whether pkg is root or below it.
func under(pkg, root string) bool {
	return pkg == root || strings.HasPrefix(pkg, root+"/")
}
