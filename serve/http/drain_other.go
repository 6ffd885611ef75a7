//go:build !linux

package http

import "net"

// acceptQueued returns nothing: what is in the kernel's queue is lost.
func acceptQueued(*net.TCPListener) net.Conn { return nil }
