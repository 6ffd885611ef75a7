package bench

import (
	"compress/gzip"
	"fmt"
	"io"
)

// sizeSample is how many answers are compressed whole to compare their bytes.
const sizeSample = 200

// Sizes compare the bytes of answers with those of their JSON compressed whole.
type Sizes struct {
	Answers int     `json:"answers"`
	Raw     int     `json:"raw_bytes"`
	Gzip    int     `json:"gzip_bytes"`
	OnePass int     `json:"one_pass_bytes"` // of gzip -6 over each whole answer
	Ratio   float64 `json:"ratio"`          // Gzip / OnePass
}

// add counts one answer.
func (s *Sizes) add(a *answer) error {
	raw, err := a.identity()
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
	s.Ratio = quotient(float64(s.Gzip), float64(s.OnePass))
	return nil
}

// noteSizes compares the bytes of the first answers of the mix that differ.
func (b *bench) noteSizes(requests []asked) error {
	s := &Sizes{}
	seen := map[string]bool{}
	for i := range requests {
		if a := &requests[i]; a.what == "five" && !seen[a.path] && s.Answers < sizeSample {
			seen[a.path] = true
			if err := s.add(a.answer); err != nil {
				return fmt.Errorf("%s: %w", a.path, err)
			}
		}
	}
	b.report.Sizes = s
	return nil
}

// A counter counts what is written to it.
type counter int64

var _ io.Writer = (*counter)(nil)

// Write counts p.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
