package main

import (
	"runtime/debug"
	"testing"
)

func TestVersionOf(t *testing.T) {
	const revision = "73e27546b8a2878b8962da54d3b3edff80454a02"
	f := func(what, module, revision, modified, want string) {
		t.Helper()
		info := &debug.BuildInfo{Main: debug.Module{Version: module}}
		if revision != "" {
			info.Settings = []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified}}
		}
		if got := versionOf(info); got.Version != want || got.Revision != revision {
			t.Errorf("%s: version %q of %q, want %q of %q", what, got.Version, got.Revision, want, revision)
		}
	}
	f("go run", "(devel)", "", "", nextVersion)
	f("no build info", "", "", "", nextVersion)
	f("go build", "v0.0.0-20261123050022-73e27546b8a2", revision, "false", nextVersion+"+73e27546b8a2")
	f("go build with changes", "v0.0.0-20261123050022-73e27546b8a2+dirty", revision, "true", nextVersion+"+73e27546b8a2.dirty")
	f("a tag", "v1.2.3", revision, "false", "1.2.3")
	f("go install of a tag", "v1.2.3", "", "", "1.2.3")
}
