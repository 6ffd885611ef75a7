package partial

import (
	"os"

	"golang.org/x/sys/windows"
)

// makeSparse has the system allocate only what is written to f, where the file system can.
func makeSparse(f *os.File) {
	var n uint32
	_ = windows.DeviceIoControl(windows.Handle(f.Fd()), windows.FSCTL_SET_SPARSE, nil, 0, nil, 0, &n, nil) // a hint that may be refused
}
