package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/reelsplice/reelsplice/serve"
)

const (
	// statusInterval is how often the state of the edge is checked for systemd.
	statusInterval = 250 * time.Millisecond
	// startExtension is how long systemd extends its start timeout while a release is pulled, and extendEvery how
	// often the edge requests it.
	startExtension = 60 * time.Second
	extendEvery    = 10 * time.Second
)

// A notifier reports the state of a Server to systemd. A nil one does nothing.
type notifier struct {
	status   func() (text string, ready bool) // the Server's state
	log      *slog.Logger
	watchdog time.Duration // interval of the watchdog; 0 for none
}

// newNotifier returns nil if systemd expects no reports from this process.
func newNotifier(s *serve.Server, log *slog.Logger) *notifier {
	if os.Getenv("NOTIFY_SOCKET") == "" {
		return nil
	}
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("the systemd watchdog is disabled", "error", err)
	}
	return &notifier{status: s.Status, log: log, watchdog: limit / 2}
}

// send sends lines of one message.
func (n *notifier) send(lines ...string) {
	if _, err := daemon.SdNotify(false, strings.Join(lines, "\n")); err != nil {
		n.log.Warn("report to systemd failed", "error", err)
	}
}

// stoppingLines report that the drain has begun.
var stoppingLines = []string{daemon.SdNotifyStopping, "STATUS=stopping"}

// run reports the state until ctx ends, and the end of stopping.
func (n *notifier) run(ctx, stopping context.Context) {
	if n == nil {
		return
	}
	every := statusInterval
	if n.watchdog > 0 {
		every = min(every, n.watchdog/2) // late by less than one interval
	}
	t := time.NewTicker(every)
	defer t.Stop()
	var alive, extended time.Time
	last, started, stops := "", false, stopping.Done()
	for {
		if n.watchdog > 0 && time.Since(alive) >= n.watchdog {
			n.send(daemon.SdNotifyWatchdog)
			alive = time.Now()
		}
		text, ready := n.status()
		var lines []string
		if text != last {
			lines = append(lines, "STATUS="+text)
			last = text
		}
		if ready && !started {
			lines = append(lines, daemon.SdNotifyReady)
			started = true
		}
		if !started && time.Since(extended) >= extendEvery {
			lines = append(lines, fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", startExtension.Microseconds()))
			extended = time.Now()
		}
		if len(lines) > 0 && stops != nil {
			n.send(lines...)
		}
		select {
		case <-ctx.Done():
			if stops != nil && stopping.Err() != nil { // the drain has already ended
				n.send(stoppingLines...)
			}
			return
		case <-stops:
			n.send(stoppingLines...)
			stops = nil
		case <-t.C:
		}
	}
}

// reload calls fn and reports it as a reload, unless the edge is still starting: the report would end the start.
func (n *notifier) reload(fn func()) {
	if n == nil {
		fn()
		return
	}
	if _, ready := n.status(); !ready {
		fn()
		return
	}
	n.send(daemon.SdNotifyReloading, daemon.SdNotifyMonotonicUsec())
	fn()
	text, _ := n.status()
	n.send(daemon.SdNotifyReady, "STATUS="+text)
}

// adminSocket is the FileDescriptorName of the socket for the admin listener.
const adminSocket = "admin"

// passedListeners returns the listeners from systemd, if any: one for the API, and one named admin.
func passedListeners() (api, admin *net.TCPListener, err error) {
	all, err := activation.ListenersWithNames()
	if err != nil {
		return nil, nil, fmt.Errorf("sockets that systemd passed: %w", err)
	}
	for name, listeners := range all {
		for _, l := range listeners {
			tcp, ok := l.(*net.TCPListener)
			switch {
			case !ok:
				return nil, nil, fmt.Errorf("socket %q that systemd passed listens on %s: want a TCP socket", name, l.Addr().Network())
			case name == adminSocket && admin == nil:
				admin = tcp
			case name != adminSocket && api == nil:
				api = tcp
			default:
				return nil, nil, fmt.Errorf("socket %q that systemd passed is one too many: want one for the API, and one named %s", name, adminSocket)
			}
		}
	}
	if api == nil && admin != nil {
		return nil, nil, fmt.Errorf("systemd passed socket %q alone: want one for the API too", adminSocket)
	}
	return api, admin, nil
}
