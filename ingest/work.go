package ingest

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/file"
)

// A workFolder holds the files of one ingest, inside the catalogue:
//
//	sort-*, ids.*   sorted rows and IDs
//	new             files of the new catalogue, under their final names
//	complete        new, renamed once all of its files are complete and synced
//
// The rename of new to complete commits. Before it, the catalogue is unchanged, and the next ingest removes the folder. After
// it, this ingest or the next one moves the files into place. The caller holds the catalogue's lock.
type workFolder struct {
	catalog string
	dir     string
	name    string // path of the quarantine file in the catalogue
}

// workDir is the name of the folder.
const workDir = catalog.WorkDir

// openWork creates the working folder of an ingest, after completing or removing an interrupted one. run names the quarantine
// file.
func openWork(dir, run string) (*workFolder, error) {
	w := &workFolder{catalog: dir, dir: filepath.Join(dir, workDir), name: filepath.Join(catalog.QuarantineDir, run+".ndjson")}
	if _, err := os.Stat(w.path(catalog.CompleteDir)); err == nil {
		if err := file.MoveAll(w.path(catalog.CompleteDir), dir); err != nil {
			return nil, err
		}
	}
	if err := w.remove(); err != nil {
		return nil, fmt.Errorf("remove files of a killed ingest: %w", err)
	}
	if err := os.MkdirAll(w.path("new", catalog.QuarantineDir), 0o700); err != nil {
		return nil, fmt.Errorf("make folder for temporary files: %w", err)
	}
	return w, nil
}

func (w *workFolder) path(elem ...string) string { return filepath.Join(w.dir, filepath.Join(elem...)) }

func (w *workFolder) remove() error { return os.RemoveAll(w.dir) }

// quarantine returns the path of the quarantine file during the ingest.
func (w *workFolder) quarantine() string { return w.path("new", w.name) }

// keepQuarantine moves the quarantine file of a stopped ingest into place, and returns its path.
func (w *workFolder) keepQuarantine() (string, error) {
	to := filepath.Join(w.catalog, w.name)
	return to, file.Move(w.quarantine(), to)
}

// commit makes the files in new the catalogue's.
func (w *workFolder) commit() error {
	return file.ReplaceAll(w.path("new"), w.path(catalog.CompleteDir), w.catalog)
}
