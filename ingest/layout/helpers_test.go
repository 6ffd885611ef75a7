package layout

import "reelsplice/ingest/layout/tmdb"

func newTMDB(language string) *tmdb.Reader { return tmdb.New(language) }
