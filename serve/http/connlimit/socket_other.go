//go:build !linux

package connlimit

type socket struct{}

func (*Conn) open() {}

// Gone reports whether the client has closed the connection, where the system says so.
func (*Conn) Gone() bool { return false }
