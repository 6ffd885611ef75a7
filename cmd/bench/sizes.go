package main

import (
	"compress/gzip"
	"fmt"

	"reelsplice/cmd/bench/peer"
	"reelsplice/cmd/bench/report"
)

// sizeSample is how many answers are compressed whole to compare their bytes.
const sizeSample = 200

// addSize counts one answer.
func addSize(s *report.Sizes, a *peer.Answer) error {
	raw, err := a.Identity()
	if err != nil {
		return err
	}
	var n counter
	z, err := gzip.NewWriterLevel(&n, 6)
	if err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	if _, err := z.Write(raw); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	s.Answers, s.Raw, s.Gzip, s.OnePass = s.Answers+1, s.Raw+len(raw), s.Gzip+len(a.Body), s.OnePass+int(n)
	s.Ratio = report.Quotient(float64(s.Gzip), float64(s.OnePass))
	return nil
}

// noteSizes compares the bytes of the first answers of the mix that differ.
func (b *bench) noteSizes(requests []asked) error {
	s := &report.Sizes{}
	seen := map[string]bool{}
	for i := range requests {
		if a := &requests[i]; a.what == "five" && !seen[a.path] && s.Answers < sizeSample {
			seen[a.path] = true
			if err := addSize(s, a.answer); err != nil {
				return fmt.Errorf("%s: %w", a.path, err)
			}
		}
	}
	b.report.Sizes = s
	return nil
}

// A counter counts the bytes written to it.
type counter int64

// Write counts p.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
