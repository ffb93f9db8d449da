package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"
)

// hooks describes the operator's webhook server, nil if it has none.
type hooks struct {
	address        string // host and port
	folder         string // with tls.crt and tls.key
	authority      []byte // PEM, the CA that the API server trusts
	configurations []manifest
	converted      []manifest // CRDs with several versions
}

// newHooks creates a temporary certificate.
func newHooks(p product, logs string) (*hooks, error) {
	converted := severalVersions(p.crds)
	if len(p.hooks)+len(converted) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to serve
	}

	addresses, err := freeAddresses()
	if err != nil {
		return nil, err
	}

	host, _, err := net.SplitHostPort(addresses[0])
	if err != nil {
		return nil, err
	}

	certificate, key, err := cert.GenerateSelfSignedCertKey(host, []net.IP{net.ParseIP(host)}, nil)
	if err != nil {
		return nil, fmt.Errorf("create a certificate for the webhooks: %w", err)
	}

	h := &hooks{
		address: addresses[0], folder: filepath.Join(logs, "webhooks"), authority: certificate, configurations: p.hooks, converted: converted,
	}
	if err := os.MkdirAll(h.folder, 0o700); err != nil {
		return nil, err
	}

	for name, data := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(h.folder, name), data, 0o600); err != nil {
			return nil, err
		}
	}

	return h, nil
}

// args returns the operator's arguments.
func (h *hooks) args() []string {
	if h == nil {
		return nil
	}

	_, port, _ := strings.Cut(h.address, ":")

	return []string{"--webhook-port=" + port, "--webhook-cert-dir=" + h.folder}
}

// install configures the webhooks in the API server, once the operator serves them.
func (h *hooks) install(ctx context.Context, c *cluster) error {
	if h == nil {
		return nil
	}

	if err := h.await(ctx); err != nil {
		return err
	}

	for _, m := range h.converted {
		crd := m.object.DeepCopy()
		if err := h.convert(crd); err != nil {
			return fmt.Errorf("%s: %w", m.file, err)
		}

		if err := c.apply(ctx, crd); err != nil {
			return err
		}
	}

	for _, m := range h.configurations {
		configuration := m.object.DeepCopy()
		if err := h.redirect(configuration); err != nil {
			return fmt.Errorf("%s: %w", m.file, err)
		}

		if err := c.apply(ctx, configuration); err != nil {
			return err
		}
	}

	return nil
}

// convert configures the conversion webhook of a CRD.
func (h *hooks) convert(crd *unstructured.Unstructured) error {
	return unstructured.SetNestedMap(crd.Object, map[string]any{
		"strategy": "Webhook",
		"webhook": map[string]any{
			"conversionReviewVersions": []any{"v1"},
			"clientConfig": map[string]any{
				"url": "https://" + h.address + "/convert", "caBundle": base64.StdEncoding.EncodeToString(h.authority),
			},
		},
	}, "spec", "conversion")
}

// severalVersions returns the CRDs whose objects need conversion.
func severalVersions(crds []manifest) []manifest {
	return slices.DeleteFunc(slices.Clone(crds), func(m manifest) bool {
		versions, _, err := unstructured.NestedSlice(m.object.Object, "spec", "versions")
		return err != nil || len(versions) < 2
	})
}

// await waits until the webhook server listens.
func (h *hooks) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	for {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", h.address)
		if err == nil {
			return connection.Close()
		}

		select {
		case <-ctx.Done():
			return fmt.Errorf("the operator's webhooks do not respond: %w", err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// redirect replaces the Service of each webhook, which a local process does not have, by its address.
func (h *hooks) redirect(configuration *unstructured.Unstructured) error {
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return err
	}

	for i := range webhooks {
		webhook, ok := webhooks[i].(map[string]any)
		if !ok {
			return fmt.Errorf("webhooks[%d] is not an object", i)
		}

		path, found, err := unstructured.NestedString(webhook, "clientConfig", "service", "path")
		if err != nil || !found {
			return fmt.Errorf("webhooks[%d].clientConfig.service.path is missing", i)
		}

		webhook["clientConfig"] = map[string]any{
			"url": "https://" + h.address + path, "caBundle": base64.StdEncoding.EncodeToString(h.authority),
		}
	}

	return unstructured.SetNestedSlice(configuration.Object, webhooks, "webhooks")
}
