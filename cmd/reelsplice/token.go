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
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"reelsplice/serve/auth"
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

// tokensFlag adds --tokens, which is required.
func tokensFlag(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "tokens", "", "`FILE` of the tokens")
	required(c, "tokens")
}

func tokenIssueCommand(a *app) *cobra.Command {
	var path, name, account, value string
	var guest, v4, force bool
	var expires expiry
	c := &cobra.Command{
		Use:   "issue --tokens FILE",
		Short: "Make a token and print it, once",
		Long: "issue makes a token, adds its hash to FILE, and prints the token alone on a line. Nothing stores the token.\n\n" +
			"--value takes a token that you choose, for clients with a built-in key; \"--value -\" reads it from stdin, which\n" +
			"hides it from the list of processes. A token that is easy to guess needs --force.\n\n" +
			"--session makes the session_id of an account: clients send it beside a token to read the account's data. With\n" +
			"--guest it is the guest_session_id of an account that can only rate; with --v4 one token for both.",
		Example: "  reelsplice token issue --tokens tokens.txt --name alice --expires 720h\n" +
			"  reelsplice token issue --tokens tokens.txt --session 548",
	}
	tokensFlag(c, &path)
	c.Flags().StringVar(&name, "name", "", "name of the client; random by default")
	c.Flags().Var(&expires, "expires", "when it expires: after a duration such as 720h, at an RFC 3339 time, or never")
	c.Flags().StringVar(&account, "session", "", "make a session of `ACCOUNT`: its number, its 24 hex digits, or the 32 of a guest's session")
	c.Flags().BoolVar(&guest, "guest", false, "the session is that of a guest")
	c.Flags().BoolVar(&v4, "v4", false, "make a token of the account instead, for version 4 of the API")
	c.Flags().StringVar(&value, "value", "", "take the token `V` in place of a random one; - reads it from stdin")
	c.Flags().BoolVar(&force, "force", false, "take a --value that is easy to guess")
	c.MarkFlagsMutuallyExclusive("guest", "v4")
	return a.leaf(c, func(context.Context, []string) error {
		kind, err := kindOfToken(account, guest, v4)
		if err != nil {
			return err
		}
		if c.Flags().Changed("value") {
			if value, err = a.chosenToken(value, kind, force); err != nil {
				return usage(err)
			}
		}
		now, made := time.Now(), name == ""
		if made {
			name = kind.String() + "-" + rand.Text()[:8]
		}
		ends := expires.from(now)
		record := auth.Record{Name: name, Kind: kind, Account: account, Created: now, Expires: ends}
		token := value
		if value != "" {
			err = auth.IssueChosen(path, record, value)
		} else {
			token, err = auth.Issue(path, record)
		}
		if err != nil {
			return err
		}
		if made && !a.json && !a.quiet {
			fmt.Fprintf(a.Stderr, "its name is %s\n", name)
		}
		v := struct {
			Token   string     `json:"token"`
			Name    string     `json:"name"`
			Account string     `json:"account,omitempty"`
			Expires *time.Time `json:"expires"` // null for never
		}{token, name, account, optional(ends)}
		return a.print(v, func(w io.Writer) { fmt.Fprintln(w, token) })
	})
}

// chosenToken returns the value of --value, read from stdin for "-". Its errors do not quote it.
func (a *app) chosenToken(value string, kind auth.Kind, force bool) (string, error) {
	if kind != auth.KindToken {
		return "", errors.New("--value: want it for a token, not with --session")
	}
	if value == "-" {
		line, err := bufio.NewReader(io.LimitReader(a.Stdin, auth.MaxTokenLen+2)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("--value: read stdin: %w", err)
		}
		value = strings.TrimRight(line, "\r\n")
	}
	err := auth.CheckChosen([]byte(value), force)
	if errors.Is(err, auth.ErrWeak) {
		err = fmt.Errorf("%w; --force takes it", err)
	}
	if err != nil {
		return "", fmt.Errorf("--value: %w", err)
	}
	return value, nil
}

