package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// setUpStore gives a script its store: $S3 is the prefix of a key and $Q its suffix. Each script has a folder of its
// own in the bucket.
func setUpStore(env *testscript.Env, store *objecttest.Server) error {
	env.Setenv("S3", "s3://"+objecttest.Bucket+"/"+storeFolder(env.WorkDir))
	env.Setenv("Q", "?"+store.Query())
	env.Setenv("GOGC", strconv.Itoa(sharedtest.GCPercent))
	for _, name := range []string{"AWS_EC2_METADATA_DISABLED", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		env.Setenv(name, os.Getenv(name))
	}
	return nil
}

// storeFolder returns the bucket folder of the script that runs in dir.
func storeFolder(dir string) string { return filepath.Base(dir) }

// scriptStore puts a file into the store: store FILE KEY.
func scriptStore(ts *testscript.TestScript, s *objecttest.Server, args []string) {
	t := scriptT{ts}
	s.Put(t, storeFolder(ts.Getenv("WORK"))+"/"+args[1], []byte(ts.ReadFile(args[0])))
}

// scriptStored prints the number of keys with a prefix, and the keys: stored PREFIX.
func scriptStored(ts *testscript.TestScript, s *objecttest.Server, args []string) {
	folder := storeFolder(ts.Getenv("WORK")) + "/"
	keys := s.Keys(scriptT{ts}, folder+args[0])
	fmt.Fprintln(ts.Stdout(), len(keys))
	for _, key := range keys {
		fmt.Fprintln(ts.Stdout(), strings.TrimPrefix(key, folder))
	}
}

// scriptSpoil flips a bit of the first object whose key has a prefix: spoil PREFIX.
func scriptSpoil(ts *testscript.TestScript, s *objecttest.Server, args []string) {
	t, key := scriptT{ts}, firstKey(ts, s, args[0])
	data := s.Get(t, key)
	data[len(data)/2] ^= 1
	s.Put(t, key, data)
}

// scriptLose removes that object: lose PREFIX.
func scriptLose(ts *testscript.TestScript, s *objecttest.Server, args []string) {
	s.Delete(scriptT{ts}, firstKey(ts, s, args[0]))
}

func firstKey(ts *testscript.TestScript, s *objecttest.Server, prefix string) string {
	keys := s.Keys(scriptT{ts}, storeFolder(ts.Getenv("WORK"))+"/"+prefix)
	if len(keys) == 0 {
		ts.Fatalf("no key starts with %s", prefix)
	}
	return keys[0]
}

// scriptT fails a script instead of a test.
type scriptT struct{ ts *testscript.TestScript }

func (t scriptT) Helper()                      {}
func (t scriptT) Fatal(args ...any)            { t.ts.Fatalf("%s", fmt.Sprint(args...)) }
func (t scriptT) Fatalf(f string, args ...any) { t.ts.Fatalf(f, args...) }
