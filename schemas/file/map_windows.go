package file

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Map maps the first size bytes of f, size > 0. They stay valid after f is closed, until Unmap. The system does not
// shrink mapped files. Reading an unreadable page faults.
func Map(f *os.File, size int) ([]byte, error) {
	h, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, uint32(uint64(size)>>32), uint32(size), nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateFileMapping", err)
	}
	defer func() { _ = windows.CloseHandle(h) }() // the view keeps the mapping
	address, err := windows.MapViewOfFile(h, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, os.NewSyscallError("MapViewOfFile", err)
	}
	// Through a pointer to the address: go vet mistakes a direct conversion for arithmetic.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), size), nil
}

// ReadAhead does nothing: the system detects sequential reads.
func ReadAhead([]byte) {}

// Drop removes a mapping's pages from the memory of the process; the next access reads them again.
func Drop(b []byte) {
	if len(b) > 0 {
		_ = windows.VirtualUnlock(addressOf(b), uintptr(len(b))) // for unlocked pages it fails, but removes them from the working set
	}
}

// Unmap removes a mapping.
func Unmap(b []byte) error {
	return os.NewSyscallError("UnmapViewOfFile", windows.UnmapViewOfFile(addressOf(b)))
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
