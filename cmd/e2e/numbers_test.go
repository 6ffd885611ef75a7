package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	_ "unsafe" // for go:linkname

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// Numbers at which data takes another way: see CONTRIBUTING.md. One whose variable has another name by now is 0 here,
// which lower reports.
//
//go:linkname planTitleTasks github.com/reelsplice/reelsplice/build/work.maxTitleTasks
//go:linkname planPersonTasks github.com/reelsplice/reelsplice/build/work.maxPersonTasks
//go:linkname planOtherTasks github.com/reelsplice/reelsplice/build/work.maxOtherTasks
//go:linkname planRanges github.com/reelsplice/reelsplice/build/work.maxRanges
//go:linkname planRowsOfRange github.com/reelsplice/reelsplice/build/work.rowsOfRange
//go:linkname planRowsOfTitles github.com/reelsplice/reelsplice/build/work.rowsOfTitles
//go:linkname planPartitionSize github.com/reelsplice/reelsplice/build/work.partitionSize
//go:linkname planFeatures github.com/reelsplice/reelsplice/build/work.featuresPerPartition
//go:linkname planRowsOfSample github.com/reelsplice/reelsplice/build/work.rowsOfSample
//go:linkname taskReads github.com/reelsplice/reelsplice/build/task.reads
//go:linkname indexBlockBytes github.com/reelsplice/reelsplice/build/index.blockBytes
//go:linkname taskMaxHeld github.com/reelsplice/reelsplice/build/task.maxHeld
//go:linkname groupBytes github.com/reelsplice/reelsplice/schemas/catalog.rowGroupBytes
//go:linkname largeGroupBytes github.com/reelsplice/reelsplice/schemas/catalog.largeGroupBytes
//go:linkname manyGroups github.com/reelsplice/reelsplice/schemas/catalog.manyGroups
//go:linkname catalogBatchRows github.com/reelsplice/reelsplice/schemas/catalog.batchRows
//go:linkname catalogBatchBytes github.com/reelsplice/reelsplice/schemas/catalog.batchBytes
//go:linkname arenaPiece github.com/reelsplice/reelsplice/schemas/catalog.arenaPiece
//go:linkname sortMemory github.com/reelsplice/reelsplice/schemas/extsort.minMemory
//go:linkname sortBlock github.com/reelsplice/reelsplice/schemas/extsort.blockBytes
//go:linkname sortMaxBlock github.com/reelsplice/reelsplice/schemas/extsort.maxBlock
//go:linkname sortEntries github.com/reelsplice/reelsplice/schemas/extsort.minEntries
//go:linkname sortFanIn github.com/reelsplice/reelsplice/schemas/extsort.maxFanIn
//go:linkname sortCreate github.com/reelsplice/reelsplice/schemas/extsort.createFile
//go:linkname keysOfIndex github.com/reelsplice/reelsplice/schemas/release.keysOfIndex
//go:linkname releasePiece github.com/reelsplice/reelsplice/schemas/release.pieceLen
//go:linkname releaseKnown github.com/reelsplice/reelsplice/schemas/release.maxKnown
//go:linkname fullPacks github.com/reelsplice/reelsplice/schemas/release.fullPacks
//go:linkname checkCache github.com/reelsplice/reelsplice/schemas/release/check.maxCache
//go:linkname compareCache github.com/reelsplice/reelsplice/schemas/release/compare.maxCache
//go:linkname compareWalked github.com/reelsplice/reelsplice/schemas/release/compare.walkedBytes
//go:linkname compareKeys github.com/reelsplice/reelsplice/schemas/release/compare.keysMapped
//go:linkname ingestBatchRows github.com/reelsplice/reelsplice/ingest.batchRows
//go:linkname ingestBatchBytes github.com/reelsplice/reelsplice/ingest.batchBytes
//go:linkname windowBytes github.com/reelsplice/reelsplice/ingest/source.windowBytes
//go:linkname columnBuffer github.com/reelsplice/reelsplice/schemas/catalog.columnBuffer
//go:linkname maxDetailed github.com/reelsplice/reelsplice/ingest/merge.maxDetailed
//go:linkname queryFirstCached github.com/reelsplice/reelsplice/serve/query.firstCached
//go:linkname edgeScratch github.com/reelsplice/reelsplice/serve/edge.maxScratch
//go:linkname edgeKept github.com/reelsplice/reelsplice/serve/edge.maxKept
//go:linkname edgeLease github.com/reelsplice/reelsplice/serve/edge.leaseStep
var (
	planTitleTasks, planPersonTasks, planOtherTasks, planRowsOfSample              int
	planRanges, planRowsOfRange, planRowsOfTitles, planPartitionSize, planFeatures int64
	taskReads, indexBlockBytes, taskMaxHeld                                        int

	groupBytes, largeGroupBytes, catalogBatchBytes         int64
	manyGroups, catalogBatchRows, arenaPiece, columnBuffer int

	sortMemory, sortFanIn                int64
	sortBlock, sortMaxBlock, sortEntries int
	sortCreate                           func(path string) (io.WriteCloser, error)

	keysOfIndex, compareWalked                                                   int64
	releasePiece, releaseKnown, fullPacks, checkCache, compareCache, compareKeys int

	ingestBatchRows, ingestBatchBytes, windowBytes, maxDetailed int
	queryFirstCached, edgeScratch, edgeKept, edgeLease          int
)

// lower lowers a number until the end of the test.
func lower[T int | int64](t *testing.T, variable *T, v T) {
	t.Helper()
	if *variable <= v {
		t.Fatalf("a number is %d, want more than %d: has its variable another name?", *variable, v)
	}
	sharedtest.Set(t, variable, v)
}

