package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/durable"
)

// MintedFile is the file of minted ids, in the catalogue; see package merge.
const MintedFile = "minted.ids"

// OverlayFile returns the name of the file that holds the records of overlay sources by
// themselves, so that they also win over records that are ingested later.
func OverlayFile(t *catalog.Type) string { return t.Name() + ".overlay.parquet" }

// catalogFiles describes the files of a catalogue.
func catalogFiles(dir string) ([]File, error) {
	names := []string{catalog.RemovedFile, MintedFile}
	for _, t := range catalog.Types() {
		names = append(names, t.File(), OverlayFile(t))
	}
	var out []File
	for _, name := range names {
		f, err := FileAt(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		f.Path = name
		out = append(out, f)
	}
	return out, nil
}

// FileAt describes a file that must be the same when an ingest goes on.
func FileAt(path string) (File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return File{}, err
	}
	return File{Path: path, Bytes: info.Size(), Modified: info.ModTime()}, nil
}

// FilesAt is FileAt for several.
func FilesAt(paths ...string) ([]File, error) {
	var out []File
	for _, path := range paths {
		f, err := FileAt(path)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// clear makes an empty working folder. The caller holds the catalogue's lock, so that nothing in an
// old one is in use.
func (j *Journal) clear(replay bool) error {
	err := os.RemoveAll(j.work)
	if !replay {
		err = errors.Join(err, os.RemoveAll(filepath.Join(j.catalog, ReplayDir)))
	}
	if err != nil {
		return fmt.Errorf("remove files of an earlier ingest: %w", err)
	}
	for _, name := range []string{RunsDir, OutDir} {
		if err := os.MkdirAll(j.Path(name), 0o700); err != nil {
			return fmt.Errorf("make folder for temporary files: %w", err)
		}
	}
	return nil
}

// Move makes moves in order. Those that were made are passed over.
func (j *Journal) Move(moves ...Move) error {
	dirs := map[string]bool{}
	for _, m := range moves {
		to := filepath.Join(j.catalog, m.To)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := j.move(m, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("put %s in its place: %w", m.To, err)
		}
		dirs[filepath.Dir(to)] = true
	}
	for dir := range dirs {
		if err := durable.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

func (j *Journal) move(m Move, to string) error {
	if m.From == "" {
		return os.Remove(to)
	}
	return durable.Rename(j.Path(m.From), to)
}

// endMoves makes the moves of an ingest that was killed among them.
func (j *Journal) endMoves(log *slog.Logger) error {
	var p Progress
	ok, err := j.read(ProgressFile, &p)
	if !ok || p.Stage != Written {
		return err // no file moved yet: the ingest starts anew
	}
	log.Info("completing the catalogue of an interrupted ingest")
	if err := j.Move(p.Moves...); err != nil {
		return err
	}
	return j.Remove()
}
