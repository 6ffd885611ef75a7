// Command golang-tmdb calls all read methods of the client github.com/cyruzin/golang-tmdb, and prints a line for
// each. The address of the server comes from the environment; see run.sh.
package main

import (
	"fmt"
	"os"

	tmdb "github.com/cyruzin/golang-tmdb"
)

// home is the client's built-in address. If it is ours (builtin.sh), the client needs no setting.
const home = "https://api.themoviedb.org"

func main() {
	failed, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "golang-tmdb:", err)
	}
	if err != nil || failed > 0 {
		os.Exit(1)
	}
}

// run calls every method with the token as bearer, then with the token as api_key, and returns the number of failed
// methods.
func run() (failed int, err error) {
	url, token, session := os.Getenv("REELSPLICE_URL"), os.Getenv("REELSPLICE_TOKEN"), os.Getenv("REELSPLICE_SESSION")
	if url == "" || token == "" || session == "" {
		return 0, fmt.Errorf("REELSPLICE_URL, REELSPLICE_TOKEN and REELSPLICE_SESSION must be set: see run.sh")
	}
	s := &suite{problems: map[string][]string{}}
	if err := s.with("bearer", tmdb.InitV4, url, token, session); err != nil {
		return 0, err
	}
	if err := s.with("api_key", tmdb.Init, url, token, session); err != nil {
		return 0, err
	}
	return s.print(os.Stdout), nil
}

// with calls every method with one kind of credential, with a session and without.
func (s *suite) with(how string, credential func(string) (*tmdb.Client, error), url, token, session string) error {
	user := func(how, token string) (user, error) {
		client, err := credential(token)
		if err != nil {
			return user{}, fmt.Errorf("make a client with %s: %w", how, err)
		}
		if url != home {
			client.SetCustomBaseURL(url + "/3") // for all clients: the package has one address
		}
		return user{s, how, client}, nil
	}
	u, err := user(how, token)
	if err != nil {
		return err
	}
	mine, err := user(how+" and session", token)
	if err != nil {
		return err
	}
	if err := mine.client.SetSessionID(session); err != nil {
		return fmt.Errorf("set the session: %w", err)
	}
	stranger, err := user("wrong "+how, "not-a-token")
	if err != nil {
		return err
	}
	reads(u)
	account(u, mine, session)
	refusals(stranger)
	return nil
}
