package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve/auth"
)

func tokenCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "token",
		Short: "Issue, list and revoke the tokens of clients",
		Long:  "token edits the file of the tokens that serve accepts. The file holds hashes, never a token.",
	}
	c.AddCommand(tokenIssueCommand(a), tokenListCommand(a), tokenRevokeCommand(a))
	return c
}

func tokensFlag(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "tokens", defaultTokens, "`FILE` of the tokens")
}

func tokenIssueCommand(a *app) *cobra.Command {
	var t issue
	c := &cobra.Command{
		Use:   "issue",
		Short: "Make a token and print it once",
		Long: "issue makes a token, adds its hash to FILE, and prints the token alone on a line. The token itself is not stored.\n\n" +
			"--hex makes a key in the form of TMDB's v3 keys, for applications whose settings accept no other.\n\n" +
			"--value issues a token that you choose, for clients with a built-in key; \"--value -\" reads it from stdin, which\n" +
			"hides it from the list of processes. A token that is easy to guess needs --force.\n\n" +
			"--sha256 issues an unreadable key by its hash, which the edge logs with \"credential refused\". Such a key\n" +
			"cannot be checked: take the hash only from the log line of a client that you know.\n\n" +
			"--session makes the session_id of an account: clients send it with a token to read the account's data. With\n" +
			"--guest it is the guest_session_id of an account that can only rate; with --v4 one token for both.",
		Example: "  reelsplice token issue --name alice --expires 90d --rate 40\n" +
			"  reelsplice token issue --session 548",
	}
	f := c.Flags()
	tokensFlag(c, &t.path)
	f.StringVar(&t.record.Name, "name", "", "name of the client; random by default")
	f.StringVar(&t.expires, "expires", "never", "`WHEN` it expires: after days such as 90d or a duration such as 36h, at an RFC 3339 time, or never")
	f.StringVar(&t.record.Account, "session", "", "make a session of `ACCOUNT`: a number, 24 hex digits, or the 32 hex digits of a guest session")
	f.IntVar(&t.record.Rate, "rate", 0, "at most `N` requests per second on average; others get status 429 (default no limit)")
	f.IntVar(&t.record.Burst, "burst", 0, "requests allowed at once after a pause, with --rate (default the --rate)")
	f.IntVar(&t.record.Concurrent, "concurrent", 0, "maximum number of concurrent requests (default no limit)")
	f.StringArrayVar(&t.scopes, "scope", nil, "scope of the token: read, which is everything except account data; account:`ID`, which is\n"+
		"read and the data of one account; or all. Repeatable (default all)")
	f.BoolVar(&t.guest, "guest", false, "make a guest session")
	f.BoolVar(&t.v4, "v4", false, "make a token of the account instead, for version 4 of the API")
	f.BoolVar(&t.hex, "hex", false, "make a token of 32 hex digits")
	f.StringVar(&t.value, "value", "", "use the token `V` instead of a random one; - reads it from stdin")
	f.StringVar(&t.sha256, "sha256", "", "use the token whose SHA-256 is `HASH`, 64 hex digits")
	f.BoolVar(&t.force, "force", false, "accept a --value that is easy to guess")
	c.MarkFlagsMutuallyExclusive("guest", "v4")
	c.MarkFlagsMutuallyExclusive("value", "sha256", "hex")
	return a.leaf(c, func(ctx context.Context, _ []string) error {
		named := t.record.Name != ""
		for _, limit := range []string{"rate", "burst", "concurrent"} {
			if f.Changed(limit) && f.Lookup(limit).Value.String() == "0" {
				return usage(fmt.Errorf("--%s 0: want 1 or more; without --%s there is no limit", limit, limit))
			}
		}
		if err := t.complete(a.Stdin, f.Changed("value"), f.Changed("sha256")); err != nil {
			return usage(err)
		}
		_, missing := os.Stat(t.path)
		token := t.value
		var err error
		switch {
		case t.value != "":
			t.record.Hash = auth.HashToken([]byte(t.value))
			err = auth.Add(t.path, t.record)
		case t.sha256 != "":
			err = auth.Add(t.path, t.record)
		default:
			token, err = auth.Issue(t.path, t.record)
		}
		if err != nil {
			return err
		}
		if !named && !a.json && !a.quiet {
			fmt.Fprintf(a.Stderr, "token name: %s\n", t.record.Name)
		}
		v := struct {
			Token   string     `json:"token,omitempty"` // "" with --sha256
			Name    string     `json:"name"`
			Account string     `json:"account,omitempty"`
			Expires *time.Time `json:"expires"` // null for never
		}{token, t.record.Name, t.record.Account, optional(t.record.Expires)}
		if err := a.print(v, func(w io.Writer) { fmt.Fprintln(w, cmp.Or(token, t.record.Name+" is issued")) }); err != nil {
			return err
		}
		if missing != nil {
			releases := a.setting("serve", "releases")
			if _, err := store.Current(ctx, store.Folder{Dir: releases}); err == nil || object.IsURL(releases) {
				a.printNext("serve", pathFlags{"tokens": t.path})
			}
		}
		return nil
	})
}

