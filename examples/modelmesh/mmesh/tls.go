package mmesh

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// identity is the certificate that the operator presents to ModelMesh over TLS. The reconciler that reads its Secret sets it; calls
// use it.
type identity struct {
	mu          sync.Mutex
	name        string // of the Secret
	config      *tls.Config
	fingerprint string
	err         error // why there is no configuration
}

// Secure sets the certificate for calls that name the Secret. The authorities of the system and the certificate itself are trusted.
// If the Secret is invalid, Secure returns an error, and the calls fail with it until the Secret is fixed. A nil secret is missing.
func (c *Connections) Secure(name string, secret *corev1.Secret) error {
	config, fingerprint, err := tlsConfig(name, secret)
	c.identity.mu.Lock()
	defer c.identity.mu.Unlock()
	c.identity.name, c.identity.config, c.identity.fingerprint, c.identity.err = name, config, fingerprint, err
	return err
}

func tlsConfig(name string, secret *corev1.Secret) (config *tls.Config, fingerprint string, err error) {
	if secret == nil {
		return nil, "", fmt.Errorf("unable to access TLS secret '%s': it does not exist", name)
	}
	certificate, key := secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]
	if len(certificate) == 0 || len(key) == 0 {
		return nil, "", fmt.Errorf("TLS secret '%s' missing tls.crt and/or tls.key", name)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, "", fmt.Errorf("could not load client key pair: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	roots.AppendCertsFromPEM(certificate)
	sum := sha256.New()
	_, _ = sum.Write(certificate)
	_, _ = sum.Write(key)
	config = &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS12}
	return config, hex.EncodeToString(sum.Sum(nil)), nil
}

var errNotRead = errors.New("not read yet")

// of returns the configuration for the Secret of the name.
func (i *identity) of(name string) (*tls.Config, string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.name != name {
		return nil, "", fmt.Errorf("unable to access TLS secret '%s': %w", name, errNotRead)
	}
	return i.config, i.fingerprint, i.err
}
