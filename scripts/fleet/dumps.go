package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/klauspost/compress/zstd"
)

// changeStep is the distance between changed movies: 2 % change.
const changeStep = 50

// firstDay is the day of the first release.
var firstDay = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// dumps makes releases from synthetic dumps.
type dumps struct{ program, dir, releases string }

// call runs the program and returns its output.
func (d dumps) call(ctx context.Context, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, d.program, append(args, "--quiet")...)
	var failure bytes.Buffer
	c.Stderr = &failure
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", args[0], err, failure.Bytes())
	}
	return out, nil
}

func (d dumps) path(name string) string { return filepath.Join(d.dir, name) }

// first makes the first release.
func (d dumps) first(ctx context.Context, movies int) (id string, err error) {
	if _, err := d.call(ctx, "gen", "--out", d.path("dump"), "--movies", strconv.Itoa(movies)); err != nil {
		return "", err
	}
	if _, err := d.call(ctx, "ingest", "--catalog", d.path("catalog"), d.path("dump")); err != nil {
		return "", err
	}
	return d.build(ctx, 0)
}

// next makes a release upon the last one, with 2 % of the movies changed.
func (d dumps) next(ctx context.Context, night int) (id string, err error) {
	if err := d.change(night); err != nil {
		return "", err
	}
	if _, err := d.call(ctx, "ingest", "--catalog", d.path("catalog"), "--update", d.path("movies.ndjson")); err != nil {
		return "", err
	}
	return d.build(ctx, night)
}

func (d dumps) build(ctx context.Context, night int) (id string, err error) {
	day := firstDay.AddDate(0, 0, night).Format(time.DateOnly)
	out, err := d.call(ctx, "build", "--catalog", d.path("catalog"), "--releases", d.releases, "--publish", "--date", day, "--json")
	if err != nil {
		return "", err
	}
	var report struct{ Release string }
	if err := json.Unmarshal(out, &report); err != nil {
		return "", fmt.Errorf("read the report of build: %w", err)
	}
	return report.Release, nil
}

// token issues a token.
func (d dumps) token(ctx context.Context) (string, error) {
	out, err := d.call(ctx, "token", "issue", "--tokens", d.path("tokens.txt"), "--name", "fleet")
	return string(bytes.TrimSpace(out)), err
}

// change writes the changed movies of a night: another overview, and more votes.
func (d dumps) change(night int) (err error) {
	in, err := os.Open(d.path("dump/movies.ndjson.zst"))
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := zstd.NewReader(in)
	if err != nil {
		return err
	}
	defer z.Close()
	out, err := os.Create(d.path("movies.ndjson"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return changeRows(z, out, night)
}

func changeRows(in io.Reader, out io.Writer, night int) error {
	rows := bufio.NewScanner(in)
	rows.Buffer(nil, 256<<20)
	for i := 0; rows.Scan(); i++ {
		if i%changeStep != night%changeStep {
			continue
		}
		movie := map[string]json.RawMessage{}
		if err := json.Unmarshal(rows.Bytes(), &movie); err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		movie["overview"] = json.RawMessage(strconv.Quote("Revised in night " + strconv.Itoa(night) + "."))
		movie["vote_count"] = json.RawMessage(strconv.Itoa(10*night + i))
		row, err := json.Marshal(movie)
		if err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		if _, err := out.Write(append(row, '\n')); err != nil {
			return err
		}
	}
	return rows.Err()
}
