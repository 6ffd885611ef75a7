//go:build !linux

package connlimit

type socket struct{}

func (*Conn) open() {}
