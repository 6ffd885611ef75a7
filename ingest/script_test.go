package ingest

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestScript runs the scripts in testdata/script: lists of commands, see script.command, with their files and what they print.
// "go test ./ingest -run TestScript -update" writes that.
func TestScript(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("scripts: %q, %v", paths, err)
	}
	times := regexp.MustCompile(`quarantine/[0-9T.]+Z`)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			sharedtest.Archive(t, path, func(dir string, lines []string) string {
				s := script{T: t, dir: dir}
				for _, line := range lines {
					fmt.Fprintln(&s.out, "$", line)
					s.command(strings.Fields(line))
				}
				return times.ReplaceAllString(s.out.String(), "quarantine/TIME")
			})
		})
	}
}

// A script runs in a folder of its own. Its catalogues are below the folder catalog.
type script struct {
	*testing.T
	dir string
	out strings.Builder
}

func (s *script) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func (s *script) catalog(name string) string { return s.path("catalog/" + name) }

func (s *script) paths(names []string) (paths []string) {
	for _, name := range names {
		paths = append(paths, s.path(name))
	}
	return paths
}

// command runs a command:
//
//	ingest [flags] SRC...    prints the report, or the error
//	explain [flags] SRC...   prints how files are read
//	each [flags] SRC...      ingests each source into an empty catalogue, and prints its report and records
//	show KIND [FIELD...]     prints the records of a kind, or some of their fields
//	log, removed             prints the log of changes, the removed resources
//	files DIR                prints the names of the files in a folder, such as catalog/main
//	quarantine               prints the rows in the latest quarantine file
//	mend FILE OLD NEW...     writes the rows in quarantine to a file, as jq -c .row does, with some texts replaced
//	same NAME NAME           compares the Parquet files of two catalogues
func (s *script) command(args []string) {
	var c Config
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.StringVar(&c.Catalog, "catalog", "main", "")
	f.StringVar(&c.Kind, "kind", "", "")
	f.StringVar(&c.Layout, "layout", "", "")
	f.StringVar(&c.Language, "language", "", "")
	f.StringVar(&c.Encoding, "encoding", "", "")
	f.StringVar((*string)(&c.Mode), "mode", "", "")
	f.BoolVar(&c.Strict, "strict", false, "")
	f.BoolVar(&c.Update, "update", false, "")
	f.Int64Var(&c.Memory, "memory", 0, "")
	f.Float64Var(&c.MinFit, "min-fit", 0, "")
	f.Func("mapping", "", func(name string) error { c.Mappings = append(c.Mappings, s.path(name)); return nil })
	for name, to := range map[string]*Tolerance{"max-bad": &c.MaxBad, "max-bad-values": &c.MaxBadValues} {
		f.Func(name, "", func(text string) (err error) { *to, err = ParseTolerance(text); return err })
	}
	if err := f.Parse(args[1:]); err != nil {
		s.Fatal(err)
	}
	args, c.Catalog = f.Args(), s.catalog(c.Catalog)
	var lines []string
	switch f.Name() {
	case "ingest":
		c.Sources = s.paths(args)
		s.ingest(c)
	case "explain":
		c.Sources = s.paths(args)
		e, err := Explain(s.Context(), c)
		if err != nil {
			lines = []string{"error: " + err.Error()}
		}
		for i := range e.Files {
			text, err := json.Marshal(e.Files[i])
			if err != nil {
				s.Fatal(err)
			}
			lines = append(lines, string(text))
		}
	case "each":
		for _, src := range args {
			c.Sources, c.Catalog = []string{s.path(src)}, s.catalog("each")
			fmt.Fprintln(&s.out, "==", src)
			s.ingest(c)
			for _, name := range slices.Sorted(maps.Keys(allFiles(s.T, c.Catalog))) {
				kind := strings.TrimSuffix(name, ".parquet")
				if kind == "removed" || kind == "changes" {
					continue
				}
				for _, row := range recordsOf(s.T, c.Catalog, kind) {
					lines = append(lines, kind+" "+row)
				}
			}
			s.print("", lines)
			if lines = nil; os.RemoveAll(c.Catalog) != nil {
				s.Fatal("the catalogue of ", src, " stays")
			}
		}
	case "show":
		if lines = recordsOf(s.T, c.Catalog, args[0]); len(args) > 1 {
			lines = fields(s.T, c.Catalog, args[0], args[1:]...)
		}
	case "log":
		lines = loggedChanges(s.T, c.Catalog)
	case "removed":
		var err error
		if lines, err = removedTexts(c.Catalog); err != nil {
			s.Fatal(err)
		}
	case "files":
		lines = catalogNames(s.T, s.path(args[0]))
	case "quarantine":
		for _, row := range latestQuarantine(s.T, c.Catalog) {
			text, err := json.Marshal(row)
			if err != nil {
				s.Fatal(err)
			}
			lines = append(lines, string(text))
		}
	case "mend":
		for _, row := range latestQuarantine(s.T, c.Catalog) {
			lines = append(lines, strings.NewReplacer(args[1:]...).Replace(string(row.Row)))
		}
		put(s.T, s.dir, args[0], strings.Join(lines, "\n")+"\n")
		lines = nil
	case "same":
		lines = []string{fmt.Sprint(maps.Equal(allFiles(s.T, s.catalog(args[0])), allFiles(s.T, s.catalog(args[1]))))}
	default:
		s.Fatalf("no command %s", f.Name())
	}
	s.print("", lines)
}

