package imdb

import (
	"errors"
	"testing"

	"reelsplice/schemas/wire"
)

func asFieldError(err error, to **wire.FieldError) bool { return errors.As(err, to) }

func TestSmoke(t *testing.T) {
	for _, d := range []string{"imdb", "imdb-small"} {
		g := join(t, Config{}, readShared(t, d)...)
		t.Logf("%+v %q", g.report, g.bad)
		n := 0
		for k, v := range g.records {
			if n++; n%331 == 1 || k[:2] == "tv" {
				t.Log(k, v)
			}
		}
	}
}
