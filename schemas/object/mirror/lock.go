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

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/object"
)

// lockName is the object beside the catalogue's that one ingest at a time creates. It names
// its holder. It does not expire, because an ingest may take a day: remove the lock of a
// dead ingest by hand, or break it with Options.BreakLock.
const lockName = ".lock.json"

// writingName is the object that exists while Push replaces others. A killed Push leaves it
// until the next one: some kinds are newer than others then, and a build must refuse them.
const writingName = catalog.WritingName

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

// takeLock creates the lock object. Without conditional writes it reads the lock before and
// after: of two ingests that start at once, both may be refused, and in rare cases none.
// Push checks again.
func (m *Mirror) takeLock(ctx context.Context, breakIt bool) (*holder, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	h := &holder{ID: rand.Text(), Host: host, PID: os.Getpid(), Started: time.Now().UTC().Truncate(time.Second)}
	key := m.key(lockName)
	other, err := m.holder(ctx, lockName)
	if err != nil {
		return nil, err
	}
	if other != nil && breakIt {
		m.log.Warn("the lock is broken", "held_by", other.String())
		if err := m.bucket.Delete(ctx, key); err != nil {
			return nil, err
		}
		other = nil
	}
	if other != nil {
		return nil, m.locked(other)
	}
	err = m.bucket.Create(ctx, key, h.json())
	if errors.Is(err, object.ErrUnsupported) {
		m.log.Warn("the store has no conditional writes: two ingests that start at once may both continue")
		err = m.bucket.Put(ctx, key, h.json())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("lock catalogue: %w", err)
	}
	// Read it back: another ingest was faster if the store ignores the condition.
	if other, err = m.holder(ctx, lockName); err != nil {
		return nil, err
	}
	if other == nil || other.ID != h.ID {
		return nil, m.locked(other)
	}
	return h, nil
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
	h := &holder{}
	if err := json.Unmarshal(data, h); err != nil {
		*h = holder{} // it is not ours: its holder has no name
	}
	return h, nil
}

func (h *holder) json() []byte {
	data, err := json.Marshal(h)
	if err != nil {
		panic(err) // strings, numbers and a time
	}
	return append(data, '\n')
}

// unlock removes the lock unless it was broken.
func (m *Mirror) unlock(ctx context.Context) error {
	h, err := m.holder(ctx, lockName)
	if err == nil && h != nil && h.ID == m.lock.ID {
		err = m.bucket.Delete(ctx, m.key(lockName))
	}
	if err != nil {
		return fmt.Errorf("unlock catalogue: %w", err)
	}
	return nil
}
