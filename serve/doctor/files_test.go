package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"al.essio.dev/pkg/shellescape"

	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/localca"
)

// A token's name is taken while it is in force.
func TestTokens(t *testing.T) {
	in := installation(t)
	soon := auth.Record{Name: "b", Created: in.Now, Expires: in.Now.Add(time.Hour)}
	if _, err := auth.Issue(in.Config.Tokens, soon); err != nil {
		t.Fatal(err)
	}
	has(t, "a token that expires", of(t, in, "tokens"), "warn: token b expires on ", "--name b-"+in.Now.Format(time.DateOnly)+"\n")
	file := in.Config.Tokens
	in.Config.Tokens = filepath.Dir(file)
	has(t, "a folder", of(t, in, "tokens"), "fail: "+in.Config.Tokens+" is no regular file -> set --tokens to ")
	in.Config.Tokens = filepath.Join(file, "a")
	has(t, "below a file", of(t, in, "tokens"), "fail: "+in.Config.Tokens+" is no regular file -> set --tokens to ")
	in.Config.Tokens = file
	write(t, in.Config.Tokens, "x\n", 0o600)
	has(t, "a damaged file", of(t, in, "tokens"), "fail", "-> mv "+file+" "+file+".bad && reelsplice token issue --tokens "+file+" --name me; or correct ")
	token, err := auth.Issue(filepath.Join(t.TempDir(), "other"), auth.Record{Name: "c", Created: in.Now})
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, token+"\n", 0o600)
	got := of(t, in, "tokens")
	has(t, "a token", got, "fail: "+file+": this is a token, not a token file -> set --tokens to ")
	if strings.Contains(got, token) {
		t.Errorf("the finding quotes the token: %s", got)
	}
}

// serve refuses a key that is missing, short, or open to others.
func TestSigningKey(t *testing.T) {
	in := installation(t)
	if got := of(t, in, "signing key"); got != "" {
		t.Errorf("no key: %s", got)
	}
	key := filepath.Join(t.TempDir(), "key")
	in.Config.SigningKey = key
	make32 := "-> " + shellescape.QuoteCommand([]string{"sh", "-c", "umask 077 && head -c 32 /dev/urandom >" + shellescape.Quote(key)}) + "\n"
	has(t, "a missing key", of(t, in, "signing key"), "fail", make32)
	write(t, key, "short", 0o600)
	has(t, "a short key", of(t, in, "signing key"), "fail", make32)
	write(t, key, "0123456789abcdef0123456789abcdef", 0o600)
	has(t, "a key", of(t, in, "signing key"), "ok: "+key)
	if err := os.Chmod(key, 0o644); err != nil || !hasModes {
		t.Skip(err)
	}
	has(t, "an open key", of(t, in, "signing key"), "fail", "-> chmod o= "+key+"\n")
}

// serve refuses an access log that it cannot open.
func TestAccessLog(t *testing.T) {
	in := installation(t)
	dir := filepath.Join(t.TempDir(), "logs")
	in.Config.AccessLog.Path = filepath.Join(dir, "access.log")
	has(t, "a missing folder", of(t, in, "access log"), "fail", "-> mkdir -p "+shellescape.Quote(dir)+"\n")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	has(t, "a folder", of(t, in, "access log"), "ok: ")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("doctor left %v there, %v", entries, err)
	}
	write(t, in.Config.AccessLog.Path, "a line\n", 0o600)
	has(t, "a file", of(t, in, "access log"), "ok: ")
	if text, err := os.ReadFile(in.Config.AccessLog.Path); err != nil || string(text) != "a line\n" {
		t.Errorf("the access log is %q, %v now", text, err)
	}
	in.Config.AccessLog.Path = "-"
	if got := of(t, in, "access log"); got != "" {
		t.Errorf("stdout: %s", got)
	}

	in.UID, in.Root, in.Program = 0, t.TempDir(), packagedProgram
	write(t, in.Root+unitFile, "[Service]\n", 0o600)
	in.Config.AccessLog.Path = filepath.Join(dir, "access.log")
	has(t, "a folder that the unit closes", of(t, in, "access log"), "ok: ", "warn: the unit lets", "ReadWritePaths="+dir+", then systemctl restart reelsplice\n")
	write(t, in.Root+editedUnit, "ReadWritePaths="+dir+"\n", 0o600)
	if got := of(t, in, "access log"); strings.Contains(got, "warn") {
		t.Errorf("a folder that the unit opens: %s", got)
	}
}

// The edge presents an expired certificate all the same.
func TestCertificate(t *testing.T) {
	in := installation(t)
	dir := filepath.Join(t.TempDir(), "certs")
	if _, err := localca.Make(dir, []string{"api.example.org", "127.0.0.1"}, 30, in.Now.AddDate(0, -2, 0)); err != nil {
		t.Fatal(err)
	}
	in.Config.TLSCert, in.Config.TLSKey = filepath.Join(dir, localca.LeafFile), filepath.Join(dir, localca.LeafKey)
	has(t, "expired", of(t, in, "certificate"), "warn: it expired on ", "-> reelsplice cert --out "+shellescape.Quote(dir)+" --name api.example.org --name 127.0.0.1\n")
	if err := os.Remove(filepath.Join(dir, localca.CAFile)); err != nil {
		t.Fatal(err)
	}
	has(t, "of another authority", of(t, in, "certificate"), "warn: it expired on ", "-> replace "+in.Config.TLSCert+" and "+in.Config.TLSKey+" with a newer certificate from ")
	in.Config.TLSKey = filepath.Join(dir, "none")
	has(t, "without a key", of(t, in, "certificate"), "fail: ", "reelsplice cert --out "+shellescape.Quote(dir)+" makes a pair\n")
}