// An issue holds the flags of token issue.
type issue struct {
	path, value, sha256, expires string
	guest, v4, hex, force        bool
	scopes                       []string
	record                       auth.Record
}

// complete checks the flags and completes the record.
func (t *issue) complete(stdin io.Reader, chosen, hashed bool) (err error) {
	switch account := t.record.Account; {
	case account == "" && (t.guest || t.v4):
		return errors.New("--guest and --v4 need --session ACCOUNT")
	case t.guest:
		t.record.Kind = auth.KindGuest
	case account != "" && !t.v4:
		t.record.Kind = auth.KindSession
	}
	for _, flag := range []struct {
		set  bool
		text string
	}{{chosen, "--value"}, {t.hex, "--hex"}, {hashed, fmt.Sprintf("--sha256 %q", t.sha256)}} {
		if flag.set && t.record.Kind != auth.KindToken {
			return fmt.Errorf("%s: want it for a token, not with --session", flag.text)
		}
	}
	if chosen { // errors do not quote the value
		if t.value == "-" {
			line, err := bufio.NewReader(io.LimitReader(stdin, auth.MaxTokenLen+2)).ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				return fmt.Errorf("--value: read stdin: %w", err)
			}
			t.value = strings.TrimRight(line, "\r\n")
		}
		if err := auth.CheckChosen([]byte(t.value), t.force); errors.Is(err, auth.ErrWeak) {
			return fmt.Errorf("--value: %w; --force accepts it", err)
		} else if err != nil {
			return fmt.Errorf("--value: %w", err)
		}
	}
	if t.hex {
		t.value = auth.HexKey()
	}
	if hashed {
		hash, err := hex.DecodeString(t.sha256)
		if err != nil || len(hash) != len(t.record.Hash) {
			return fmt.Errorf("--sha256 %q: want %d hex digits, as the edge logs them with \"credential refused\"", t.sha256, 2*len(t.record.Hash))
		}
		copy(t.record.Hash[:], hash)
	}
	if t.record.Name == "" {
		t.record.Name = t.record.Kind.String() + "-" + rand.Text()[:8]
	}
	t.record.Scopes = auth.Scopes(strings.Join(t.scopes, ","))
	if t.scopes == nil && t.record.Kind == auth.KindToken {
		t.record.Scopes = auth.AllScopes
	}
	t.record.Created = time.Now()
	if t.record.Expires, err = parseExpiry(t.expires, t.record.Created); err != nil {
		return err
	}
	return t.record.Validate()
}

