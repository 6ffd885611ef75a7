package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The paths here are those of the package.
func TestPackage(t *testing.T) {
	dir := filepath.Join("..", "..", "scripts", "packaging", "systemd")
	for name, parts := range map[string][]string{
		filepath.Base(unitFile):      {"ExecStart=" + packagedProgram + " ", "User=" + packagedUser + "\n", "EnvironmentFile=-" + environmentFile + "\n", "CacheDirectory=" + filepath.Base(packagedCache) + "\n", "\n" + fileLimit},
		"reelsplice-nightly.service": {" " + packagedDumps + "\n"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			if !strings.Contains(strings.ReplaceAll(string(text), "\r", ""), p) {
				t.Errorf("%s lacks %q", name, p)
			}
		}
	}
}
