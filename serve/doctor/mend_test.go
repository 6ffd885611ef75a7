//go:build linux

package doctor

import (
	"crypto/x509"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/durable"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/localca"
)

// another gives the releases and tokens to another user. The examination is root's if asRoot. It returns how commands
// for the other user begin.
func another(t *testing.T, in *Installation, asRoot bool) (prefix string) {
	t.Helper()
	uid := os.Geteuid()
	if uid == 0 {
		uid = 4242
		for _, path := range []string{in.Config.Releases, filepath.Dir(in.Config.Tokens), in.Config.Tokens} {
			if err := os.Chown(path, uid, -1); err != nil {
				t.Skip(err)
			}
		}
	}
	if in.UID = uid + 1; asRoot {
		in.UID = 0
	}
	if name := durable.UserName(uid); name != strconv.Itoa(uid) {
		return "sudo -u " + name + " "
	}
	return "sudo -u '#" + strconv.Itoa(uid) + "' "
}

// The edge can read the files of commands that root runs, and settings come from the same file.
func TestAnotherOwner(t *testing.T) {
	in := installation(t)
	as := another(t, in, true)
	in.ConfigFile, in.Catalog = "my settings.toml", t.TempDir()
	write(t, filepath.Join(in.Catalog, "movies.parquet"), "x", 0o600)
	const config = " --config 'my settings.toml'"
	has(t, "root", of(t, in, "user"), "warn: root may ", "-> "+as+"reelsplice doctor"+config+"\n")
	has(t, "build", of(t, in, "release"), "fail", "-> "+as+"reelsplice build --catalog "+in.Catalog+" --releases "+in.Config.Releases+" --publish"+config+"\n")
	in.Catalog = filepath.Join(in.Catalog, "none")
	has(t, "no catalogue", of(t, in, "release"), "fail", "-> "+as+"reelsplice ingest --catalog "+in.Catalog+" DUMPS"+config+" && "+as+"reelsplice build ")
	in.Args = []string{"--config=x", "doctor"}
	has(t, "its own arguments", of(t, in, "user"), "warn", "-> "+as+"reelsplice --config=x doctor\n")
	in.Environ = []string{"REELSPLICE_TOKENS=my tokens"}
	has(t, "the environment", of(t, in, "user"), "warn", "-> "+as+"env 'REELSPLICE_TOKENS=my tokens' reelsplice --config=x doctor\n")

	in = installation(t)
	as = another(t, in, false)
	if got := of(t, in, "user"); got != "" {
		t.Errorf("another user: %s", got)
	}
	if err := os.Truncate(in.Config.Tokens, 0); err != nil {
		t.Fatal(err)
	}
	has(t, "another user", of(t, in, "tokens"), "fail", "-> "+as+"reelsplice token issue --tokens "+in.Config.Tokens+" --name me\n")
}

// The edge's user may not write to folders of other users. Root makes the files there.
func TestMaking(t *testing.T) {
	in, dir := installation(t), t.TempDir()
	file := filepath.Join(dir, "file")
	x := &examiner{Installation: in, owner: in.UID}
	has(t, "the user's folder", x.making(file, "make")+"\n", "make\n")
	has(t, "a missing folder there", x.making(filepath.Join(file, "a"), "make"), "mkdir -p "+file+" && make")

	x.owner++
	name := durable.UserName(x.owner)
	chown := func(path string) string { return " && " + x.root("chown", name, path) + "\n" }
	has(t, "a missing folder", x.making(filepath.Join(file, "a"), "make"), x.root("install", "-d", "-o", name, file)+" && "+x.as(x.owner, "make"))
	in.Config.Tokens, in.Config.SigningKey = filepath.Join(dir, "tokens"), filepath.Join(dir, "key")
	in.Config.TLSCert, in.Config.TLSKey = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	x.tokens()
	has(t, "tokens", textOf(t, x.findings, "tokens"), "fail: ", "-> "+x.root("reelsplice", "token"), chown(in.Config.Tokens))
	x.signingKey()
	has(t, "signing key", textOf(t, x.findings, "signing key"), "fail: ", "-> "+x.root("sh", "-c"), chown(in.Config.SigningKey))
	x.certificate()
	pair := x.root("reelsplice", "cert", "--out", dir) + " && " + x.root("chown", name, filepath.Join(dir, "key.pem"))
	has(t, "certificate", textOf(t, x.findings, "certificate"), "fail: ", "; "+pair+" makes a pair\n")
	in.Config.TLSCert = filepath.Join(dir, localca.LeafFile)
	write(t, filepath.Join(dir, localca.CAFile), "", 0o600)
	if got := x.renew(&x509.Certificate{}, nil); got != pair {
		t.Errorf("a certificate that expires: %q, want %q", got, pair)
	}
}

