package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reelsplice/reelsplice/serve"
)

// maxReadyz bounds the text of /readyz that is read.
const maxReadyz = 64 << 10

func healthCommand(a *app) *cobra.Command {
	cfg, timeout := serve.DefaultConfig(), 5*time.Second
	c := &cobra.Command{
		Use:   "health --admin-addr HOST:PORT",
		Short: "Exit with 0 if an edge is ready",
		Long: "health asks an edge's admin listener for /readyz, prints the answer, and exits with 0 if the edge is ready.\n" +
			"It takes --admin-addr where serve takes it: the environment and the [serve] table of the config file.",
		Example:     "  reelsplice health --admin-addr 127.0.0.1:9090",
		Annotations: map[string]string{settingsOf: "serve"},
	}
	c.Flags().StringVar(&cfg.AdminAddr, "admin-addr", "", "host:port of the edge's admin listener")
	c.Flags().DurationVar(&timeout, "timeout", timeout, "how long the edge may take")
	required(c, "admin-addr")
	return a.leaf(c, func(ctx context.Context, _ []string) error {
		if err := usage(serve.CheckAdminAddr(cfg.AdminAddr)); err != nil {
			return err
		}
		if timeout <= 0 {
			return usage(fmt.Errorf("timeout: want more than 0, found %s", timeout))
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		h, err := askReady(ctx, cfg.AdminAddr)
		if err != nil {
			return err
		}
		if err := a.print(h, func(w io.Writer) { fmt.Fprintln(w, h.Text) }); err != nil {
			return err
		}
		if !h.Ready {
			return errors.New("the edge is not ready: " + h.Text)
		}
		return nil
	})
}

// A health is what an edge reports of itself.
type health struct {
	Ready bool   `json:"ready"`
	Text  string `json:"text"`
}

// direct reaches an edge without a proxy and without redirects: the edge gives none.
var direct = &http.Transport{DisableKeepAlives: true}

// askReady asks the edge with the admin listener at addr. An address for all interfaces is asked on loopback.
func askReady(ctx context.Context, addr string) (health, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return health{}, err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	url := "http://" + net.JoinHostPort(host, port) + "/readyz"
	rq, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return health{}, err
	}
	rs, err := direct.RoundTrip(rq)
	if err != nil {
		return health{}, fmt.Errorf("ask %s: %w", url, err)
	}
	defer rs.Body.Close()
	text, err := io.ReadAll(io.LimitReader(rs.Body, maxReadyz))
	if err != nil {
		return health{}, fmt.Errorf("ask %s: %w", url, err)
	}
	if rs.StatusCode != http.StatusOK && rs.StatusCode != http.StatusServiceUnavailable {
		return health{}, fmt.Errorf("ask %s: status %d: %s is no admin listener: give the address of --admin-addr", url, rs.StatusCode, addr)
	}
	return health{Ready: rs.StatusCode == http.StatusOK, Text: strings.TrimSpace(string(text))}, nil
}
