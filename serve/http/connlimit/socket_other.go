//go:build !linux

package connlimit

// A Socket is a Conn with one reading goroutine.
type Socket struct{ *Conn }

// Socket returns c as a Socket, which is closed in its place.
func (c *Conn) Socket() *Socket { return &Socket{c} }

// WriteVector sends nothing. On Linux, it saves system calls.
func (*Socket) WriteVector([][]byte) (int, error) { return 0, nil }

// ReadAgain does nothing: here every Read reads before it waits.
func (*Socket) ReadAgain() {}

// Gone returns false: it is implemented on Linux only.
func (*Conn) Gone() bool { return false }