// An edge of root gets a user of its own. chown fails on a missing file, and the lock of the token file is root's too.
func TestUnprivileged(t *testing.T) {
	if _, err := user.Lookup(packagedUser); err == nil {
		t.Skip("the user is there already")
	}
	in := installation(t)
	in.UID = 0
	x := &examiner{Installation: in}
	const add, start = "useradd --system reelsplice", ", then start the edge as reelsplice\n"
	files := " " + in.Config.Tokens + " " + in.Config.Tokens + auth.LockSuffix
	x.user()
	has(t, "all files", textOf(t, x.findings, "user"), "warn: ", "-> "+add+" && chown -R reelsplice: "+in.Config.Releases+files+start)
	in.Config.Releases = filepath.Join(in.Config.Releases, "none")
	x.user()
	has(t, "tokens", textOf(t, x.findings[1:], "user"), "warn: ", "-> "+add+" && chown -R reelsplice:"+files+start)
	in.Config.Tokens = in.Config.Releases
	x.user()
	has(t, "no files", textOf(t, x.findings[2:], "user"), "warn: ", "-> "+add+start)
}

// The mend for missing rights runs doctor as the right user, or gives that user the right.
func TestAllow(t *testing.T) {
	in := installation(t)
	x := &examiner{Installation: in, owner: in.UID}
	if got := x.allow(fs.ErrNotExist, in.Config.Tokens, "else"); got != "else" {
		t.Errorf("another error: %q", got)
	}
	me := durable.UserName(in.UID)
	has(t, "a file of another user", x.allow(fs.ErrPermission, in.Config.Tokens, ""), x.root("chown", me, in.Config.Tokens))
	has(t, "a folder of another user", x.allow(fs.ErrPermission, in.Config.Releases, ""), x.root("chown", "-R", me, in.Config.Releases))
	has(t, "a closed folder", x.allow(fs.ErrPermission, in.Config.Releases+"/a/b", ""), x.root("setfacl", "-m", "u:"+me+":x", in.Config.Releases))
	t.Chdir(in.Config.Releases)
	has(t, "a relative path", x.allow(fs.ErrPermission, "a", ""), x.root("setfacl", "-m", "u:"+me+":x", in.Config.Releases))
	as := another(t, in, false)
	x.owner = x.dataOwner()
	has(t, "another user", x.allow(fs.ErrPermission, in.Config.Tokens, ""), as+"reelsplice doctor")
}

// Files in a closed folder may exist: no mend makes them again.
func TestClosedFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root looks into every folder")
	}
	in := installation(t)
	closed := filepath.Dir(in.Config.Tokens)
	in.Config.Releases = filepath.Join(closed, "releases")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o700) })
	in.UID++
	want := "-> " + (&examiner{Installation: in}).as(os.Geteuid(), "reelsplice", "doctor") + "\n"
	has(t, "releases", of(t, in, "release"), "fail", want)
	has(t, "tokens", of(t, in, "tokens"), "fail", want)
	in.UID--
	has(t, "as the owner", of(t, in, "tokens"), "fail", "-> sudo setfacl -m u:"+durable.UserName(in.UID)+":x "+closed+"\n")
}

// A file with several hard links counts once.
func TestUsage(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "r1", "pack"), strings.Repeat("x", 1<<20), 0o600)
	before := usage(dir)
	if err := os.Mkdir(filepath.Join(dir, "r2"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "r1", "pack"), filepath.Join(dir, "r2", "pack")); err != nil {
		t.Skip(err)
	}
	if after := usage(dir); before < 1<<20 || after-before > 1<<19 {
		t.Errorf("usage is %d, with a link %d, want 1 MiB or little more", before, after)
	}
}
