package work

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/object/store"
)

const planID = "0123456789abcdef"

// processes returns the folders of two processes that share one.
func processes(t *testing.T, shared object.Folder) (a, b *Folder) {
	t.Helper()
	var both [2]*Folder
	for i := range both {
		both[i] = Shared(shared, planID)
		dir := t.TempDir()
		if err := both[i].SetScratch(dir, NewCache(t.Context(), dir+"/cache")); err != nil {
			t.Fatal(err)
		}
	}
	return both[0], both[1]
}

// inBucket opens a prefix of a bucket.
func inBucket(t *testing.T, s *objecttest.Server) object.Folder {
	t.Helper()
	f, err := store.OpenFolder(t.Context(), s.URL("work"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// give writes a file in the folder of a process and shares it.
func give(t *testing.T, f *Folder, name, content string) File {
	t.Helper()
	if err := os.WriteFile(filepath.Join(f.Dir(Files), name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := f.Describe(name)
	if err == nil {
		err = f.Share(t.Context(), Files, name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestShared: what one process shares another one finds, in a folder and in a bucket; nothing stays where it was made.
func TestShared(t *testing.T) {
	for name, shared := range map[string]object.Folder{"folder": object.Local(t.TempDir()), "bucket": inBucket(t, objecttest.New(t))} {
		t.Run(name, func(t *testing.T) {
			a, b := processes(t, shared)
			file := give(t, a, "x", "content")
			path, err := b.Path(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			if data, err := os.ReadFile(path); err != nil || string(data) != "content" {
				t.Errorf("another process reads %q, %v", data, err)
			}
			if _, err := os.Stat(filepath.Join(a.Dir(Files), "x")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the file in the making: %v, want none", err)
			}
			if err := a.Share(t.Context(), Files, "y"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("sharing a file that is not there: %v", err)
			}
			if err := a.Share(t.Context(), Files, "x"); err != nil {
				t.Errorf("sharing what another task of the process has shared: %v", err)
			}
		})
	}
}

// TestRecords: a record is made once. A twin that has made the same is welcome, another one is not.
func TestRecords(t *testing.T) {
	for name, shared := range map[string]object.Folder{"folder": object.Local(t.TempDir()), "bucket": inBucket(t, objecttest.New(t))} {
		t.Run(name, func(t *testing.T) {
			a, b := processes(t, shared)
			var got map[string]int
			if err := a.ReadDone(t.Context(), "titles", 3, &got); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a task that is not done: %v", err)
			}
			for _, f := range []*Folder{a, b, a} {
				if err := f.PutDone(t.Context(), "titles", 3, map[string]int{"n": 1}); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.PutDone(t.Context(), "titles", 3, map[string]int{"n": 2}); err == nil || !strings.Contains(err.Error(), "titles-00003.json: a twin of this task has made something else") {
				t.Errorf("a twin that has made something else: %v", err)
			}
			if err := b.ReadDone(t.Context(), "titles", 3, &got); err != nil || got["n"] != 1 {
				t.Errorf("record %v, %v", got, err)
			}
			if done, err := a.DoneOf(t.Context()); err != nil || len(done) != 1 || !done[RecordName("titles", 3)] {
				t.Errorf("done are %v, %v", done, err)
			}
		})
	}
}

// TestWrongBytes: bytes that are not those of the record are read again, and never used.
func TestWrongBytes(t *testing.T) {
	s := objecttest.New(t)
	a, b := processes(t, inBucket(t, s))
	file := give(t, a, "x", strings.Repeat("content", 1000))
	if err := a.PutDone(t.Context(), "titles", 0, "record"); err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodGet && n.Add(1)%2 == 1 && s.Flip(77, w, r)
	})
	if _, err := b.Path(t.Context(), file); err != nil {
		t.Errorf("a wrong bit in every second response: %v", err)
	}
	var got string
	if err := b.ReadDone(t.Context(), "titles", 0, &got); err != nil || got != "record" {
		t.Errorf("record %q, %v", got, err)
	}
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodGet && s.Flip(5, w, r)
	})
	c, _ := processes(t, inBucket(t, s))
	if _, err := c.Path(t.Context(), file); !errors.Is(err, errBytes) || !strings.Contains(err.Error(), "s3://bucket/work/"+planID+"/files/x") {
		t.Errorf("a wrong bit in every response: %v", err)
	}
	if err := c.ReadDone(t.Context(), "titles", 0, &got); !errors.Is(err, errBytes) {
		t.Errorf("a record with a wrong bit in every response: %v", err)
	}
}

// TestMerge: sections of files that lie in a bucket give the records that those of a folder give.
func TestMerge(t *testing.T) {
	s := objecttest.New(t)
	a, b := processes(t, inBucket(t, s))
	const files, sections, each = 5, 4, 300
	var shared []File
	for i := range files {
		sorter := extsort.New(extsort.Options{Dir: a.Dir(Files), Sections: sections})
		for k := range each {
			key := fmt.Sprintf("%05d", (k*7919+i)%each)
			if err := sorter.Add(k%(sections-1), []byte(key), []byte{byte(i)}); err != nil { // the last one stays empty
				t.Fatal(err)
			}
		}
		name := fmt.Sprintf("sorted-%d", i)
		f, err := sorter.WriteFile(t.Context(), filepath.Join(a.Dir(Files), name))
		if err == nil {
			err = errors.Join(f.Close(), sorter.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		file, err := a.Describe(name)
		if err == nil {
			err = a.Share(t.Context(), Files, name)
		}
		if err != nil {
			t.Fatal(err)
		}
		shared = append(shared, file)
	}
	var n atomic.Int64
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodGet && n.Add(1)%5 == 1 && s.Flip(33, w, r)
	})
	sorted, err := b.OpenSorted(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for section := range sections {
		last, count := "", 0
		it, err := sorted.Merge(context.Background(), section, 1<<20)
		if err == nil {
			err = it.Each(func(key, payload []byte) error {
				if record := string(key) + string(payload); record < last {
					t.Fatalf("record %q behind %q", record, last)
				} else {
					last = record
				}
				count++
				return nil
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		total += count
	}
	if total != files*each {
		t.Errorf("%d records, want %d", total, files*each)
	}
	if left, err := filepath.Glob(filepath.Join(b.Dir(Files), "section-*")); err != nil || len(left) > 0 {
		t.Errorf("copies of sections %v, %v, want none", left, err)
	}
	if err := sorted.Close(); err != nil {
		t.Fatal(err)
	}
}
