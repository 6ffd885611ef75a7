package mirror

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"reelsplice/schemas/object"
	"reelsplice/schemas/object/store"
)

// lockName is the object, beside the catalogue's, that one ingest at a time makes. It
// says who has it. It has no end of its own, because an ingest may take a day: one that
// is left behind is removed by hand or broken by Options.BreakLock.
const lockName = ".lock.json"

// writingName is the object that says that others are being replaced, and by whom. It
// is left behind, until the next Push, by an ingest that is ended while it does that:
// some kinds are newer than others then, and nothing should be built of them.
const writingName = ".writing.json"

// staleAfter is the age from which a lock is said to be left behind, probably.
const staleAfter = 24 * time.Hour

// holder is the content of a lock.
type holder struct {
	ID      string    `json:"id"`
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
}

// String describes the holder for messages.
func (h *holder) String() string {
	if h.ID == "" {
		return "an ingest that did not say which"
	}
	return fmt.Sprintf("an ingest on %s (process %d) since %s", h.Host, h.PID, h.Started.UTC().Format(time.RFC3339))
}

// lock is the lock of a catalogue that this process has.
type lock struct {
	bucket *store.Bucket
	key    string
	holder holder
}

// takeLock makes the lock object. A store that has no conditional writes is asked before
// and after: two ingests that start at the same moment may then both be refused, and in
// rare cases neither; Push looks again.
func (m *Mirror) takeLock(ctx context.Context, breakIt bool) (*lock, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	l := &lock{bucket: m.bucket, key: m.key(lockName), holder: holder{
		ID: rand.Text(), Host: host, PID: os.Getpid(), Started: time.Now().UTC().Truncate(time.Second),
	}}
	other, err := m.holder(ctx, lockName)
	if err != nil {
		return nil, err
	}
	if other != nil && breakIt {
		m.log.Warn("the lock is broken", "held_by", other.String())
		if err := m.bucket.Delete(ctx, l.key); err != nil {
			return nil, err
		}
		other = nil
	}
	if other != nil {
		return nil, m.locked(other)
	}
	err = l.create(ctx)
	if errors.Is(err, object.ErrUnsupported) {
		m.log.Warn("the store has no conditional writes: of two ingests that start at once, both may go on")
		err = l.put(ctx)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("lock catalogue: %w", err)
	}
	// Read it back: it is another's if that was faster or the store ignored the condition.
	if other, err = m.holder(ctx, lockName); err != nil {
		return nil, err
	}
	if other == nil || other.ID != l.holder.ID {
		return nil, m.locked(other)
	}
	return l, nil
}

// locked is the error that another has the lock.
func (m *Mirror) locked(h *holder) error {
	if h == nil {
		h = &holder{}
	}
	hint := "wait for it; if it does not run any more, use --break-lock or remove " + m.loc.At(m.key(lockName)).String()
	if age := time.Since(h.Started); h.ID != "" && age > staleAfter {
		hint = fmt.Sprintf("that is %d hours ago: if it does not run any more, use --break-lock or remove %s", int(age.Hours()), m.loc.At(m.key(lockName)))
	}
	return fmt.Errorf("%s: locked by %s: %s", m.loc, h, hint)
}

// holder returns who has made a lock, or the mark of writing; nil for nobody.
func (m *Mirror) holder(ctx context.Context, name string) (*holder, error) {
	data, err := m.bucket.ReadAll(ctx, m.key(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseHolder(data), nil
}

// parseHolder reads a lock. One that is not understood is not ours, so that of somebody
// who does not say who.
func parseHolder(data []byte) *holder {
	var h holder
	if err := json.Unmarshal(data, &h); err != nil {
		return &holder{}
	}
	return &h
}

func (l *lock) create(ctx context.Context) error {
	return l.bucket.Create(ctx, l.key, l.holder.json())
}

func (l *lock) put(ctx context.Context) error { return l.bucket.Put(ctx, l.key, l.holder.json()) }

func (h *holder) json() []byte {
	data, err := json.Marshal(h)
	if err != nil {
		panic(err) // strings, numbers and a time
	}
	return append(data, '\n')
}

// release removes the lock unless it was broken.
func (l *lock) release(ctx context.Context) error {
	data, err := l.bucket.ReadAll(ctx, l.key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("unlock catalogue: %w", err)
	}
	if parseHolder(data).ID != l.holder.ID {
		return nil
	}
	if err := l.bucket.Delete(ctx, l.key); err != nil {
		return fmt.Errorf("unlock catalogue: %w", err)
	}
	return nil
}
