package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestDocuments runs the commands of the README and of every how-to: its sh blocks, one after another, in an empty
// folder with a link to data. Blocks of other languages, such as console, are left out.
func TestDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("the commands of documents run without the race detector only")
	}
	for _, program := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the commands of documents need %s: %v", program, err)
		}
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(root, "docs", "how-to", "*.md"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("found %d documents in docs/how-to: %v", len(paths), err)
	}
	for _, path := range append(paths, filepath.Join(root, "README.md")) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			if filepath.Base(path) != "README.md" {
				sharedtest.Long(t) // each ingests, builds and serves the sample, as the README does
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if script := commandsOf(string(text)); script != "" {
				runCommands(t, root, script)
			}
		})
	}
}

var shBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// commandsOf returns the sh blocks of a document. It leaves out commands of a fresh clone with Go, which other tests
// run.
func commandsOf(text string) string {
	var b strings.Builder
	for _, m := range shBlock.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(m[1]) {
			if !strings.HasPrefix(line, "go ") {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}

// sleepBefore finds a sleep and the next command, which may continue after a backslash.
var sleepBefore = regexp.MustCompile(`(?m)^sleep 1\n+((?:.*\\\n)*.*)\n`)

// runCommands runs a bash script, which stops at the first failing command.
func runCommands(t *testing.T, root, script string) {
	t.Helper()
	dir := t.TempDir()
	program, err := exec.LookPath("reelsplice")
	if err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"data": filepath.Join(root, "data"), "reelsplice": program, "changed": filepath.Join(root, "data", "sample")} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	addr := freeAddress(t)
	script = strings.ReplaceAll(script, "127.0.0.1:8080", addr)
	for _, port := range []string{"8079", "8081"} {
		script = strings.ReplaceAll(script, "127.0.0.1:"+port, freeAddress(t))
	}
	// A document sleeps until the edge is ready for the next command. The test retries that instead.
	script = sleepBefore.ReplaceAllString(script, "until $1\ndo sleep 0.05; done\n")
	if strings.Contains(script, "sleep 1\n") {
		t.Fatal("a sleep has no command behind it")
	}
	script = "set -euo pipefail\nexec 2>&1\nset -v\ntrap 'jobs -p | xargs -r kill 2>/dev/null || true' EXIT\n" + script
	ctx, cancel := context.WithTimeout(t.Context(), 5*sharedtest.Patience)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-c", script)
	c.Dir = dir
	c.Env = append(os.Environ(), "HOME="+dir, "XDG_CACHE_HOME="+dir, "REELSPLICE_ADDR="+addr)
	c.WaitDelay = sharedtest.Patience // edges started by the script take seconds to end
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v; the last lines of the commands:\n%s", err, lastLines(string(out), 12))
	}
}

// freeAddress returns an address without a listener. On Linux it picks a loopback address of its own, so that no
// other process takes the port first.
func freeAddress(t *testing.T) string {
	t.Helper()
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		host = fmt.Sprintf("127.%d.%d.%d", 1+rand.N(254), rand.N(255), 1+rand.N(254))
	}
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr())
}

// lastLines returns the last n lines of text.
func lastLines(text string, n int) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

var mdLink = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)

// TestDocumentLinks: links between files of the repository have targets.
func TestDocumentLinks(t *testing.T) {
	root := filepath.Join("..", "..")
	paths, err := exec.Command("git", "-C", root, "ls-files", "*.md").Output()
	if err != nil {
		t.Skipf("the documents are listed by git: %v", err)
	}
	for path := range strings.FieldsSeq(string(paths)) {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mdLink.FindAllSubmatch(text, -1) {
			link := string(m[1])
			if strings.Contains(link, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(path), link)); err != nil {
				t.Errorf("%s links to %s: %v", path, link, err)
			}
		}
	}
}

var testName = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`")

// TestPromises: each test that SECURITY.md names exists.
func TestPromises(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	found, err := exec.Command("git", "-C", root, "grep", "-hoE", `^func (Test|Fuzz)[A-Za-z0-9]+`, "--", "*_test.go").Output()
	if err != nil {
		t.Skipf("the tests are listed by git: %v", err)
	}
	tests := strings.Fields(string(found))
	for _, m := range testName.FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains(tests, m[1]) {
			t.Errorf("SECURITY.md names %s: there is no such test", m[1])
		}
	}
}

var directModule = regexp.MustCompile(`(?m)^\t(\S+?)(?:/v\d+)? v\S+$`)

// TestLibraries: the page of libraries has each module that the code imports.
func TestLibraries(t *testing.T) {
	root := filepath.Join("..", "..")
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "libraries.md"))
	if err != nil {
		t.Fatal(err)
	}
	modules := directModule.FindAllSubmatch(mod, -1)
	if len(modules) < 30 {
		t.Errorf("go.mod has %d direct modules, want 30 or more", len(modules))
	}
	for _, m := range modules {
		if name := path.Base(string(m[1])); !regexp.MustCompile(`(?m)^\|[^|]*\b` + regexp.QuoteMeta(name) + `\b`).Match(page) {
			t.Errorf("docs/reference/libraries.md lacks %s", m[1])
		}
	}
}
