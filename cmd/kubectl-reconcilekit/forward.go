package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
)

// forwarding opens ports of Pods, with the credentials of the user. Unlike a request through the proxy of the API server it keeps the header
// Authorization, reaches a chosen Pod, and passes network policies.
type forwarding struct{ config *rest.Config }

// open forwards a free local port to the port of the Pod until end is called.
func (f *forwarding) open(ctx context.Context, pod *corev1.Pod, port int32) (address string, end func(), err error) {
	clients, err := kubernetes.NewForConfig(f.config)
	if err != nil {
		return "", nil, err
	}
	target := clients.CoreV1().RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(f.config)
	if err != nil {
		return "", nil, err
	}
	stop, opened, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	forwarder, err := portforward.NewOnAddresses(
		spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, target),
		[]string{"127.0.0.1"}, []string{":" + strconv.Itoa(int(port))}, stop, opened, io.Discard, io.Discard)
	if err != nil {
		return "", nil, err
	}
	go func() { done <- forwarder.ForwardPorts() }()
	end = func() { close(stop) }
	select {
	case <-opened:
	case err := <-done:
		return "", nil, fmt.Errorf("forward port %d: %w", port, err)
	case <-ctx.Done():
		end()
		return "", nil, fmt.Errorf("forward port %d: %w", port, ctx.Err())
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		end()
		return "", nil, err
	}
	return "127.0.0.1:" + strconv.Itoa(int(ports[0].Local)), end, nil
}
