//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	halfRate     = 1500                  // half handshakes a second
	halfTick     = 2 * time.Millisecond  // between two batches
	halfDials    = 256                   // limit at the same time
	requestPause = 20 * time.Millisecond // between two requests of a client
)

// Figures of a round with half handshakes.
const (
	halfSent   = iota // half handshakes a second
	newMedian         // milliseconds for connection, handshake and request
	newMost           // maximum of them
	openMedian        // milliseconds for a request over an open connection
	openMost
	halfColumns
)

type halfFigures [halfColumns]float64

// half measures the latency of clients while another client sends half handshakes: it connects, sends a ClientHello
// and closes the connection. The servers take turns, round by round.
func (b *bench) half(ctx context.Context, stdout io.Writer) error {
	release, err := pin(b.wrk.core)
	if err != nil {
		return err
	}
	defer release()
	detail, err := b.nearest(ctx, "", detailBytes)
	if err != nil {
		return err
	}
	rounds := make([][]halfFigures, len(b.servers))
	for round := range b.rounds {
		b.progress("half handshakes: round %d of %d", round+1, b.rounds)
		for i := range b.servers {
			i = (i + round) % len(b.servers)
			s, path := b.servers[i], detail
			if s.name == nginx {
				if path, err = b.finish(ctx, detail); err != nil {
					return err
				}
			}
			time.Sleep(rest)
			f, err := b.halfRound(ctx, s, path)
			if err != nil {
				return fmt.Errorf("half handshakes, %s: %w", s.name, err)
			}
			rounds[i] = append(rounds[i], f)
		}
	}
	var rows [][]string
	for i, s := range b.servers {
		row := []string{s.name}
		for c := range halfColumns {
			row = append(row, number(medianOf(rounds[i], func(f *halfFigures) float64 { return f[c] })))
		}
		longest := 0.0
		for _, f := range rounds[i] {
			longest = max(longest, f[newMost])
		}
		rows = append(rows, append(row, number(longest)))
	}
	table(stdout, fmt.Sprintf("Beside %d half handshakes a second: milliseconds of a request with a connection and handshake of its own, and over an open connection", halfRate),
		[]string{"server", "half/s", "new p50", "new max", "open p50", "open max", "new max of all rounds"}, rows)
	return nil
}

// halfRound measures one server for the seconds of a round, and until the last response.
func (b *bench) halfRound(ctx context.Context, s *server, path string) (f halfFigures, err error) {
	hello, err := clientHello()
	if err != nil {
		return f, err
	}
	seconds := time.Duration(b.seconds) * time.Second
	ctx, cancel := context.WithTimeout(ctx, seconds+patience)
	defer cancel()
	begin := time.Now()
	var clients sync.WaitGroup
	clients.Go(func() {
		f[halfSent] = float64(sendHalf(ctx, strings.TrimPrefix(s.url, "https://"), hello, begin.Add(seconds))) / seconds.Seconds()
	})
	ask := func(closes bool) (took []float64, err error) {
		client := &http.Client{Transport: &http.Transport{
			DisableCompression: true, DisableKeepAlives: closes, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // on 127.0.0.1
		}}
		defer client.CloseIdleConnections()
		for at := time.Now(); at.Before(begin.Add(seconds)); at = time.Now() {
			if _, err := getBy(ctx, client, http.MethodGet, s.url+path, s.header, http.StatusOK); err != nil {
				return nil, err
			}
			took = append(took, float64(time.Since(at).Microseconds())/1000)
			time.Sleep(requestPause)
		}
		slices.Sort(took)
		return took, nil
	}
	var fresh, open []float64
	var freshErr, openErr error
	clients.Go(func() { fresh, freshErr = ask(true) })
	clients.Go(func() { open, openErr = ask(false) })
	clients.Wait()
	f[newMedian], f[newMost] = quantile(fresh, 0.5), quantile(fresh, 1)
	f[openMedian], f[openMost] = quantile(open, 0.5), quantile(open, 1)
	return f, errors.Join(freshErr, openErr)
}

// sendHalf sends half handshakes to an address until end, and returns their number.
func sendHalf(ctx context.Context, addr string, hello []byte, end time.Time) (sent int64) {
	var n atomic.Int64
	slots := make(chan struct{}, halfDials)
	var d net.Dialer
	tick := time.NewTicker(halfTick)
	defer tick.Stop()
	var dials sync.WaitGroup
	begin, due := time.Now(), int64(0)
	for now := range tick.C {
		if now.After(end) || ctx.Err() != nil {
			break
		}
		before := due
		due = int64(now.Sub(begin).Seconds() * halfRate)
		for range due - before {
			select {
			case slots <- struct{}{}:
			default: // the server accepts more slowly
				continue
			}
			dials.Go(func() {
				defer func() { <-slots }()
				c, err := d.DialContext(ctx, "tcp", addr)
				if err != nil {
					return
				}
				if _, err := c.Write(hello); err == nil {
					n.Add(1)
				}
				_ = c.Close() // the server may have closed it
			})
		}
	}
	dials.Wait()
	return n.Load()
}

// clientHello returns the first message of a client.
func clientHello() ([]byte, error) {
	var c recorder
	_ = tls.Client(&c, &tls.Config{InsecureSkipVerify: true}).Handshake() // no response comes
	if c.Len() == 0 {
		return nil, errors.New("crypto/tls made no ClientHello")
	}
	return c.Bytes(), nil
}

// A recorder is a connection that stores the bytes of its writes. Its first read returns io.EOF.
type recorder struct {
	net.TCPConn
	bytes.Buffer
}

func (c *recorder) Read([]byte) (int, error)    { return 0, io.EOF }
func (c *recorder) Write(p []byte) (int, error) { return c.Buffer.Write(p) }

// pin pins all threads of this process to a core, until release.
func pin(core int) (release func(), err error) {
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return nil, err
	}
	one.Set(core)
	set := func(s *unix.CPUSet) error {
		threads, err := os.ReadDir("/proc/self/task")
		for _, t := range threads {
			id, _ := strconv.Atoi(t.Name())
			_ = unix.SchedSetaffinity(id, s) // it may have ended
		}
		return err
	}
	return func() { _ = set(&before) }, set(&one)
}
