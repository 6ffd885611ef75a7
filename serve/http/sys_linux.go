package http

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// supported is true where connections have the fast path.
const supported = true

// A vector is the pieces of a response as the kernel wants them.
type vector []unix.Iovec

// The calls below are made without telling the scheduler, because it would take its share of the thread
// away in the middle of a long write, and wake another thread: 10 to 20 % of the CPU of 27 KB on a
// busy machine. Sockets do not block, and while pages come from the disk, message.await has waited
// for those of the release.

// receive reads from a socket.
func receive(fd uintptr, p []byte) (int, syscall.Errno) {
	n, _, err := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	return int(n), err
}

// writeTo writes the pieces of w to a socket and returns how many bytes it took.
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
	n, _, err := syscall.RawSyscall(syscall.SYS_WRITEV, fd, uintptr(unsafe.Pointer(unsafe.SliceData(v))), uintptr(len(v)))
	clear(v)
	return int(n), err
}

// maxPieces is how many pieces the kernel takes at once, IOV_MAX.
const maxPieces = 1024
