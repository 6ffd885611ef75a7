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

// lockName is the object beside the catalogue's that one ingest at a time creates. It names
// its holder. It does not expire, because an ingest may take a day: remove the lock of a
// dead ingest by hand, or break it with Options.BreakLock.
const lockName = ".lock.json"

// writingName is the object that exists while Push replaces others. A killed Push leaves it
// until the next one: some kinds are newer than others then, and a build must refuse them.
const writingName = ".writing.json"

// staleAfter is the age from which the message suspects a dead ingest behind a lock.
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
		return "an unnamed ingest"
	}
	return fmt.Sprintf("an ingest on %s (process %d) since %s", h.Host, h.PID, h.Started.UTC().Format(time.RFC3339))
}

// lock is the lock of a catalogue, held by this process.
type lock struct {
	bucket *store.Bucket
	key    string
	holder holder
}

// takeLock creates the lock object. Without conditional writes it reads the lock before and
// after: of two ingests that start at once, both may be refused, and in rare cases none.
// Push checks again.
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
		m.log.Warn("the store has no conditional writes: two ingests that start at once may both continue")
		err = l.put(ctx)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("lock catalogue: %w", err)
	}
	// Read it back: another ingest was faster if the store ignores the condition.
	if other, err = m.holder(ctx, lockName); err != nil {
		return nil, err
	}
	if other == nil || other.ID != l.holder.ID {
		return nil, m.locked(other)
	}
	return l, nil
}

// locked returns the error for a lock held by another.
func (m *Mirror) locked(h *holder) error {
	if h == nil {
		h = &holder{}
	}
	hint := "wait for it; if it is dead, use --break-lock or remove " + m.loc.At(m.key(lockName)).String()
	if age := time.Since(h.Started); h.ID != "" && age > staleAfter {
		hint = fmt.Sprintf("that is %d hours ago: if it is dead, use --break-lock or remove %s", int(age.Hours()), m.loc.At(m.key(lockName)))
	}
	return fmt.Errorf("%s: locked by %s: %s", m.loc, h, hint)
}

// holder returns the maker of the lock or of the writing mark, nil for none.
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

// parseHolder reads a lock. An unreadable one is not ours: its holder has no name.
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
