package jsonrow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/source/limit"
)

// BenchmarkCheck compares Check with the standard library's validator.
func BenchmarkCheck(b *testing.B) {
	var rows [][]byte
	total := 0
	for i := range 3000 {
		text := strings.Repeat("Some text about number ", i%20)
		row := fmt.Appendf(nil, `{"id":%d,"title":"Title %d","overview":%q,"genres":[{"id":18,"name":"Drama"}],"vote_average":7.25,"video":false}`, i, i, text)
		rows, total = append(rows, row), total+len(row)
	}
	run := func(name string, ok func([]byte) bool) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(total))
			b.ReportAllocs()
			for b.Loop() {
				for _, row := range rows {
					if !ok(bytes.TrimSpace(row)) {
						b.Fatal("refused")
					}
				}
			}
		})
	}
	run("check", func(row []byte) bool { return Check(row, limit.DefaultMaxDepth) == nil })
	run("encoding-json", json.Valid)
}
