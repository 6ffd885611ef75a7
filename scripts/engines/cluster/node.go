package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"
)

// A node stands in for a kubelet: it registers, renews its lease, and runs the first container of
// each pod that is bound to it as a process group. Images, volumes and limits are ignored.
type node struct {
	k    *kubernetes.Clientset
	name string
	dir  string // has for each pod NAME.log and, while its process runs, NAME.pid
	mu   sync.Mutex
	pods map[types.UID]*process
}

// A process is that of a pod; cmd is nil before it starts and for one of an earlier life of the node.
type process struct {
	cmd     *exec.Cmd
	stopped bool // the pod is being deleted
}

func client(config string) (*kubernetes.Clientset, error) {
	c, err := clientcmd.BuildConfigFromFlags("", config)
	if err != nil {
		return nil, err
	}
	c.QPS, c.Burst = 200, 400
	return kubernetes.NewForConfig(c)
}

// runNode runs a node until ctx ends; its pods end with it, unless it is killed.
func runNode(ctx context.Context, cluster, name string) error {
	config := filepath.Join(cluster, "kubeconfig")
	if _, err := os.Stat(config); err != nil {
		config = filepath.Join(cluster, "admin.conf") // the cluster is starting
	}
	k, err := client(config)
	if err != nil {
		return err
	}
	n := &node{k: k, name: name, dir: filepath.Join(cluster, name), pods: map[types.UID]*process{}}
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		return err
	}
	port, err := n.serveLogs()
	if err != nil {
		return err
	}
	if err := n.register(ctx, port); err != nil {
		return err
	}
	go n.renew(ctx)
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(k.CoreV1().RESTClient(), "pods", "", fields.OneTermEqualSelector("spec.nodeName", name)),
		ObjectType:    &core.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { n.sync(o.(*core.Pod)) },
			UpdateFunc: func(_, o any) { n.sync(o.(*core.Pod)) },
			DeleteFunc: func(o any) {
				if p, ok := o.(*core.Pod); ok {
					n.forget(p)
				}
			},
		},
	})
	informer.Run(ctx.Done())
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		p.signal(syscall.SIGKILL)
	}
	return nil
}

// register makes or renews the Node of this node.
func (n *node) register(ctx context.Context, port int32) error {
	has := core.ResourceList{}
	for name, amount := range map[core.ResourceName]string{
		core.ResourceCPU: "2", core.ResourceMemory: "8Gi", core.ResourcePods: "100", core.ResourceEphemeralStorage: "50Gi",
	} {
		has[name] = resource.MustParse(amount)
	}
	_, err := n.k.CoreV1().Nodes().Create(ctx, &core.Node{ObjectMeta: meta.ObjectMeta{Name: n.name}}, meta.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	now := meta.Now()
	return n.patch(ctx, func(ctx context.Context, body []byte) error {
		_, err := n.k.CoreV1().Nodes().Patch(ctx, n.name, types.StrategicMergePatchType, body, meta.PatchOptions{}, "status")
		return err
	}, map[string]any{"status": core.NodeStatus{
		Capacity: has, Allocatable: has,
		Conditions:      []core.NodeCondition{{Type: core.NodeReady, Status: core.ConditionTrue, Reason: "Ready", LastHeartbeatTime: now, LastTransitionTime: now}},
		Addresses:       []core.NodeAddress{{Type: core.NodeInternalIP, Address: "127.0.0.1"}},
		DaemonEndpoints: core.NodeDaemonEndpoints{KubeletEndpoint: core.DaemonEndpoint{Port: port}},
	}})
}

// renew renews the lease each second: without it the node counts as lost.
func (n *node) renew(ctx context.Context) {
	leases := n.k.CoordinationV1().Leases(core.NamespaceNodeLease)
	seconds := int32(8)
	for ; ctx.Err() == nil; time.Sleep(time.Second) {
		now := meta.NowMicro()
		lease, err := leases.Get(ctx, n.name, meta.GetOptions{})
		if err == nil {
			lease.Spec.RenewTime = &now
			_, err = leases.Update(ctx, lease, meta.UpdateOptions{})
		} else if apierrors.IsNotFound(err) {
			_, err = leases.Create(ctx, &coordination.Lease{
				ObjectMeta: meta.ObjectMeta{Name: n.name},
				Spec:       coordination.LeaseSpec{HolderIdentity: &n.name, LeaseDurationSeconds: &seconds, RenewTime: &now},
			}, meta.CreateOptions{})
		}
		if err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "lease:", err)
		}
	}
}

// sync does what a pod asks for.
func (n *node) sync(p *core.Pod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	have := n.pods[p.UID]
	switch {
	case p.DeletionTimestamp != nil && have != nil && have.cmd != nil:
		if !have.stopped {
			have.stopped = true
			have.signal(syscall.SIGTERM)
			time.AfterFunc(time.Duration(*p.DeletionGracePeriodSeconds)*time.Second, func() { have.signal(syscall.SIGKILL) })
		}
	case p.DeletionTimestamp != nil:
		go n.remove(p)
	case have != nil || p.Status.Phase == core.PodSucceeded || p.Status.Phase == core.PodFailed:
	case p.Status.Phase == core.PodRunning: // of an earlier life of this node
		n.pods[p.UID] = &process{}
		go n.report(p, core.ContainerState{Terminated: &core.ContainerStateTerminated{ExitCode: 137, Reason: "Error", FinishedAt: meta.Now()}})
	default:
		n.pods[p.UID] = &process{}
		go n.run(p, n.pods[p.UID])
	}
}

// forget ends the process of a pod that is gone.
func (n *node) forget(p *core.Pod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if have := n.pods[p.UID]; have != nil {
		have.signal(syscall.SIGKILL)
	}
	delete(n.pods, p.UID)
}

