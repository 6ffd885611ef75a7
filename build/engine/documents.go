package engine

import "strings"

// A Night is a build that a CronJob of Kubernetes starts.
type Night struct {
	Kubernetes *Kubernetes
	Name       string // of the CronJob
	Program    string
	Schedule   string   // such as "15 3 * * *"
	Driver     []string // arguments of the program that run the chain, with WorkOfNight of the work folder
}

// WorkOfNight returns a work folder below work for each night: the URL has the name of the night's
// Job, which Kubernetes fills in.
func WorkOfNight(work string) string {
	path, query, hasQuery := strings.Cut(work, "?")
	path = strings.TrimSuffix(path, "/") + "/$(BUILD)"
	if hasQuery {
		return path + "?" + query
	}
	return path
}

// CronJob returns the CronJob and the rights that it needs.
func (n *Night) CronJob() ([]byte, error) { return execute("cronjob.yaml", n) }

// Argo returns the chain as a Workflow of Argo.
func (k *Kubernetes) Argo(c Chain) ([]byte, error) {
	return execute("argo.yaml", map[string]any{
		"Kubernetes": k, "Chain": c, "Retries": c.Attempts - 1, "Final": Final,
		"Toleration": tolerationSeconds, "Resources": c.resources(),
	})
}

// argoArgs returns the arguments of a step with the index that Argo fills in.
func argoArgs(s Step) []string {
	if !s.Indexed {
		return s.Args
	}
	return append(s.Args[:len(s.Args):len(s.Args)], "--index", "{{inputs.parameters.index}}")
}
