package catalogapi

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// Listener serves a handler as a runnable of a manager, on each replica, after the caches are synchronized.
type Listener struct {
	// Address is the address to listen on, such as :8443.
	Address string
	// Certificates is the folder with tls.crt and tls.key. Listener reads them again when they change. If it is empty, Listener serves
	// plain HTTP.
	Certificates string
	// Handler answers requests.
	Handler http.Handler
}

// Limits of a connection.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 15 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = time.Minute
	stopTimeout   = 15 * time.Second
	headerBytes   = 1 << 20
)

// NeedLeaderElection implements manager.LeaderElectionRunnable. Every replica serves.
func (Listener) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable. When the context ends it waits up to 15 seconds for requests to end.
func (l Listener) Start(ctx context.Context) error {
	server := &http.Server{
		Handler: l.Handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: headerBytes,
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", l.Address)
	if err != nil {
		return err
	}
	if l.Certificates != "" {
		watcher, err := certwatcher.New(filepath.Join(l.Certificates, "tls.crt"), filepath.Join(l.Certificates, "tls.key"))
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		watching, stop := context.WithCancel(ctx)
		defer stop()
		go func() { _ = watcher.Start(watching) }()
		listener = tls.NewListener(listener, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: watcher.GetCertificate})
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return server.Shutdown(stopping)
}

// OfGateway reports whether a URL belongs to a Gateway: https, and a hostname of one of its listeners or one of its addresses. The
// owner of a model may write any URL as its endpoint.
func OfGateway(reader client.Reader, name types.NamespacedName) func(context.Context, *url.URL) bool {
	return func(ctx context.Context, u *url.URL) bool {
		var gateway gatewayv1.Gateway
		if u.Scheme != "https" || reader.Get(ctx, name, &gateway) != nil {
			return false
		}
		host := strings.ToLower(u.Hostname())
		for _, listener := range gateway.Spec.Listeners {
			if listener.Hostname == nil {
				continue
			}
			pattern := strings.ToLower(string(*listener.Hostname))
			suffix, wild := strings.CutPrefix(pattern, "*")
			if host == pattern || wild && len(host) > len(suffix) && strings.HasSuffix(host, suffix) {
				return true
			}
		}
		for _, address := range gateway.Status.Addresses {
			if host == strings.ToLower(address.Value) {
				return true
			}
		}
		return false
	}
}
