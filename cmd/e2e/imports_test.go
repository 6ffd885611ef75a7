package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// TestImports holds the imports to the plan: commands import the stages, the stages import
// the schemas and not one another, and what the edge links is small.
func TestImports(t *testing.T) {
	deps := map[string][]string{}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "reelsplice/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		deps[f[0]] = f[1:]
	}
	const sonic, parquet, fasthttp = "github.com/bytedance/sonic", "github.com/parquet-go/parquet-go", "github.com/valyala/fasthttp"
	vendors := []string{"reelsplice/schemas/object/store", "reelsplice/schemas/object/mirror", "github.com/minio", "gocloud.dev", "cloud.google.com/go", "github.com/Azure"}
	for _, rule := range []struct {
		from, reason string
		not          []string
	}{
		{"reelsplice/schemas", "shared packages import no stage", []string{"reelsplice/ingest", "reelsplice/build", "reelsplice/serve", "reelsplice/cmd"}},
		{"reelsplice/data", "facts import nothing", []string{"reelsplice/ingest", "reelsplice/build", "reelsplice/serve", "reelsplice/cmd"}},
		{"reelsplice/ingest", "the stages do not import one another", []string{"reelsplice/build", "reelsplice/serve", "reelsplice/cmd", fasthttp}},
		{"reelsplice/build", "the stages do not import one another", []string{"reelsplice/ingest", "reelsplice/serve", "reelsplice/cmd", fasthttp}},
		{"reelsplice/serve", "the edge imports releases only, and never encodes JSON", []string{"reelsplice/ingest", "reelsplice/build", "reelsplice/cmd", "reelsplice/schemas/catalog", "reelsplice/schemas/record", sonic, parquet}},
		{"reelsplice/ingest", "buckets are opened by whoever asks for an ingest", vendors},
		{"reelsplice/build", "buckets are opened by whoever asks for a build", vendors},
		{"reelsplice/serve", "the edge does not link the libraries of object stores", vendors},
		{"reelsplice/schemas/release", "the edge does not link the libraries of object stores", vendors},
		{"reelsplice", "a first go run stays small: gs:// and azblob:// need the tag allclouds", []string{"gocloud.dev", "cloud.google.com/go", "github.com/Azure"}},
		{"reelsplice/cmd/reelsplice", "the facts of the API are for its generator and for tests", []string{"reelsplice/schemas/api/facts"}},
		{"reelsplice/cmd/reelsplice", "test servers are for tests", []string{"github.com/johannesboyne/gofakes3", "reelsplice/schemas/object/objecttest"}},
		{"reelsplice/serve/edge", "the edge has no transport", []string{fasthttp, "net/http", "reelsplice/serve/http"}},
		{"reelsplice/serve/releases", "the core has no transport", []string{fasthttp, "net/http"}},
		{"reelsplice/serve/splice", "the core has no transport", []string{fasthttp, "net/http"}},
		{"reelsplice/serve/route", "the core has no transport", []string{fasthttp, "net/http"}},
		{"reelsplice/serve/variant", "the core has no transport", []string{fasthttp, "net/http"}},
		{"reelsplice/serve/auth", "the core has no transport", []string{fasthttp, "net/http"}},
	} {
		for pkg, list := range deps {
			if !under(pkg, rule.from) || pkg == "reelsplice/serve/servetest" { // which tests alone import
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
