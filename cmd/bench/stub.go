package bench

import "context"

func (b *bench) mix(context.Context) error                 { return nil }
func (b *bench) curves(context.Context) error              { return nil }
func (b *bench) memory(context.Context) error              { return nil }
func (b *bench) noteMemory()                               {}
func (b *bench) profiles(context.Context, []*target) error { return nil }
