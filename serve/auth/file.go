package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/reelsplice/reelsplice/schemas/file"
	"github.com/reelsplice/reelsplice/serve/follow"
)

// Errors of Issue, Add and Revoke.
var (
	errNameTaken  = errors.New("name is taken by an unrevoked token")
	errTokenTaken = errors.New("this token was issued before")
	errNoToken    = errors.New("no such token")
	errIsRevoked  = errors.New("token is already revoked")
)

// ErrIsToken matches the error for a token in place of a token file.
var ErrIsToken = errors.New("this is a token, not a token file")

// lockSuffix ends the name of the lock file beside a token file.
const lockSuffix = ".lock"

// lockWait bounds the wait for another process that edits the same file; an edit takes milliseconds.
const lockWait = 10 * time.Second

// fileHeader starts each file that Issue creates. Its first line is fileMark.
const fileHeader = fileMark + `
# HASH	name=NAME	kind=token|session|guest	account=ID	scopes=read|account:ID,...	rate=N	burst=N	concurrent=N	created=RFC3339	expires=RFC3339|never	revoked=RFC3339
# A revoked line stays as history. A running server follows every change of this file.
`

// Issue makes a new credential, adds it to the token file at path and returns it. The file keeps only its hash and
// the other fields of r. A missing file is created with mode 0600; its folder must exist. Other lines, comments and
// their order are unchanged. Issuers in other processes wait.
func Issue(path string, r Record) (token string, err error) {
	token = generate(r.Kind)
	r.Hash = HashToken([]byte(token))
	if err := Add(path, r); err != nil {
		return "", err
	}
	return token, nil
}

// Validate returns an error for a record that cannot be issued.
func (r *Record) Validate() error {
	if !r.Expires.IsZero() && !r.Expires.After(r.Created) {
		return fmt.Errorf("issue token %q: expires %s: want a time after now, %s", r.Name, timeText(r.Expires), timeText(r.Created))
	}
	// A name with a tab or a newline in it could write other fields, or another token.
	if want := wantName(r.Name); want != "" {
		return fmt.Errorf("add token %q: name: want %s", clip(r.Name), want)
	}
	if want := r.Scopes.want(); want != "" && (r.Scopes != "" || r.Kind == KindToken) {
		return fmt.Errorf("add token %q: scopes %q: want %s", r.Name, clip(string(r.Scopes)), want)
	}
	if want := r.wantLimits(); want != "" {
		return fmt.Errorf("add token %q: %s", r.Name, want)
	}
	if want := wantAccount(r.Account); want != "" && (r.Account != "" || r.Kind != KindToken) {
		return fmt.Errorf("add token %q: account %q: want %s", r.Name, clip(r.Account), want)
	}
	return nil
}

// Add is Issue for a credential of the operator, such as the v3 key of an existing client, by its hash. CheckChosen checks
// such a credential.
func Add(path string, r Record) error {
	if err := r.Validate(); err != nil {
		return err
	}
	line := appendRecord(nil, &r)
	return edit(path, true /* create */, func(data []byte, records []Record) ([]byte, error) {
		for i := range records {
			if records[i].Hash == r.Hash {
				state := "is in force"
				if reason := records[i].refusal(r.Created.Unix()); reason != None {
					state = fmt.Sprintf("stays %s: choose another", reason)
				}
				return nil, fmt.Errorf("add token %q: %w and %s (line %d, name %q)", r.Name, errTokenTaken, state, records[i].line, records[i].Name)
			}
			if records[i].Name == r.Name && records[i].Revoked.IsZero() {
				return nil, fmt.Errorf("add token %q: %w (line %d)", r.Name, errNameTaken, records[i].line)
			}
		}
		if end := bytes.LastIndex(data, []byte(fileEnd+"\n")); end >= 0 {
			return slices.Insert(data, end, line...), nil
		}
		return append(data, line...), nil
	})
}

// List returns the records of the token file at path, in their order.
func List(path string) ([]Record, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return parse(path, data)
}

