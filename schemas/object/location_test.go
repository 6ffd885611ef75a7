package object

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func TestIsURL(t *testing.T) {
	for s, want := range map[string]bool{
		"s3://b/k": true, "GS://b": true, "file:///x": true, "https://x/y": true,
		"dumps/movie.json": false, "/abs/x": false, `C:\x`: false, "a:b": false, "": false, "./s3://": false,
	} {
		if got := IsURL(s); got != want {
			t.Errorf("IsURL(%q) = %v, want %v", s, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	f := func(s, scheme, bucket, key string) {
		t.Helper()
		l, err := Parse(s)
		if err != nil || l.Scheme != scheme || l.Bucket != bucket || l.Key != key {
			t.Errorf("Parse(%q) = %q %q %q, %v, want %q %q %q", s, l.Scheme, l.Bucket, l.Key, err, scheme, bucket, key)
		}
	}
	f("s3://bucket/dumps/2026-11-*/movies.ndjson.zst?region=us-east-1&endpoint=http://127.0.0.1:9000", "s3", "bucket", "dumps/2026-11-*/movies.ndjson.zst")
	f("s3://bucket", "s3", "bucket", "")
	f("S3://bucket/", "s3", "bucket", "")
	f("gs://b/dumps/", "gs", "b", "dumps/")
	f("gs://c/a/**/movie?endpoint=http://x", "gs", "c", "a/**/movie")
	f("file:///abs/folder", "file", "", "abs/folder")
	f("file:///", "file", "", "")
	f("s3://b/100%25%20%23%3F[0-9].json", "s3", "b", "100% #?[0-9].json")
	f("s3://b//double", "s3", "b", "/double") // a key may start with a slash
}

func TestParseRefuses(t *testing.T) {
	f := func(s string, want ...string) {
		t.Helper()
		_, err := Parse(s)
		if err == nil {
			t.Errorf("Parse(%q): no error, want %q", s, want)
			return
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("Parse(%q): %v, want %q in it", s, err, w)
			}
		}
		if strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "\n") {
			t.Errorf("Parse(%q): %v: tells a secret or has several lines", s, err)
		}
	}
	f("http://host/x", `unknown scheme "http"`, "s3, gs or file")
	f("azblob://container/x", `unknown scheme "azblob"`, "s3, gs or file")
	f("s3:///key", "no bucket")
	f("s3://me:hush@bucket/key", "s3://bucket/key", "credentials")
	f("s3://me:hush@bucket/key%zz", "bad URL")
	f("s3://bucket/key?secret_key=hush", `s3://bucket/key: unknown parameter "secret_key"`, "region")
	f("s3://bucket/key?region=a&region=hush", `"region" is given twice`)
	f("s3://bucket/key?region=hush;x=y", "cannot read the parameters")
	f("s3://bucket/a#hush", "%23")
	f("s3://bucket/100%.json?region=hush", "bad URL", "invalid URL escape")
	f("file://folder/x", "absolute path")
	f("file://./x", "absolute path")
	f("file:///x?create_dir=1", "want none")
	f("gs://b/x?access_id=hush", `unknown parameter "access_id"`)
}

func TestLocation(t *testing.T) {
	l, err := Parse("s3://bucket/catalog?region=eu&endpoint=http://x")
	sharedtest.NoError(t, err)
	if got, want := l.AsPrefix().At("catalog/movie.parquet").String(), "s3://bucket/catalog/movie.parquet"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
	if p := l.AsPrefix(); l.IsPrefix() || !p.IsPrefix() || p.AsPrefix().Key != "catalog/" {
		t.Errorf("AsPrefix() = %q", p.Key)
	}
	other, err := Parse("s3://bucket/catalog?region=eu&endpoint=http://y")
	if err != nil || l.Identity() == other.Identity() {
		t.Errorf("Identity() = %q for two stores, %v", other.Identity(), err)
	}
	if _, ok := l.Path(); ok {
		t.Error("Path() of an s3: URL")
	}
	f, err := Parse("file:///a%20b/c")
	if p, ok := f.Path(); err != nil || !ok || filepath.ToSlash(p) != "/a b/c" {
		t.Errorf("Path() = %q, %v, %v", p, ok, err)
	}
	f, err = Parse("file:///C:/a/b")
	want := "/C:/a/b"
	if runtime.GOOS == "windows" {
		want = `C:\a\b`
	}
	if p, ok := f.Path(); err != nil || !ok || p != want {
		t.Errorf("Path() = %q, %v, %v, want %q", p, ok, err, want)
	}
}

func TestMatch(t *testing.T) {
	f := func(pattern, key string, want bool) {
		t.Helper()
		if got := Match(pattern, key); got != want {
			t.Errorf("Match(%q, %q) = %v, want %v", pattern, key, got, want)
		}
	}
	f("a/*.json", "a/b.json", true)
	f("a/*.json", "a/b/c.json", false)
	f("a/**/*.json", "a/c.json", true)
	f("a/**/*.json", "a/b/d/c.json", true)
	f("a/**", "a/b/c", true)
	f("a/**/b", "a/c", false)
	f("a/[0-9]?.gz", "a/1x.gz", true)
	f("**", "x", true)
	for pattern, want := range map[string]string{"a/b*/c": "a/", "a/**": "a/", "*": "", "a/b/c": "a/b/", "x[1]": ""} {
		if got := FixedPrefix(pattern); got != want {
			t.Errorf("FixedPrefix(%q) = %q, want %q", pattern, got, want)
		}
	}
	if err := CheckPattern("a/[b"); err == nil {
		t.Error("CheckPattern(a/[b): no error")
	}
}

func TestRedact(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hush-secret")
	got := Redact("Get \"https://me:pw@bucket.s3.amazonaws.com/c?sig=abc&se=1\": dial\n tcp: hush-secret?")
	if want := `Get "https://bucket.s3.amazonaws.com/c": dial tcp: <AWS_SECRET_ACCESS_KEY>?`; got != want {
		t.Errorf("redact = %q, want %q", got, want)
	}
}