// kindOfToken returns the kind of the token that the flags ask for.
func kindOfToken(account string, guest, v4 bool) (auth.Kind, error) {
	switch {
	case account == "" && (guest || v4):
		return 0, usage(errors.New("--guest and --v4 say what --session makes: want --session ACCOUNT too"))
	case guest:
		return auth.KindGuest, nil
	case account != "" && !v4:
		return auth.KindSession, nil
	}
	return auth.KindToken, nil
}

// expiry is a flag for a time: a duration from now, a point in time, or never, which
// is the zero value.
type expiry struct {
	after time.Duration
	at    time.Time
}

func (e *expiry) from(now time.Time) time.Time {
	if e.after > 0 {
		return now.Add(e.after).UTC().Truncate(time.Second)
	}
	return e.at
}

// String returns what Set reads.
func (e *expiry) String() string {
	switch {
	case e.after > 0:
		return e.after.String()
	case !e.at.IsZero():
		return e.at.Format(time.RFC3339)
	}
	return "never"
}

// Set reads a duration, an RFC 3339 time or never.
func (e *expiry) Set(text string) error {
	if text == "never" {
		*e = expiry{}
		return nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= time.Second {
		*e = expiry{after: d}
		return nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.IsZero() {
		return errors.New("want a duration of 1s or more such as 720h, an RFC 3339 time, or never")
	}
	*e = expiry{at: at.UTC().Truncate(time.Second)}
	return nil
}

// Type names the flag's value in help texts.
func (e *expiry) Type() string { return "WHEN" }

// optional returns nil for a zero time.
func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// tokenRow is a token as --json lists it, without anything that gives access.
type tokenRow struct {
	Name    string     `json:"name"`
	Hash    string     `json:"hash"` // start of the SHA-256
	Kind    string     `json:"kind"`
	Account string     `json:"account,omitempty"`
	Created *time.Time `json:"created"`
	Expires *time.Time `json:"expires"` // null for never
	Revoked *time.Time `json:"revoked"` // null for not revoked
}

// hashDigits is how much of a hash is shown, and enough to name a token by.
const hashDigits = 12

func rowOfToken(r *auth.Record) tokenRow {
	return tokenRow{
		Name: r.Name, Hash: hex.EncodeToString(r.Hash[:])[:hashDigits], Kind: r.Kind.String(), Account: r.Account,
		Created: optional(r.Created), Expires: optional(r.Expires), Revoked: optional(r.Revoked),
	}
}

func tokenListCommand(a *app) *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "list --tokens FILE",
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
		return a.print(rows, func(w io.Writer) { writeTokens(w, rows) })
	})
}

func writeTokens(w io.Writer, rows []tokenRow) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tHASH\tKIND\tACCOUNT\tCREATED\tEXPIRES\tREVOKED")
	when := func(at *time.Time, otherwise string) string {
		if at == nil {
			return otherwise
		}
		return at.UTC().Format(time.RFC3339)
	}
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, r.Hash, r.Kind, cmp.Or(r.Account, "none"),
			when(r.Created, "unknown"), when(r.Expires, "never"), when(r.Revoked, "no"))
	}
	_ = t.Flush() // w is a buffer
}

func tokenRevokeCommand(a *app) *cobra.Command {
	var path, name string
	c := &cobra.Command{
		Use:   "revoke --tokens FILE --name N",
		Short: "Revoke a token",
		Long:  "revoke marks a token as revoked. Servers refuse it within a second.",
	}
	tokensFlag(c, &path)
	c.Flags().StringVar(&name, "name", "", "name of the token, or 8 or more digits of its hash")
	required(c, "name")
	return a.leaf(c, func(context.Context, []string) error {
		r, err := auth.Revoke(path, name, time.Now())
		if err != nil {
			return err
		}
		return a.print(rowOfToken(&r), func(w io.Writer) { fmt.Fprintf(w, "%s is revoked\n", r.Name) })
	})
}
