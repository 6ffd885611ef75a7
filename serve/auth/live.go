package auth

import (
	"log/slog"
	"time"

	"github.com/reelsplice/reelsplice/serve/follow"
)

// Live follows a token file. While the file cannot be used, the last good table stays. So removing or
// emptying the file revokes nothing: revoke the tokens, or leave only a comment in the file.
//
// Replace the file in one step (a rename, as Issue and Revoke do). An edit in place may be seen half
// written, until the next check; a file without its end is refused.
type Live = follow.Value[Table]

// OpenLive reads the token file at path; a file that cannot be used is an error. A nil logger logs
// nothing.
func OpenLive(path string, logger *slog.Logger) (*Live, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	l, err := follow.Open(follow.Files[Table]{
		Name: "token file", Paths: []string{path}, MaxSize: MaxFileSize, Log: logger,
		Make: func(contents [][]byte) (*Table, []any, error) {
			entries, err := parse(path, contents[0])
			if err != nil {
				return nil, nil, err
			}
			t := NewTable(records(entries))
			return t, []any{"tokens", t.Len(), "active", t.Active(time.Now().Unix())}, nil
		},
	})
	return l, advise(err)
}
