package doctor

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"al.essio.dev/pkg/shellescape"

	"github.com/reelsplice/reelsplice/serve"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/edge"
)

func (x *examiner) tokens() {
	path := x.Config.Tokens
	records, err := auth.List(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.fail("tokens", x.issueCommand("me", nil), "there is no token file %s", path)
		return
	case errors.Is(err, auth.ErrIsToken):
		x.fail("tokens", x.setHint("tokens", "the file that token issue made"), "%v", err)
		return
	case err != nil:
		x.fail("tokens", "correct the file, or move it away and issue new tokens: "+x.issueCommand("me", nil), "token file: %v", err)
		return
	}
	x.private("tokens", path)
	active, expiring, void := 0, 0, 0
	for i := range records {
		r := &records[i]
		if !r.Revoked.IsZero() || !r.Expires.IsZero() && !r.Expires.After(x.Now) {
			continue
		}
		if r.Void != "" {
			void++
			x.warn("tokens", "update this program, or correct the line: "+path, "token %s is void: %s", r.Name, r.Void)
			continue
		}
		active++
		if !r.Expires.IsZero() && r.Expires.Sub(x.Now) < expiresSoon {
			expiring++
			x.warn("tokens", x.issueCommand(r.Name, records), "token %s expires on %s", r.Name, r.Expires.Format(time.DateOnly))
		}
	}
	switch {
	case active == 0:
		x.fail("tokens", x.issueCommand("me", records), "no token in %s is valid: every request gets 401", path)
	case expiring+void == 0:
		x.ok("tokens", "%d in force", active)
	}
}

// refused lists the credentials that the running edge refused and that were not issued since.
func (x *examiner) refused(ctx context.Context) {
	var list []edge.RefusedKey
	_, body, err := serve.AskAdmin(ctx, x.Config.AdminAddr, "/refused")
	if err != nil || json.Unmarshal(body, &list) != nil {
		return // an edge of an earlier version
	}
	records, _ := auth.List(x.Config.Tokens) // tokens reports the error
	for _, r := range list {
		if slices.ContainsFunc(records, func(t auth.Record) bool { return hex.EncodeToString(t.Hash[:]) == r.SHA256 }) {
			continue
		}
		x.warn("refused", "if you know this client: "+x.command("token", "issue", "--tokens", x.Config.Tokens, "--name", "NAME", "--sha256", r.SHA256),
			"an unknown key was refused at %s, from client %q", r.Last.Format(time.RFC3339), r.UserAgent)
	}
}

// issueCommand returns the command that issues a token. A name that is already in records gets today's date appended.
func (x *examiner) issueCommand(name string, records []auth.Record) string {
	if slices.ContainsFunc(records, func(r auth.Record) bool { return r.Name == name }) {
		name += "-" + x.Now.Format(time.DateOnly)
	}
	return x.command("token", "issue", "--tokens", x.Config.Tokens, "--name", name)
}

func (x *examiner) signingKey() {
	path := x.Config.SigningKey
	if path == "" {
		return
	}
	if _, err := auth.OpenSigner(path); err != nil {
		fix := "sh -c " + shellescape.Quote("umask 077 && head -c 32 /dev/urandom >"+shellescape.Quote(path)) + " makes one"
		if _, statErr := os.Stat(path); statErr == nil {
			fix = "chmod o= " + shellescape.Quote(path) + " if it is the key; otherwise " + fix
		}
		x.fail("signing key", fix, "%v", err)
		return
	}
	x.ok("signing key", "%s can be used", path)
}

func (x *examiner) certificate() {
	cert, key := x.Config.TLSCert, x.Config.TLSKey
	if cert == "" || key == "" {
		return
	}
	fix := "replace " + cert + " and " + key + ": the edge reloads them; " + x.command("cert", "--out", filepath.Dir(cert)) + " makes a pair"
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		x.fail("certificate", fix, "%v", err)
		return
	}
	x.private("certificate", key)
	names := pair.Leaf.DNSNames
	for _, ip := range pair.Leaf.IPAddresses {
		names = append(names, ip.String())
	}
	end := pair.Leaf.NotAfter
	switch {
	case !end.After(x.Now): // the edge still presents it
		x.warn("certificate", fix, "it expired on %s: clients refuse it", end.Format(time.DateOnly))
	case end.Sub(x.Now) < expiresSoon:
		x.warn("certificate", fix, "it expires on %s", end.Format(time.DateOnly))
	case pair.Leaf.NotBefore.After(x.Now):
		x.fail("certificate", "set the clock of this machine, or "+fix, "it is not valid before %s", pair.Leaf.NotBefore.Format(time.RFC3339))
	default:
		x.ok("certificate", "of %s, until %s", strings.Join(names, ", "), end.Format(time.DateOnly))
	}
}

// private warns of a file that every user can read.
func (x *examiner) private(check, path string) {
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o007 != 0 {
		x.warn(check, "chmod o= "+shellescape.Quote(path), "%s can be read by other users", path)
	}
}

// wsaAddressInUse is the code of Windows for an address in use.
const wsaAddressInUse = 10048

func addressInUse(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || runtime.GOOS == "windows" && errors.Is(err, syscall.Errno(wsaAddressInUse))
}