// signal signals the process group.
func (p *process) signal(s syscall.Signal) {
	if p.cmd != nil && p.cmd.ProcessState == nil {
		_ = syscall.Kill(-p.cmd.Process.Pid, s) // it may have ended
	}
}

// remove confirms that a pod has ended.
func (n *node) remove(p *core.Pod) {
	now := int64(0)
	err := n.k.CoreV1().Pods(p.Namespace).Delete(context.Background(), p.Name, meta.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &meta.Preconditions{UID: &p.UID},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		fmt.Fprintln(os.Stderr, "remove", p.Name, err)
	}
}

// run runs the process of a pod and reports its end.
func (n *node) run(p *core.Pod, own *process) {
	began := meta.Now()
	end := core.ContainerStateTerminated{ExitCode: 128, Reason: "StartError", StartedAt: began}
	if cmd, err := n.start(p, own); err != nil {
		end.Message = err.Error()
	} else {
		n.report(p, core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: began}})
		err := cmd.Wait()
		os.Remove(filepath.Join(n.dir, p.Name+".pid"))
		end.ExitCode, end.Reason = 0, "Completed"
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			end.Reason = "Error"
			if s := exit.Sys().(syscall.WaitStatus); s.Signaled() {
				end.ExitCode = 128 + int32(s.Signal())
			} else {
				end.ExitCode = int32(s.ExitStatus())
			}
		}
	}
	end.FinishedAt = meta.Now()
	n.report(p, core.ContainerState{Terminated: &end})
	n.mu.Lock()
	stopped := own.stopped
	n.mu.Unlock()
	if stopped {
		n.remove(p)
	}
}

func (n *node) start(p *core.Pod, own *process) (*exec.Cmd, error) {
	c := p.Spec.Containers[0]
	argv := append(append([]string{}, c.Command...), c.Args...)
	if len(argv) == 0 {
		return nil, errors.New("a container without a command")
	}
	log, err := os.Create(filepath.Join(n.dir, p.Name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	env, replace := environment(p, &c)
	for i := range argv {
		argv[i] = replace.Replace(argv[i])
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(append(os.Environ(), env...), "NODE="+n.name) // by its variables a test finds what it has started
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.WorkingDir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	own.cmd = cmd
	return cmd, os.WriteFile(filepath.Join(n.dir, p.Name+".pid"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o644)
}

// environment returns the variables of a container, and what replaces $(NAME) by them.
func environment(p *core.Pod, c *core.Container) (env []string, replace *strings.Replacer) {
	var pairs []string
	for _, e := range c.Env {
		value := strings.NewReplacer(pairs...).Replace(e.Value)
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil {
			value = field(p, e.ValueFrom.FieldRef.FieldPath)
		}
		pairs = append(pairs, "$("+e.Name+")", value)
		env = append(env, e.Name+"="+value)
	}
	return env, strings.NewReplacer(pairs...)
}

// field returns a field of a pod such as metadata.name or metadata.labels['x'].
func field(p *core.Pod, path string) string {
	name, key, _ := strings.Cut(path, "['")
	key = strings.TrimSuffix(key, "']")
	switch name {
	case "metadata.annotations":
		return p.Annotations[key]
	case "metadata.labels":
		return p.Labels[key]
	case "metadata.name":
		return p.Name
	case "spec.nodeName":
		return p.Spec.NodeName
	}
	return ""
}

// report writes the status of a pod with this state of its container.
func (n *node) report(p *core.Pod, state core.ContainerState) {
	phase, ready := core.PodRunning, core.ConditionTrue
	if end := state.Terminated; end != nil {
		phase, ready = core.PodSucceeded, core.ConditionFalse
		if end.ExitCode != 0 {
			phase = core.PodFailed
		}
	}
	now, c := meta.Now(), p.Spec.Containers[0]
	err := n.patch(context.Background(), func(ctx context.Context, body []byte) error {
		_, err := n.k.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, body, meta.PatchOptions{}, "status")
		return err
	}, map[string]any{"metadata": map[string]any{"uid": p.UID}, "status": core.PodStatus{
		Phase: phase, HostIP: "127.0.0.1", PodIP: "127.0.0.1", StartTime: &now,
		ContainerStatuses: []core.ContainerStatus{{Name: c.Name, Image: c.Image, State: state, Ready: ready == core.ConditionTrue}},
		Conditions:        []core.PodCondition{{Type: core.PodReady, Status: ready, LastTransitionTime: now}},
	}})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		fmt.Fprintln(os.Stderr, "report", p.Name, err)
	}
}

// patch sends a patch, again for a few seconds if the API server is away.
func (n *node) patch(ctx context.Context, send func(ctx context.Context, body []byte) error, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	for range 20 {
		if err = send(ctx, body); err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || ctx.Err() != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// serveLogs serves the output of pods as a kubelet does, for kubectl logs, and returns its port.
func (n *node) serveLogs() (int32, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return 0, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return 0, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", func(w http.ResponseWriter, r *http.Request) {
		text, err := os.ReadFile(filepath.Join(n.dir, filepath.Base(r.PathValue("pod"))+".log"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		lines := strings.SplitAfter(string(text), "\n")
		if last := len(lines) - 1; lines[last] == "" {
			lines = lines[:last]
		}
		if tail, err := strconv.Atoi(r.URL.Query().Get("tailLines")); err == nil && tail < len(lines) {
			lines = lines[len(lines)-tail:]
		}
		fmt.Fprint(w, strings.Join(lines, ""))
	})
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}}}
	go func() { fmt.Fprintln(os.Stderr, "logs:", s.ServeTLS(l, "", "")) }()
	return int32(l.Addr().(*net.TCPAddr).Port), nil
}
