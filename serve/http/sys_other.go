//go:build !linux

package http

import "syscall"

// supported is true where connections have the fast path. Here fasthttp serves all requests.
const supported = false

type vector struct{}

func receive(uintptr, []byte) (int, syscall.Errno) { return 0, syscall.ENOSYS }

func writeTo(uintptr, *reply) (int, syscall.Errno) { return 0, syscall.ENOSYS }
