package layout

import (
	"reelsplice/ingest/layout/movnix"
	"reelsplice/ingest/layout/tmdb"
)

func newTMDB(language string) *tmdb.Reader { return tmdb.New(language) }

func newMovnix() *movnix.Reader { return movnix.New() }
