package http

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// supported tells that connections have the fast path here.
const supported = true

// A vector is the pieces of a response as the kernel wants them.
type vector []unix.Iovec

// The raw calls below are made without telling the scheduler, which takes a third of the time of
// a short one. They are for sockets that do not block, and for memory of this process.

// receive reads from a socket.
func receive(fd uintptr, p []byte) (int, syscall.Errno) {
	n, _, err := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	return int(n), err
}

// writeTo writes the pieces of w to a socket and returns how many bytes it took. Pieces of a release
// may have to come from the disk, so the scheduler knows of that call.
func writeTo(fd uintptr, w *reply) (int, syscall.Errno) {
	if len(w.pieces) == 1 {
		p := w.pieces[0]
		n, _, err := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		return int(n), err
	}
	v := w.vector[:0]
	for _, p := range w.pieces[:min(len(w.pieces), maxPieces)] {
		v = append(v, unix.Iovec{Base: &p[0], Len: uint64(len(p))})
	}
	w.vector = v
	n, _, err := syscall.Syscall(syscall.SYS_WRITEV, fd, uintptr(unsafe.Pointer(unsafe.SliceData(v))), uintptr(len(v)))
	clear(v)
	return int(n), err
}

// maxPieces is how many pieces the kernel takes at once, IOV_MAX.
const maxPieces = 1024