// Revoke marks the unrevoked token with a name as revoked at now, and returns its record. The errors match errNoToken or
// errIsRevoked.
func Revoke(path, name string, now time.Time) (revoked Record, err error) {
	err = edit(path, false /* create */, func(data []byte, records []Record) ([]byte, error) {
		for _, r := range records {
			if r.Name == name && (revoked.Name == "" || r.Revoked.IsZero()) {
				revoked = r
			}
		}
		switch {
		case revoked.Name == "":
			return nil, fmt.Errorf("revoke token %q in %q: %w", clip(name), path, errNoToken)
		case !revoked.Revoked.IsZero():
			return nil, fmt.Errorf("revoke token %q in %q: %w: line %d, since %s", clip(name), path, errIsRevoked, revoked.line, timeText(revoked.Revoked))
		}
		revoked.Revoked = time.Unix(now.Unix(), 0).UTC()
		return slices.Insert(data, revoked.end, appendField(nil, "revoked", timeText(now))...), nil
	})
	return revoked, err
}

// edit changes the token file at path under a lock. It replaces the file atomically, and only with a valid one.
func edit(path string, create bool, change func(data []byte, records []Record) ([]byte, error)) error {
	target, err := filepath.EvalSymlinks(path) // the file is replaced, not a link to it
	if errors.Is(err, fs.ErrNotExist) {
		target, err = path, nil // lock reports a missing folder
	}
	if err != nil {
		return fmt.Errorf("find token file %q: %w", path, err)
	}
	unlock, err := lock(target)
	if err != nil {
		return err
	}
	defer unlock()
	if err := file.RemovePending(target); err != nil {
		return fmt.Errorf("remove leftovers of a killed command next to %q: %w", target, err)
	}
	data, err := readFile(target)
	if create && (errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0) {
		data, err = []byte(fileHeader+fileEnd+"\n"), nil
	}
	if err != nil {
		return err
	}
	records, err := parse(path, data)
	if err != nil {
		return err
	}
	if data, err = change(data, records); err != nil {
		return err
	}
	if _, err := parse(path, data); err != nil {
		return err
	}
	// A new file gets mode 0600. An existing one keeps its mode and owner, so that an issuer run as root does not lock the server out.
	if err = file.WriteOwned(target, data, 0o600); err == nil {
		err = file.SyncDir(filepath.Dir(target))
	}
	if err != nil {
		return fmt.Errorf("replace token file %q: %w", target, err)
	}
	return nil
}

// lock locks a file beside the token file: each edit replaces the token file itself, so a lock on the old one would
// exclude nobody. The lock file stays, because its removal would have the same effect. Root gives a new one to its
// folder's owner. An existing one is unchanged, because that owner could have made it a link to any file.
func lock(target string) (unlock func(), err error) {
	path := target + lockSuffix
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = errors.Join(file.GiveToFolder(f), f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("lock %q: %w", path, err)
	}
	l := flock.New(path)
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	const retry = 5 * time.Millisecond
	if _, err := l.TryLockContext(ctx, retry); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("lock %q: another process has held it for %v", l.Path(), lockWait)
		}
		return nil, fmt.Errorf("lock %q: %w", l.Path(), err)
	}
	return func() { _ = l.Unlock() }, nil // a held lock always unlocks
}

func readFile(path string) ([]byte, error) {
	data, err := file.Read(path, maxFileSize)
	if err != nil {
		return nil, advise(fmt.Errorf("read token file: %w", err))
	}
	return data, nil
}

// advise adds to the error for a missing token file how to create it.
func advise(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: run token issue first", err)
	}
	return err
}

// Live follows a token file. While the file is unusable, the last valid table stays. So removing or
// emptying the file revokes nothing: revoke the tokens, or leave only a comment in the file.
//
// Replace the file in one step (a rename, as Issue and Revoke do). An edit in place may be read half written; a
// truncated file is refused.
type Live = follow.Value[Table]

// OpenLive reads the token file at path. An unusable file is an error. A nil logger logs
// nothing.
func OpenLive(path string, logger *slog.Logger) (*Live, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	var last *Table
	l, err := follow.Open(follow.Files[Table]{
		Name: "token file", Paths: []string{path}, MaxSize: maxFileSize, Log: logger,
		Make: func(contents [][]byte) (*Table, []any, error) {
			records, err := parse(path, contents[0])
			if err != nil {
				return nil, nil, err
			}
			last = last.next(records)
			attrs := []any{"tokens", last.Len(), "active", last.Active(time.Now().Unix())}
			if err := last.Void(); err != nil {
				logger.Warn("token file has void tokens", "file", path, "error", err)
			}
			return last, attrs, nil
		},
	})
	return l, advise(err)
}
