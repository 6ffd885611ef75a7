package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A plane starts the processes of a cluster and ends them.
type plane struct {
	dir   string
	ended chan error // of parts that the cluster cannot do without
	mu    sync.Mutex
	parts []*exec.Cmd
}

// startLimit bounds how long a part may take to be ready.
const startLimit = 2 * time.Minute

// up runs a cluster until ctx ends or a part of its control plane does.
func up(ctx context.Context, dir string, nodes int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	p := &plane{dir: dir, ended: make(chan error, 8)}
	defer p.stop()
	if err := p.start(ctx, nodes); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-p.ended:
		return err
	}
}

func (p *plane) start(ctx context.Context, nodes int) error {
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	token, key := rand.Text(), filepath.Join(p.dir, "accounts.key")
	if err := writeKey(key); err != nil {
		return err
	}
	tokens := filepath.Join(p.dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+",admin,1,system:masters\n"), 0o600); err != nil {
		return err
	}
	etcd, api := "http://127.0.0.1:"+ports[0], "https://127.0.0.1:"+ports[2]
	config := filepath.Join(p.dir, "admin.conf")
	if err := writeConfig(config, api, filepath.Join(p.dir, "pki", "apiserver.crt"), token); err != nil {
		return err
	}
	if err := p.part("etcd", filepath.Join(p.dir, "etcd"), ports[0], ports[1]); err != nil {
		return err
	}
	if err := p.ready(ctx, etcd+"/health"); err != nil {
		return err
	}
	if err := p.part("apiserver", "--etcd-servers="+etcd, "--secure-port="+ports[2], "--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1", "--cert-dir="+filepath.Join(p.dir, "pki"), "--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount", "--authorization-mode=RBAC",
		"--token-auth-file="+tokens, "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file="+key, "--service-account-key-file="+key); err != nil {
		return err
	}
	if err := p.ready(ctx, api+"/readyz"); err != nil {
		return err
	}
	// A node counts as lost after 8 s: in the field it is 40 s.
	if err := p.part("controllers", "--kubeconfig="+config, "--leader-elect=false", "--secure-port=0",
		"--node-monitor-grace-period=8s", "--node-monitor-period=1s", "--controllers="+strings.Join([]string{
			"job-controller", "cronjob-controller", "garbage-collector-controller", "pod-garbage-collector-controller",
			"ttl-after-finished-controller", "namespace-controller", "serviceaccount-controller",
			"node-lifecycle-controller", "taint-eviction-controller",
		}, ",")); err != nil {
		return err
	}
	if err := p.part("scheduler", "--kubeconfig="+config, "--leader-elect=false", "--secure-port=0"); err != nil {
		return err
	}
	for i := range nodes {
		if err := p.part("node", p.dir, fmt.Sprintf("node%d", i+1)); err != nil {
			return err
		}
	}
	if err := waitNodes(ctx, config, nodes); err != nil {
		return err
	}
	return os.Rename(config, filepath.Join(p.dir, "kubeconfig"))
}

// part starts a part of the cluster as a process that logs to a file. Its name is that of the
// command, or a node's.
func (p *plane) part(args ...string) error {
	name := args[0]
	if name == "node" {
		name = args[2]
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(p.dir, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	c := exec.Command(self, args...)
	c.Stdout, c.Stderr = log, log
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the terminal is ours to pass on
	if err := c.Start(); err != nil {
		return err
	}
	p.mu.Lock()
	p.parts = append(p.parts, c)
	p.mu.Unlock()
	go func() {
		if err := c.Wait(); args[0] != "node" { // nodes may be killed
			p.ended <- fmt.Errorf("%s ended, see %s: %w", name, log.Name(), err)
		}
	}()
	return os.WriteFile(filepath.Join(p.dir, name+".pid"), []byte(strconv.Itoa(c.Process.Pid)), 0o644)
}

// stop ends all parts, the last one first: nodes end their pods.
func (p *plane) stop() {
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for i := len(p.parts) - 1; i >= 0; i-- {
			_ = p.parts[i].Process.Signal(signal) // it may have ended
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// ready waits until a URL answers with success.
func (p *plane) ready(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // its certificate is made while we wait
	}}
	for {
		if r, err := client.Get(address); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case err := <-p.ended:
			return err
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w", address, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// waitNodes waits until nodes are ready for pods.
func waitNodes(ctx context.Context, config string, want int) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	k, err := client(config)
	if err != nil {
		return err
	}
	for {
		if list, err := k.CoreV1().Nodes().List(ctx, meta.ListOptions{}); err == nil {
			n := 0
			for _, node := range list.Items {
				for _, c := range node.Status.Conditions {
					if c.Type == core.NodeReady && c.Status == core.ConditionTrue && len(node.Spec.Taints) == 0 {
						n++
					}
				}
			}
			if n >= want {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("nodes are not ready: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// runEtcd runs etcd until ctx ends.
func runEtcd(ctx context.Context, dir, port, peerPort string) error {
	c := embed.NewConfig()
	c.Dir, c.LogLevel = dir, "error"
	c.UnsafeNoFsync = true // the cluster does not outlive the machine
	own, peer := url.URL{Scheme: "http", Host: "127.0.0.1:" + port}, url.URL{Scheme: "http", Host: "127.0.0.1:" + peerPort}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{own}, []url.URL{own}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	e, err := embed.StartEtcd(c)
	if err != nil {
		return err
	}
	defer e.Close()
	select {
	case <-ctx.Done():
		return nil
	case err := <-e.Err():
		return err
	}
}

// freePorts returns ports that nobody listens on.
func freePorts(n int) ([]string, error) {
	var out []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // all are held until the last is found
		out = append(out, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return out, nil
}

// writeKey writes a key that signs the tokens of service accounts.
func writeKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}

func writeConfig(path, api, authority, token string) error {
	return os.WriteFile(path, fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: own, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: admin, user: {token: %q}}]
contexts: [{name: own, context: {cluster: own, user: admin}}]
current-context: own
`, api, authority, token), 0o600)
}
