//go:build !linux

package doctor

import (
	"errors"
	"runtime"
	"syscall"
)

// hasModes reports whether files have Unix permissions.
const hasModes = runtime.GOOS != "windows"

// wsaAddressInUse is the code of Windows for an address in use.
const wsaAddressInUse = 10048

func addressInUse(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || runtime.GOOS == "windows" && errors.Is(err, syscall.Errno(wsaAddressInUse))
}

// Only Linux has the checks that use these.

func volume(string) (free int64, network, known bool) { return 0, false, false }

func usage(string) (total int64) { return 0 }

func memory() (total int64, known bool) { return 0, false }

func clockSynchronised() (synchronised, known bool) { return false, false }
