package store

// Unlock lets other builders start, as the end of the process does, and leaves the folder to them.
func (b *Builder) Unlock() error { return b.lock.Unlock() }
