//go:build allclouds

package store_test

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/store"
)

// vendor answers the few requests of reading as Google's and Azure's stores do: it
// stands for both, told apart by the path.
type vendor struct {
	mu      sync.Mutex
	objects map[string]vendorObject
	refused int // requests for another version
}

type vendorObject struct {
	data       []byte
	generation int64
}

func (v *vendor) put(key string, data []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.objects == nil {
		v.objects = map[string]vendorObject{}
	}
	v.objects[key] = vendorObject{data, v.objects[key].generation + 1}
}

func (v *vendor) get(key string) (vendorObject, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	o, ok := v.objects[key]
	return o, ok
}

func (v *vendor) keys(prefix string) (keys []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for key := range v.objects {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

const changedOn = "Sun, 01 Nov 2026 10:00:00 GMT"

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const api, media, azure = "/storage/v1/b/bucket/o", "/bucket/", "/account/bucket"
	q := r.URL.Query()
	switch p := r.URL.Path; {
	case p == api:
		var items []any
		for _, key := range v.keys(q.Get("prefix")) {
			items = append(items, v.google(key))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "storage#objects", "items": items})
	case strings.HasPrefix(p, api+"/"):
		key := strings.TrimPrefix(p, api+"/")
		if _, ok := v.get(key); !ok {
			http.Error(w, "{}", http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(v.google(key))
	case strings.HasPrefix(p, media):
		want := r.Header.Get("X-Goog-If-Generation-Match")
		v.content(w, r, strings.TrimPrefix(p, media), func(o vendorObject) bool { return want != "" && want != fmt.Sprint(o.generation) })
	case strings.TrimSuffix(p, "/") == azure && q.Get("comp") == "list":
		fmt.Fprint(w, `<?xml version="1.0"?><EnumerationResults><Blobs>`)
		for _, key := range v.keys(q.Get("prefix")) {
			o, _ := v.get(key)
			fmt.Fprintf(w, "<Blob><Name>%s</Name><Properties><Last-Modified>%s</Last-Modified><Etag>0x%d</Etag><Content-Length>%d</Content-Length></Properties></Blob>",
				key, changedOn, o.generation, len(o.data))
		}
		fmt.Fprint(w, `</Blobs><NextMarker/></EnumerationResults>`)
	case strings.HasPrefix(p, azure+"/"):
		r.Header.Set("Range", r.Header.Get("X-Ms-Range"))
		want := r.Header.Get("If-Match")
		r.Header.Del("If-Match")
		v.content(w, r, strings.TrimPrefix(p, azure+"/"), func(o vendorObject) bool {
			return want != "" && want != fmt.Sprintf(`"0x%d"`, o.generation)
		})
	default:
		http.Error(w, "no such request: "+r.URL.String(), http.StatusBadRequest)
	}
}

// google is an object as Google describes it.
func (v *vendor) google(key string) any {
	o, _ := v.get(key)
	sum := md5.Sum(o.data)
	return map[string]string{
		"kind": "storage#object", "bucket": "bucket", "name": key, "size": fmt.Sprint(len(o.data)), "updated": "2026-11-01T10:00:00Z",
		"generation": fmt.Sprint(o.generation), "md5Hash": base64.StdEncoding.EncodeToString(sum[:]), "etag": "x",
	}
}

// content answers with an object, or a part of it, unless it is changed.
func (v *vendor) content(w http.ResponseWriter, r *http.Request, key string, changed func(vendorObject) bool) {
	o, ok := v.get(key)
	switch {
	case !ok:
		w.Header().Set("X-Ms-Error-Code", "BlobNotFound")
		w.WriteHeader(http.StatusNotFound)
		return
	case changed(o):
		v.mu.Lock()
		v.refused++
		v.mu.Unlock()
		w.Header().Set("X-Ms-Error-Code", "ConditionNotMet")
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	w.Header().Set("X-Ms-Creation-Time", changedOn)
	w.Header().Set("X-Goog-Generation", fmt.Sprint(o.generation))
	w.Header().Set("ETag", fmt.Sprintf(`"0x%d"`, o.generation))
	mod, err := time.Parse(http.TimeFormat, changedOn)
	if err != nil {
		panic(err)
	}
	http.ServeContent(w, r, "", mod, bytes.NewReader(o.data))
}

// TestVendors reads from stores that speak as Google's and Azure's do, so that what is
// asked through the vendors' own types, versions and conditions, is held to the wire.
func TestVendors(t *testing.T) {
	v := &vendor{}
	srv := httptest.NewServer(v)
	t.Cleanup(srv.Close)
	host := strings.TrimPrefix(srv.URL, "http://")
	t.Setenv("STORAGE_EMULATOR_HOST", host)
	t.Setenv("AZURE_STORAGE_KEY", base64.StdEncoding.EncodeToString([]byte("a key")))
	t.Setenv("AZURE_STORAGE_ACCOUNT", "account")
	for _, url := range []string{"gs://bucket/", "azblob://bucket/?storage_account=account&protocol=http&localemu=true&domain=" + host} {
		t.Run(url[:2], func(t *testing.T) {
			data := noise(2*store.BlockSize + 3)
			v.refused = 0
			v.put("d/a.bin", data)
			v.put("d/b.json", []byte("{}"))
			v.put("e.json", []byte("{}"))
			b := open(t, url)
			list, err := b.List(t.Context(), "d/")
			if err != nil || keys(list) != "d/a.bin d/b.json" {
				t.Fatalf("List = %+v, %v", list, err)
			}
			o := stat(t, b, "d/a.bin")
			if l := list[0]; o.ETag == "" || l.ETag != o.ETag || l.Size != o.Size || !l.ModTime.Equal(o.ModTime) {
				t.Errorf("List = %+v, Stat = %+v", l, o)
			}
			if got, err := io.ReadAll(b.NewReader(t.Context(), list[0])); err != nil || !bytes.Equal(got, data) {
				t.Errorf("read %d bytes, %v", len(got), err)
			}
			readAt(t, b.NewReaderAt(t.Context(), o), data)
			v.put("d/a.bin", append([]byte("new"), data[3:]...))
			if _, err := b.NewReaderAt(t.Context(), o).ReadAt(make([]byte, 9), 5); !errors.Is(err, object.ErrChanged) {
				t.Errorf("ReadAt after a change: %v", err)
			}
			if v.refused != 1 {
				t.Errorf("%d requests were refused, want the one for what was changed", v.refused)
			}
			if _, err := b.Stat(t.Context(), "none"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Stat of nothing: %v", err)
			}
		})
	}
}