// parseExpiry parses a duration from now, an RFC 3339 time, or never: the zero time.
func parseExpiry(text string, now time.Time) (time.Time, error) {
	if text == "never" {
		return time.Time{}, nil
	}
	var d time.Duration
	if err := (durationFlag{&d, true}).Set(text); err == nil && d >= time.Second {
		return now.Add(d).UTC().Truncate(time.Second), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.IsZero() {
		return time.Time{}, fmt.Errorf("--expires %q: want days such as 90d, a duration of 1s or more such as 36h, an RFC 3339 time, or never", text)
	}
	return t.UTC().Truncate(time.Second), nil
}

// optional returns nil for a zero time.
func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// tokenRow is a token in the output of --json, without secrets.
type tokenRow struct {
	Name    string `json:"name"`
	Hash    string `json:"hash"` // start of the SHA-256
	Kind    string `json:"kind"`
	Account string `json:"account,omitempty"`
	Scopes  string `json:"scopes,omitempty"` // comma-separated; all if absent; none if void
	auth.Limits
	Created *time.Time `json:"created"`
	Expires *time.Time `json:"expires"`        // null for never
	Revoked *time.Time `json:"revoked"`        // null for not revoked
	Void    string     `json:"void,omitempty"` // reason for a refusal
}

// hashDigits is the number of hash digits shown, enough to identify a token.
const hashDigits = 12

func rowOfToken(r *auth.Record) tokenRow {
	row := tokenRow{
		Name: r.Name, Hash: hex.EncodeToString(r.Hash[:])[:hashDigits], Kind: r.Kind.String(), Account: r.Account,
		Limits:  r.Limits,
		Created: optional(r.Created), Expires: optional(r.Expires), Revoked: optional(r.Revoked), Void: r.Void,
	}
	switch {
	case r.Void != "":
		row.Scopes = "none"
	case r.Scopes != auth.AllScopes:
		row.Scopes = string(r.Scopes)
	}
	return row
}

func tokenListCommand(a *app) *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the tokens",
	}
	tokensFlag(c, &path)
	return a.leaf(c, func(context.Context, []string) error {
		records, err := auth.List(path)
		if err != nil {
			return err
		}
		rows := make([]tokenRow, 0, len(records))
		for i := range records {
			rows = append(rows, rowOfToken(&records[i]))
		}
		return a.print(rows, func(w io.Writer) {
			fmt.Fprintln(w, "NAME\tHASH\tKIND\tACCOUNT\tSCOPES\tLIMITS\tCREATED\tEXPIRES\tREVOKED")
			timeText := func(t *time.Time, otherwise string) string {
				if t == nil {
					return otherwise
				}
				return t.UTC().Format(time.RFC3339)
			}
			for _, r := range rows {
				var limits []string
				if r.Rate > 0 {
					limits = append(limits, fmt.Sprintf("%d/s", r.Rate))
				}
				if r.Burst > 0 {
					limits = append(limits, fmt.Sprintf("burst %d", r.Burst))
				}
				if r.Concurrent > 0 {
					limits = append(limits, fmt.Sprintf("%d at a time", r.Concurrent))
				}
				state := "no"
				if r.Void != "" {
					state = "void: " + r.Void
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, r.Hash, r.Kind, cmp.Or(r.Account, "none"), cmp.Or(r.Scopes, "all"),
					cmp.Or(strings.Join(limits, ", "), "none"), timeText(r.Created, "unknown"), timeText(r.Expires, "never"), timeText(r.Revoked, state))
			}
		})
	})
}

func tokenRevokeCommand(a *app) *cobra.Command {
	var path, name string
	c := &cobra.Command{
		Use:   "revoke --name N",
		Short: "Revoke a token",
		Long:  "revoke marks a token as revoked. Servers refuse it within a second.",
	}
	tokensFlag(c, &path)
	c.Flags().StringVar(&name, "name", "", "name of the token")
	required(c, "name")
	return a.leaf(c, func(context.Context, []string) error {
		r, err := auth.Revoke(path, name, time.Now())
		if err != nil {
			return err
		}
		return a.print(rowOfToken(&r), func(w io.Writer) { fmt.Fprintf(w, "%s is revoked\n", r.Name) })
	})
}
