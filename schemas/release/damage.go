package release

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Guard calls fn and returns its error. Damage of a release that fn reads ends fn with an
// error that matches ErrCorrupt: a block that fails its check, or a mapped file that shrank
// or cannot be read. Every goroutine that reads mapped bytes does so inside of a Guard, and
// the Reader is closed outside of it. Other panics pass.
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

// Damage returns the error that Guard makes of a recovered panic; nil for a panic that has
// another cause. Whoever recovers from panics of a library inside of a Guard asks it first.
func Damage(p any) error {
	switch p := p.(type) {
	case *CorruptError:
		return p
	case interface {
		error
		Addr() uintptr
	}:
		if m, off := mappingAt(p.Addr()); m != nil {
			return m.Unreadable(off)
		}
	}
	return nil
}

// mappings has the open mappings of all Readers, each *Mapping a key, because the address of a memory
// fault says nothing of whose it is.
var mappings sync.Map

// mappingAt returns the mapping that has an address, and the offset of that in its file.
func mappingAt(addr uintptr) (at *Mapping, off uint64) {
	mappings.Range(func(key, _ any) bool {
		m := key.(*Mapping)
		if start := uintptr(unsafe.Pointer(unsafe.SliceData(m.all))); addr >= start && addr-start < uintptr(len(m.all)) {
			at, off = m, uint64(addr-start)
		}
		return at == nil
	})
	return at, off
}

// maxDamage is how many damaged blocks of a release are told apart.
const maxDamage = 1000

// A damageLog remembers which blocks of a release are damaged.
type damageLog struct {
	events atomic.Uint64 // how often new damage was found
	mu     sync.Mutex
	blocks map[damagedBlock]struct{}
	first  *CorruptError
	notify func(*CorruptError)
}

type damagedBlock struct {
	file string
	off  uint64 // of its first byte
}

// note remembers damage, and passes new damage on.
func (d *damageLog) note(off uint64, err *CorruptError) {
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

// Damage returns the first damage that was found since r was opened, nil for none, and in
// how many blocks there is some, up to 1000.
func (r *Reader) Damage() (first *CorruptError, blocks int) {
	r.damage.mu.Lock()
	defer r.damage.mu.Unlock()
	return r.damage.first, len(r.damage.blocks)
}

// NotifyDamage has fn called when damage is found that was not known. It may be called from
// any goroutine, while a request waits.
func (r *Reader) NotifyDamage(fn func(*CorruptError)) {
	r.damage.mu.Lock()
	defer r.damage.mu.Unlock()
	r.damage.notify = fn
}

// ErrCorrupt matches, through errors.Is, every error caused by bytes that break the
// rules of FORMAT.md.
var ErrCorrupt = errors.New("release: corrupt file")

// ErrVersion matches, through errors.Is, the error about a release whose format
// version this program does not read.
var ErrVersion = errors.New("unknown format version")

// A CorruptError names a place where a file does not follow the format, and the resource if that is known.
type CorruptError struct {
	File string `json:"file"`   // name inside the release folder
	Off  int64  `json:"offset"` // byte offset of the offending field; negative when it is the whole file
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
