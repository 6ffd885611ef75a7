//go:build !linux

package connlimit

import "net"

// acceptQueued returns nothing: the connections in the kernel's queue are lost.
func acceptQueued(*net.TCPListener) net.Conn { return nil }
