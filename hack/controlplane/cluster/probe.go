package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// nodeName is the only node of a cluster, simulated by kwok.
const nodeName = "node-0"

// probe checks the health of the components as the administrator.
type probe struct {
	client    *http.Client
	lax       *http.Client // for self-signed health endpoints on loopback
	apiServer string
	scheduler string
}

func newProbe(dir string, p ports) (*probe, error) {
	certificate, err := tls.LoadX509KeyPair(filepath.Join(dir, "admin.crt"), filepath.Join(dir, "admin.key"))
	if err != nil {
		return nil, fmt.Errorf("load the administrator's certificate: %w", err)
	}

	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("load the authority: %w", err)
	}

	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)

	strict := &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	lax := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}

	return &probe{
		client:    &http.Client{Transport: &http.Transport{TLSClientConfig: strict}, Timeout: 10 * time.Second},
		lax:       &http.Client{Transport: &http.Transport{TLSClientConfig: lax}, Timeout: 10 * time.Second},
		apiServer: "https://127.0.0.1:" + strconv.Itoa(p.APIServer),
		scheduler: "https://127.0.0.1:" + strconv.Itoa(p.Scheduler),
	}, nil
}

func (p *probe) apiServerReady(ctx context.Context) error {
	_, err := send(ctx, p.client, http.MethodGet, p.apiServer+"/readyz", nil)

	return err
}

func (p *probe) schedulerReady(ctx context.Context) error {
	_, err := send(ctx, p.lax, http.MethodGet, p.scheduler+"/healthz", nil)

	return err
}

// serviceAccountReady checks for the account that the controller manager creates in every namespace; without it the API server rejects
// pods.
func (p *probe) serviceAccountReady(ctx context.Context) error {
	_, err := send(ctx, p.client, http.MethodGet, p.apiServer+"/api/v1/namespaces/default/serviceaccounts/default", nil)

	return err
}

// createNode creates the node that kwok simulates.
func (p *probe) createNode(ctx context.Context) error {
	node := map[string]any{
		"apiVersion": "v1",
		"kind":       "Node",
		"metadata": map[string]any{
			"name": nodeName,
			"labels": map[string]any{
				"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
				"kubernetes.io/hostname": nodeName, "type": "kwok",
			},
			"annotations": map[string]any{"kwok.x-k8s.io/node": "fake", "node.alpha.kubernetes.io/ttl": "0"},
		},
		"status": map[string]any{
			"allocatable": map[string]any{"cpu": "64", "memory": "256Gi", "pods": "500", "ephemeral-storage": "1Ti"},
			"capacity":    map[string]any{"cpu": "64", "memory": "256Gi", "pods": "500", "ephemeral-storage": "1Ti"},
		},
	}

	body, err := json.Marshal(node)
	if err != nil {
		return fmt.Errorf("encode the node: %w", err)
	}

	_, err = send(ctx, p.client, http.MethodPost, p.apiServer+"/api/v1/nodes", body)

	return err
}

func (p *probe) nodeReady(ctx context.Context) error {
	data, err := send(ctx, p.client, http.MethodGet, p.apiServer+"/api/v1/nodes/"+nodeName, nil)
	if err != nil {
		return err
	}

	var node struct {
		Spec   struct{ Taints []struct{ Key string } }
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	if err := json.Unmarshal(data, &node); err != nil {
		return fmt.Errorf("decode the node: %w", err)
	}

	if len(node.Spec.Taints) > 0 {
		return fmt.Errorf("node %s has the taint %s", nodeName, node.Spec.Taints[0].Key)
	}

	for _, condition := range node.Status.Conditions {
		if condition.Type == "Ready" && condition.Status == "True" {
			return nil
		}
	}

	return errors.New("node " + nodeName + " is not ready")
}

// send sends one request; a response other than a success is an error with its body.
func send(ctx context.Context, client *http.Client, method, url string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}

	request.Header.Set("Content-Type", "application/json")

	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()

	data, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("read the response of %s: %w", url, err)
	}

	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s %s: %s: %.200s", method, url, response.Status, data)
	}

	return data, nil
}
