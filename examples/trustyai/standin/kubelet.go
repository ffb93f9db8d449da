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
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// evaluation is the duration of an evaluation.
const evaluation = 3 * time.Second

// host is the address of the stub and of the control plane of a demo.
const host = "127.0.0.1"

// kubelet answers the commands that the operator runs in the pods of evaluations. kwok, which simulates the nodes of the demo, runs
// no commands.
type kubelet struct {
	port int32

	mu   sync.Mutex
	runs map[string]*run // by namespace/name of the pod
}

// run is the evaluation in a pod.
type run struct {
	pod    *corev1.Pod
	ended  time.Time // when the evaluation ends
	closed bool      // the driver has received the request to stop
}

// newKubelet listens on a free port.
func newKubelet() (*kubelet, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, []net.IP{net.ParseIP(host)}, nil)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", host+":0")
	if err != nil {
		return nil, err
	}
	k := &kubelet{port: int32(listener.Addr().(*net.TCPAddr).Port), runs: map[string]*run{}} //nolint:forcetypeassert,gosec // a port of TCP
	server := &http.Server{
		Handler: k, ReadHeaderTimeout: evaluation,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
		// SPDY upgrades a connection of HTTP/1.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	go func() { fmt.Fprintln(os.Stderr, "standin:", server.ServeTLS(listener, "", "")) }()
	return k, nil
}

// turn redirects commands in pods of kwok's nodes to this server, and ends the pods whose drivers have stopped.
func (k *kubelet) turn(ctx context.Context, c client.Client) error {
	var nodes corev1.NodeList
	var pods corev1.PodList
	if err := errors.Join(c.List(ctx, &nodes), c.List(ctx, &pods, client.MatchingLabels{"app.kubernetes.io/name": "ta-lmes"})); err != nil {
		return err
	}
	var errs []error
	for i := range nodes.Items {
		node := &nodes.Items[i]
		if node.Annotations["kwok.x-k8s.io/node"] != "fake" || node.Status.DaemonEndpoints.KubeletEndpoint.Port == k.port {
			continue
		}
		before := client.MergeFrom(node.DeepCopy())
		node.Status.DaemonEndpoints.KubeletEndpoint.Port = k.port
		// The API server prefers the name of the node, which DNS cannot resolve.
		node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: host}}
		errs = append(errs, c.Status().Patch(ctx, node, before))
	}
	for _, pod := range k.follow(pods.Items) {
		before := client.MergeFrom(pod.DeepCopy())
		pod.Status.Phase = corev1.PodSucceeded
		for i := range pod.Status.ContainerStatuses {
			pod.Status.ContainerStatuses[i].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}
		}
		errs = append(errs, client.IgnoreNotFound(c.Status().Patch(ctx, pod, before)))
	}
	return errors.Join(errs...)
}

// follow starts the evaluations of new pods, and returns running pods whose drivers have stopped.
func (k *kubelet) follow(pods []corev1.Pod) (stopped []*corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range pods {
		pod := &pods[i]
		key := pod.Namespace + "/" + pod.Name
		known := k.runs[key]
		switch {
		case pod.Status.Phase != corev1.PodRunning:
		case known == nil || known.pod.UID != pod.UID:
			k.runs[key] = &run{pod: pod, ended: time.Now().Add(evaluation)}
		case known.closed:
			stopped = append(stopped, pod)
		}
	}
	return stopped
}

// answer returns the output of a pod's driver for a flag.
func (k *kubelet) answer(pod, flag string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.runs[pod]
	switch {
	case r == nil || r.closed: // the next pod of that name is not in the cache yet
		return "", fmt.Errorf("no driver runs in pod %s", pod)
	case flag == "--shutdown":
		r.closed = true
		return "", nil
	case time.Now().Before(r.ended):
		return report(v1alpha1.JobRunning, v1alpha1.NoReason, "")
	}
	// The result repeats the request.
	asked, err := json.Marshal(map[string]string{"tasks": argument(r.pod, "--tasks"), "limit": argument(r.pod, "--limit")})
	if err != nil {
		return "", err
	}
	return report(v1alpha1.JobComplete, v1alpha1.JobSucceeded, string(asked))
}

func report(state v1alpha1.JobState, reason v1alpha1.JobReason, results string) (string, error) {
	text, err := json.Marshal(map[string]any{"state": state, "reason": reason, "message": "the stub does not evaluate", "results": results})
	return string(text), err
}

// argument returns the value of a flag of the evaluation, or the empty string.
func argument(pod *corev1.Pod, flag string) string {
	words := strings.Fields(strings.Join(slices.Concat(pod.Spec.Containers[0].Command, pod.Spec.Containers[0].Args), " "))
	if at := slices.Index(words, flag); at >= 0 && at+1 < len(words) {
		return words[at+1]
	}
	return ""
}

// ServeHTTP runs a command: /exec/namespace/pod/container?command=driver&command=flag.
func (k *kubelet) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	parts, command := strings.Split(strings.Trim(request.URL.Path, "/"), "/"), request.URL.Query()["command"]
	if len(parts) != 4 || parts[0] != "exec" || len(command) == 0 {
		http.Error(w, "want /exec/namespace/pod/container with a command", http.StatusNotFound)
		return
	}
	text, failed := k.answer(parts[1]+"/"+parts[2], command[len(command)-1])
	if failed != nil {
		http.Error(w, failed.Error(), http.StatusServiceUnavailable)
		return
	}
	if err := respond(w, request, text); err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
	}
}

// respond writes the text as the output of a successful command, with version 4 of the protocol of kubectl exec.
func respond(w http.ResponseWriter, request *http.Request, text string) error {
	if _, err := httpstream.Handshake(request, w, []string{"v4.channel.k8s.io"}); err != nil {
		return err // the handshake has sent the answer
	}
	type opened struct {
		httpstream.Stream
		replied <-chan struct{}
	}
	arriving := make(chan opened, 3) //nolint:mnd // the three streams below
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, request, func(s httpstream.Stream, replied <-chan struct{}) error {
		arriving <- opened{s, replied}
		return nil
	})
	if conn == nil {
		return errors.New("the connection was not upgraded")
	}
	defer func() { _ = conn.Close() }()
	streams, late := map[string]httpstream.Stream{}, time.After(evaluation)
	for len(streams) < cap(arriving) { // error, stdout and stderr
		select {
		case s := <-arriving:
			<-s.replied
			streams[s.Headers().Get(corev1.StreamType)] = s
		case <-late:
			return fmt.Errorf("want 3 streams, got %d", len(streams))
		}
	}
	success, err := json.Marshal(metav1.Status{Status: metav1.StatusSuccess})
	if err != nil {
		return err
	}
	for _, out := range []struct{ stream, text string }{
		{corev1.StreamTypeStdout, text}, {corev1.StreamTypeStderr, ""}, {corev1.StreamTypeError, string(success)},
	} {
		s := streams[out.stream]
		if s == nil {
			return fmt.Errorf("unknown stream %s", out.stream)
		}
		if _, err := s.Write([]byte(out.text)); err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	select { // the client closes the connection when it has read everything
	case <-conn.CloseChan():
	case <-late:
	}
	return nil
}
