package s3_test

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/object/s3"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestCredentials opens a bucket with keys of the environment, of a profile, with none
// and without a signature.
func TestCredentials(t *testing.T) {
	s := objecttest.New(t)
	s.Put(t, "x", []byte("x"))
	signed := ""
	s.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
		signed = r.Header.Get("Authorization")
		return false
	})
	stat(t, open(t, s.URL("")), "x")
	if !strings.Contains(signed, "Credential=test-key-id/") {
		t.Errorf("environment: Authorization is %q", signed)
	}
	files := t.TempDir()
	sharedtest.NoError(t, os.WriteFile(filepath.Join(files, "credentials"), []byte("[other]\naws_access_key_id = other-id\naws_secret_access_key = other-key\n"), 0o600))
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(files, "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(files, "credentials"))
	stat(t, open(t, s.URL("")+"&profile=other"), "x")
	if !strings.Contains(signed, "Credential=other-id/") {
		t.Errorf("profile: Authorization is %q", signed)
	}
	stat(t, open(t, s.URL("")+"&anonymous=true"), "x")
	if signed != "" {
		t.Errorf("anonymous: Authorization is %q", signed)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	if _, err := s3.Open(t.Context(), location(t, s.URL(""))); err == nil || !strings.Contains(err.Error(), "s3://bucket/: no AWS credentials found: ") {
		t.Errorf("no credentials: %v", err)
	}
}

// TestGoogleCredentials opens buckets of Google with keys, without any, and without a signature.
func TestGoogleCredentials(t *testing.T) {
	s := objecttest.NewGoogle(t)
	s.Put(t, "x", []byte("x"))
	stat(t, open(t, s.URL("")), "x")
	stat(t, open(t, s.URL("")+"&anonymous=true"), "x")
	t.Setenv("GS_SECRET_ACCESS_KEY", "wrong")
	if _, err := open(t, s.URL("")).Stat(t.Context(), "x"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a wrong key: %v", err)
	}
	t.Setenv("GS_SECRET_ACCESS_KEY", "")
	if _, err := s3.Open(t.Context(), location(t, s.URL(""))); err == nil || !strings.Contains(err.Error(), "gs://bucket/: no HMAC key found: set GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY") {
		t.Errorf("no key: %v", err)
	}
}

// TestCreateOnGoogle must not pass over an object that is there: in Amazon's dialect, Google ignores the conditions of
// writes.
func TestCreateOnGoogle(t *testing.T) {
	objecttest.New(t) // its credentials
	b := open(t, "s3://bucket/?endpoint=https://storage.googleapis.com")
	if err := b.Create(t.Context(), "x", nil); !errors.Is(err, object.ErrUnsupported) || !strings.Contains(err.Error(), "want gs://bucket") {
		t.Errorf("Create: %v", err)
	}
}
