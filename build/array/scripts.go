package array

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"al.essio.dev/pkg/shellescape"
)

// Slurm is a cluster of Slurm. Program, work folder and logs are on a file system that its nodes share.
type Slurm struct {
	Logs    string   // folder of the tasks' output
	Options []string // further options of sbatch
}

// Script returns a script of bash that submits the chain: each job depends on the one before it.
func (s *Slurm) Script(c Chain) ([]byte, error) {
	return execute("slurm.sh", map[string]any{
		"Chain": c, "Slurm": s, "Pauses": c.pauses(), "MegaBytes": (c.limit() + 1<<20 - 1) >> 20,
	})
}

// Kubernetes is a cluster: each step is an Indexed Job, each task a pod.
type Kubernetes struct {
	Namespace string
	Image     string // image with reelsplice
	Claim     Claim
}

// A Claim is a persistent volume claim that all tasks mount: the shared file system of catalogue, releases and work
// folder.
type Claim struct{ Name, Path string }

// ParseClaim reads NAME:PATH.
func ParseClaim(text string) (Claim, error) {
	name, path, ok := strings.Cut(text, ":")
	if !ok || name == "" || !strings.HasPrefix(path, "/") {
		return Claim{}, fmt.Errorf("volume %q: want CLAIM:/PATH", text)
	}
	return Claim{name, path}, nil
}

// Script returns a script of sh that creates the Jobs of the chain, each when the one before it is complete.
func (k *Kubernetes) Script(c Chain) ([]byte, error) {
	type object map[string]any
	requests, limits := object{}, object{}
	if c.CPUs > 0 {
		requests["cpu"] = strconv.Itoa(c.CPUs)
	}
	if c.Memory > 0 {
		limits["memory"] = strconv.FormatInt(c.limit(), 10)
		requests["memory"] = limits["memory"]
	}
	mounts, volumes := []object{}, []object{}
	if k.Claim.Name != "" {
		mounts = append(mounts, object{"name": "shared", "mountPath": k.Claim.Path})
		volumes = append(volumes, object{"name": "shared", "persistentVolumeClaim": object{"claimName": k.Claim.Name}})
	}
	return execute("kubernetes.sh", map[string]any{
		"Chain": c, "Kubernetes": k, "Retries": c.Attempts - 1, "Resources": object{"requests": requests, "limits": limits},
		"Mounts": mounts, "Volumes": volumes,
	})
}

//go:embed templates
var files embed.FS

// templates are the scripts. Their marks are <% and %>.
var templates = template.Must(template.New("").Delims("<%", "%>").
	Funcs(template.FuncMap{"sh": shellescape.Quote, "json": quoteJSON}).ParseFS(files, "templates/*"))

// execute fills in a template.
func execute(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// quoteJSON returns v as JSON, which is YAML too.
func quoteJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
