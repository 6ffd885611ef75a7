package connlimit

import (
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkSend sends a header and a body by one writev, and by send with MSG_MORE and sendfile from memory that is a file. It
// reports the CPU time of the sending thread.
func BenchmarkSend(b *testing.B) {
	header := make([]byte, 370)
	for _, size := range []int{1 << 10, 4 << 10, 8 << 10, 16 << 10, 27 << 10, 64 << 10} {
		for _, way := range []string{"writev", "sendfile"} {
			b.Run(fmt.Sprintf("%s/bytes=%d", way, size), func(b *testing.B) {
				client, c := accepted(b)
				fd := file(b, c)
				ask := make(chan struct{})
				defer close(ask)
				got := make(chan struct{})
				go func() {
					buf := make([]byte, len(header)+size)
					for range ask {
						_, _ = io.ReadFull(client, buf)
						got <- struct{}{}
					}
				}()
				bodies := make([]byte, 32<<20) // more than a core's caches
				memory, err := unix.MemfdCreate("bench", 0)
				if err != nil {
					b.Fatal(err)
				}
				defer unix.Close(memory)
				if _, err := unix.Pwrite(memory, bodies, 0); err != nil {
					b.Fatal(err)
				}
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				var spent time.Duration
				for i := 0; b.Loop(); i++ {
					from := i * 64 << 10 % len(bodies)
					ask <- struct{}{}
					start := threadTime()
					if way == "writev" {
						_, err = unix.Writev(fd, [][]byte{header, bodies[from : from+size]})
					} else {
						if err = unix.Sendto(fd, header, unix.MSG_MORE, nil); err == nil {
							at := int64(from)
							_, err = unix.Sendfile(fd, memory, &at, size)
						}
					}
					spent += threadTime() - start
					if err != nil {
						b.Fatal(err)
					}
					<-got
				}
				b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// file returns the descriptor of a connection that stays open.
func file(tb testing.TB, c *Conn) (fd int) {
	tb.Helper()
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Control(func(s uintptr) { fd = int(s) })
	}
	if err != nil {
		tb.Fatal(err)
	}
	return fd
}

func threadTime() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) // which never fails
	return time.Duration(ts.Nano())
}