// lowerAll lowers all numbers.
func lowerAll(t *testing.T) {
	t.Helper()
	lower(t, &planTitleTasks, 8)
	lower(t, &planPersonTasks, 12)
	lower(t, &planOtherTasks, 9)
	lower(t, &planRanges, 7)
	lower(t, &planRowsOfRange, 20)
	lower(t, &planRowsOfTitles, 5)
	lower(t, &planRowsOfSample, 3)
	lower(t, &planPartitionSize, 300)
	lower(t, &planFeatures, 500)
	lower(t, &taskReads, 1)
	lower(t, &indexBlockBytes, 10)
	lower(t, &taskMaxHeld, 100)
	lower(t, &groupBytes, 2<<10)
	lower(t, &largeGroupBytes, 20<<10)
	lower(t, &manyGroups, 5)
	lower(t, &catalogBatchRows, 2)
	lower(t, &catalogBatchBytes, 1<<10)
	lower(t, &arenaPiece, 16)
	lower(t, &columnBuffer, 3)
	lower(t, &sortMemory, 8<<10)
	lower(t, &sortBlock, 128)
	lower(t, &sortMaxBlock, 100)
	lower(t, &sortEntries, 4)
	lower(t, &sortFanIn, 3)
	lower(t, &keysOfIndex, 200)
	lower(t, &releasePiece, 7)
	lower(t, &releaseKnown, 2)
	lower(t, &fullPacks, 10)
	lower(t, &checkCache, 3)
	lower(t, &compareCache, 3)
	lower(t, &compareWalked, 50_000)
	lower(t, &compareKeys, 2)
	lower(t, &ingestBatchRows, 3)
	lower(t, &ingestBatchBytes, 5000)
	lower(t, &windowBytes, 64)
	lower(t, &build.MinMemory, 16<<10)
	lower(t, &queryFirstCached, 7)
	lower(t, &edge.MaxWhole, 500)
	lower(t, &edgeScratch, 100)
	lower(t, &edgeKept, 200)
	lower(t, &edgeLease, 50)
}

// TestNumbers: the table in CONTRIBUTING.md has the numbers of the code, existing tests, and each variable whose
// comment mentions that tests lower it.
func TestNumbers(t *testing.T) {
	data, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		pkg, names, values, tests := codes(cells[1])[0], codes(cells[2]), codes(cells[3]), codes(cells[5])
		have := numbersOf(t, pkg)
		if len(names) != len(values) || len(tests) == 0 {
			t.Errorf("%s: %d numbers, %d values, %d tests", pkg, len(names), len(values), len(tests))
			continue
		}
		for i, name := range names {
			listed[pkg+"."+name] = true
			if n, ok := have[name]; !ok || n.value != valueOf(t, values[i]) {
				t.Errorf("%s.%s is %s, in the table %s", pkg, name, n.value, values[i])
			}
		}
		for _, test := range tests {
			in, name, _ := strings.Cut(test, " ")
			if !hasTest(t, in, name) {
				t.Errorf("%s has no %s", in, name)
			}
		}
	}
	if len(listed) < 50 {
		t.Fatalf("the table has %d numbers", len(listed))
	}
	for _, root := range []string{"ingest", "build", "schemas", "serve"} {
		err := filepath.WalkDir("../../"+root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() || d.Name() == "testdata" {
				return err
			}
			pkg := filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash("../../")))
			for name, n := range numbersOf(t, pkg) {
				if n.lowered && !listed[pkg+"."+name] {
					t.Errorf("%s.%s, which tests lower, is not in the table", pkg, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// codes returns the texts between backticks.
func codes(cell string) (list []string) {
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
		list = append(list, m[1])
	}
	return list
}

// A number is a variable or a constant of a package.
type number struct {
	value   string
	lowered bool // according to a comment
}

// valueOf returns the value of a constant expression, or "".
func valueOf(t *testing.T, text string) string {
	t.Helper()
	v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, text)
	if err != nil || v.Value == nil {
		return ""
	}
	return v.Value.ExactString()
}

// parsed returns the files of a package, tests or others.
func parsed(t *testing.T, pkg string, tests bool) (fset *token.FileSet, files []*ast.File) {
	t.Helper()
	fset = token.NewFileSet()
	names, err := filepath.Glob(filepath.Join("../..", filepath.FromSlash(pkg), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") != tests {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return fset, files
}

// numbersOf returns the numbers of a package.
func numbersOf(t *testing.T, pkg string) map[string]number {
	t.Helper()
	all := map[string]number{}
	fset, files := parsed(t, pkg, false)
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR && g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				lowered := regexp.MustCompile(`(?i)tests lower `).MatchString(g.Doc.Text() + v.Doc.Text() + v.Comment.Text())
				for i, name := range v.Names {
					if i < len(v.Values) {
						all[name.Name] = number{valueOf(t, textOf(t, fset, v.Values[i])), lowered}
					}
				}
			}
		}
	}
	return all
}

// textOf returns the text of an expression.
func textOf(t *testing.T, fset *token.FileSet, x ast.Expr) string {
	t.Helper()
	from, to := fset.Position(x.Pos()), fset.Position(x.End())
	data, err := os.ReadFile(from.Filename)
	if err != nil {
		t.Fatal(err)
	}
	return string(data[from.Offset:to.Offset])
}

// hasTest reports whether a package has a test.
func hasTest(t *testing.T, pkg, name string) bool {
	t.Helper()
	_, files := parsed(t, pkg, true)
	return slices.ContainsFunc(files, func(f *ast.File) bool {
		return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
			fn, ok := d.(*ast.FuncDecl)
			return ok && fn.Name.Name == name
		})
	})
}
