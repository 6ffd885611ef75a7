package build

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// reportFile is the name of the build report in a release folder. The manifest does
// not list it, because its times are no part of the release's content.
const reportFile = "report.json"

// writeReport puts the report beside the files of a release. A release that was there
// before gets the report of this build, so that the newest is the one built last.
func writeReport(dir string, r Report) error {
	path := filepath.Join(dir, reportFile)
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := renameio.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
