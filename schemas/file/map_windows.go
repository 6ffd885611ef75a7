package file

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Map returns the first size bytes of f, size > 0. They stay valid after f is closed, until
// Unmap. The system makes no mapped file shorter. A page that cannot be read is a fault.
func Map(f *os.File, size int) ([]byte, error) {
	h, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, uint32(uint64(size)>>32), uint32(size), nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateFileMapping", err)
	}
	defer func() { _ = windows.CloseHandle(h) }() // the view keeps the mapping
	at, err := windows.MapViewOfFile(h, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, os.NewSyscallError("MapViewOfFile", err)
	}
	// By way of a pointer to the address, which go vet takes for arithmetic else.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size), nil
}

// ReadAhead does nothing: the system notices that pages are read in order.
func ReadAhead([]byte) {}

// Drop takes a mapping out of the memory of the process; the next read brings it back.
func Drop(b []byte) {
	if len(b) > 0 {
		_ = windows.VirtualUnlock(addressOf(b), uintptr(len(b))) // of pages that are not locked: takes them out of the working set, and fails
	}
}

// Unmap ends the life of a mapping.
func Unmap(b []byte) error {
	return os.NewSyscallError("UnmapViewOfFile", windows.UnmapViewOfFile(addressOf(b)))
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
