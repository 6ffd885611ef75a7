//go:build !linux

package sharedtest

import "errors"

const memoryRoot = ""

func memoryFolder(string) (dir string, remove func(), err error) {
	return "", nil, errors.New("want a file system in memory, as Linux has")
}
