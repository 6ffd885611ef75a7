package release

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Guard calls fn and returns its error. Damage that fn meets in a release becomes an error that matches ErrCorrupt: a
// block with a wrong checksum, or a mapped file that shrank or is unreadable. Every goroutine that reads mapped bytes
// does so inside Guard, and closes the Reader outside it. Other panics pass through.
func Guard(fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if p := recover(); p != nil {
			if err = Damage(p); err == nil {
				panic(p)
			}
		}
	}()
	return fn()
}

// Damage returns the error that Guard derives from a recovered panic; nil if damage is not the cause. Code that
// recovers from panics of a library inside Guard calls it first.
func Damage(p any) (err error) {
	switch p := p.(type) {
	case *CorruptError:
		return p
	case interface {
		error
		Addr() uintptr
	}:
		mappings.Range(func(key, _ any) bool {
			m := key.(*Mapping)
			if off := p.Addr() - uintptr(unsafe.Pointer(unsafe.SliceData(m.all))); off < uintptr(len(m.all)) {
				err = m.Unreadable(uint64(off))
			}
			return err == nil
		})
	}
	return err
}

// mappings holds the open mappings of all Readers, with *Mapping as key: a memory fault reports only an address.
var mappings sync.Map

// maxDamage is the largest number of damaged blocks recorded per release.
const maxDamage = 1000

// A damageLog records the damaged blocks of a release.
type damageLog struct {
	events atomic.Uint64 // how often new damage was found
	mu     sync.Mutex
	blocks map[damagedBlock]struct{}
	first  *CorruptError
	notify func(*CorruptError)
}

type damagedBlock struct {
	file string
	off  uint64 // offset of its first byte
}

// record adds a damaged block, and reports it if it is new.
func (d *damageLog) record(off uint64, err *CorruptError) {
	d.mu.Lock()
	place := damagedBlock{err.File, off}
	_, known := d.blocks[place]
	if !known && len(d.blocks) < maxDamage {
		if d.blocks == nil {
			d.blocks, d.first = map[damagedBlock]struct{}{}, err
		}
		d.blocks[place] = struct{}{}
	}
	if !known {
		d.events.Add(1)
	}
	notify := d.notify
	d.mu.Unlock()
	if !known && notify != nil {
		notify(err)
	}
}

// Damage returns the first damage found since r was opened, or nil, and the number of damaged blocks, up to 1000.
func (r *Reader) Damage() (first *CorruptError, blocks int) {
	r.damage.mu.Lock()
	defer r.damage.mu.Unlock()
	return r.damage.first, len(r.damage.blocks)
}

// NotifyDamage sets the function called on new damage. It may be called from any goroutine, while a request waits.
func (r *Reader) NotifyDamage(fn func(*CorruptError)) {
	r.damage.mu.Lock()
	defer r.damage.mu.Unlock()
	r.damage.notify = fn
}

// ErrCorrupt matches, through errors.Is, every error caused by bytes that violate FORMAT.md.
var ErrCorrupt = errors.New("release: corrupt file")

// ErrVersion matches, through errors.Is, the error for a release whose format version this program cannot read.
var ErrVersion = errors.New("unknown format version")

// A CorruptError is a place where a file violates the format, with the resource if known.
type CorruptError struct {
	File string `json:"file"`
	Off  int64  `json:"offset"` // byte offset of the invalid field; negative for the whole file
	What string `json:"what"`   // field, value found, value allowed
}

func (e CorruptError) Error() string {
	if e.Off < 0 {
		return fmt.Sprintf("%s: %s", e.File, e.What)
	}
	return fmt.Sprintf("%s: offset %d: %s", e.File, e.Off, e.What)
}

// Is makes every CorruptError match ErrCorrupt.
func (e CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Corrupt returns a CorruptError.
func Corrupt(file string, off int64, format string, args ...any) error {
	return &CorruptError{File: file, Off: off, What: fmt.Sprintf(format, args...)}
}
