package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"al.essio.dev/pkg/shellescape"

	"github.com/reelsplice/reelsplice/schemas/durable"
	"github.com/reelsplice/reelsplice/serve/accesslog"
	"github.com/reelsplice/reelsplice/serve/auth"
)

func (x *examiner) tokens() {
	path := x.Config.Tokens
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() || isBelowFile(filepath.Dir(path)) {
		x.fail("tokens", x.set("tokens", "a file in a folder"), "%s is no regular file", path)
		return
	}
	if err == nil && info.Size() == 0 {
		err = errors.New(path + " is empty")
	}
	if err != nil {
		x.fail("tokens", x.allow(err, path, x.issue("me", nil)), "token file: %v", err)
		return
	}
	x.private("tokens", path)
	records, err := auth.List(path)
	if errors.Is(err, auth.ErrIsToken) {
		x.fail("tokens", x.set("tokens", "the file that token issue made"), "%v", err)
		return
	}
	if err != nil {
		anew := x.as(x.ownerOf(filepath.Dir(path)), "mv", path, path+".bad") + " && " + x.issue("me", nil)
		x.fail("tokens", x.allow(err, path, anew+"; or correct the file by hand"), "%v", err)
		return
	}
	active, soon := 0, 0
	for i := range records {
		r := &records[i]
		x.claim(r.Created, "token "+r.Name)
		if !r.Revoked.IsZero() || !r.Expires.IsZero() && !r.Expires.After(x.Now) {
			continue
		}
		active++
		if !r.Expires.IsZero() && r.Expires.Sub(x.Now) < expiresSoon {
			soon++
			x.warn("tokens", x.issue(r.Name, records), "token %s expires on %s", r.Name, r.Expires.Format(time.DateOnly))
		}
	}
	switch {
	case active == 0:
		x.fail("tokens", x.issue("me", records), "no token of %s is in force: every request gets 401", path)
	case soon == 0:
		x.ok("tokens", "%d in force", active)
	}
}

// issue returns the command that issues a token. A name that is already in records gets today's date appended.
func (x *examiner) issue(name string, records []auth.Record) string {
	if slices.ContainsFunc(records, func(r auth.Record) bool { return r.Name == name }) {
		name += "-" + x.Now.Format(time.DateOnly)
	}
	return x.making(x.Config.Tokens, x.configured([]string{"token", "issue", "--tokens", x.Config.Tokens, "--name", name})...)
}

func (x *examiner) signingKey() {
	path := x.Config.SigningKey
	if path == "" {
		return
	}
	_, err := auth.OpenSigner(path)
	if err == nil {
		x.ok("signing key", "%s can be used", path)
		return
	}
	mend := x.making(path, "sh", "-c", "umask 077 && head -c 32 /dev/urandom >"+shellescape.Quote(path))
	if info, err := os.Stat(path); err == nil && hasModes && info.Mode().Perm()&0o006 != 0 {
		mend = x.as(x.ownerOf(path), "chmod", "o=", path)
	}
	x.fail("signing key", x.allow(err, path, mend), "%v", err)
}

// accessLog checks that the access log can be written. It leaves no file behind.
func (x *examiner) accessLog() {
	path := x.Config.AccessLog.Path
	if path == "" || path == accesslog.Stdout {
		return
	}
	var mend string
	dir := filepath.Dir(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = tryFolder(dir)
		mend = x.writable(dir)
		if durable.Nearest(dir) == filepath.Clean(dir) && x.UID == x.owner { // other programs may write to that folder
			mend = x.root("install", "-o", durable.UserName(x.owner), "-m", "640", "/dev/null", path)
		}
	case err == nil && info.Mode().IsRegular(): // opening a pipe waits for its reader
		var f *os.File
		if f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			_ = f.Close()
		}
		fallthrough
	default:
		mend = x.allow(err, path, x.set("access-log", "a file that can be written"))
	}
	if err != nil {
		x.fail("access log", mend, "%v", err)
		return
	}
	x.ok("access log", "%s can be written", path)
	x.mayWrite("access log", dir)
}

// tryFolder reports why no file can be made in a folder.
func tryFolder(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-*")
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return &fs.PathError{Op: "write to", Path: dir, Err: failed.Err}
	}
	if err != nil {
		return err
	}
	_ = f.Close()
	return os.Remove(f.Name())
}
