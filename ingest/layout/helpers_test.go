package layout

import (
	"github.com/reelsplice/reelsplice/ingest/layout/movnix"
	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
)

func newTMDB(language string) *tmdb.Reader { return tmdb.New(language) }

func newMovnix() *movnix.Reader { return movnix.New() }
