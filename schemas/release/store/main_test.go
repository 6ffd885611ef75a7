package store

import (
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func TestMain(m *testing.M) { sharedtest.InMemory(m).Run() }