func (s *script) print(name string, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(&s.out, name+line)
	}
}

// ingest prints the parts of a report that are not empty.
func (s *script) ingest(c Config) {
	r, err := Run(s.Context(), c)
	counts := func(name string, list map[string]int64) {
		for _, key := range slices.Sorted(maps.Keys(list)) {
			if list[key] != 0 {
				name += fmt.Sprintf(" %s %d", key, list[key])
			}
		}
		if !strings.HasSuffix(name, ":") {
			fmt.Fprintln(&s.out, name)
		}
	}
	counts("rows:", map[string]int64{
		"read": r.Rows, "kept": r.Kept, "blank": r.Blank, "repeated": r.Duplicates, "quarantined": r.Quarantined, "matched": r.Matched,
		"minted": r.Minted, "without id": r.NoID, "values left out": r.ValuesLeftOut, "values coerced": r.ValuesCoerced,
	})
	counts("records:", r.Records)
	for _, k := range r.Details.Records {
		counts(k.Kind+":", map[string]int64{"added": k.Added, "changed": k.Changed, "removed": k.Removed})
	}
	counts("ids:", map[string]int64{"removed": r.Removed, "merged": r.Merged})
	counts("unknown:", r.Unknown)
	counts("coerced:", r.Coerced)
	counts("dropped:", r.Dropped)
	counts("kept whole:", r.Whole)
	for _, l := range r.LeftOut {
		for _, sample := range l.Samples {
			fmt.Fprintf(&s.out, "left out: %s %d: %s\n", l.Path, l.Count, sample)
		}
	}
	s.print("bad: ", r.Bad)
	s.print("failed: ", r.Failed)
	s.print("skipped: ", r.Skipped)
	s.print("conflict: ", r.Samples)
	for i := range r.Columns {
		s.fit(&r.Columns[i])
	}
	if err != nil {
		fmt.Fprintln(&s.out, "error:", err)
	}
}

// fit prints the meaning of a file, and the fates of values that were not used: all = used + left out + extra + unused.
func (s *script) fit(f *report.FileFit) {
	fmt.Fprintf(&s.out, "file: %s as %s", f.File, f.Meaning)
	for _, c := range f.Columns {
		if c.Used != c.Cells {
			fmt.Fprintf(&s.out, ", %s %d=%d+%d+%d+%d", c.Name, c.Cells, c.Used, c.LeftOut, c.Extra, c.Unused)
		}
	}
	fmt.Fprintln(&s.out)
	s.print("problem: ", f.Problems)
}
