package proxy_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/proxy"
)

// TestContainer compares the arguments, ports, probes and resources of each service's proxy with those of the product.
func TestContainer(t *testing.T) {
	t.Parallel()
	mounts := []corev1.VolumeMount{proxy.Mount("certificates", "/etc/tls/private")}
	for name, test := range map[string]struct {
		sidecar proxy.Sidecar
		want    string
	}{
		"without an authority": {
			sidecar: proxy.Sidecar{
				Name: "kube-rbac-proxy", Image: "proxy:1", Port: 8443, HealthPort: 9443, Upstream: "http://127.0.0.1:8081", Mounts: mounts,
			},
			want: `
name: kube-rbac-proxy
image: proxy:1
args:
- --secure-listen-address=0.0.0.0:8443
- --upstream=http://127.0.0.1:8081/
- --config-file=/etc/kube-rbac-proxy/config.yaml
- --tls-cert-file=/etc/tls/private/tls.crt
- --tls-private-key-file=/etc/tls/private/tls.key
- --proxy-endpoints-port=9443
- --v=0
ports:
- {name: https, containerPort: 8443, protocol: TCP}
- {name: proxy-healthz, containerPort: 9443, protocol: TCP}
readinessProbe:
  httpGet: {path: /healthz, port: 9443, scheme: HTTPS}
  initialDelaySeconds: 5
  periodSeconds: 5
  timeoutSeconds: 1
  successThreshold: 1
  failureThreshold: 3
livenessProbe:
  httpGet: {path: /healthz, port: 9443, scheme: HTTPS}
  initialDelaySeconds: 30
  periodSeconds: 10
  timeoutSeconds: 1
  successThreshold: 1
  failureThreshold: 3
resources:
  limits: {cpu: 100m, memory: 64Mi}
  requests: {cpu: 50m, memory: 32Mi}
volumeMounts:
- {name: certificates, mountPath: /etc/tls/private, readOnly: true}
`,
		},
		"with an authority, a file and arguments of its own": {
			sidecar: proxy.Sidecar{
				Name: "p", Image: "proxy:1", Port: 8490, HealthPort: 9444, Upstream: "http://localhost:8090", UpstreamCA: "/ca.crt",
				File: "auth.yaml", Args: []string{"--more"},
			},
			want: `
name: p
image: proxy:1
args:
- --secure-listen-address=0.0.0.0:8490
- --upstream=http://localhost:8090/
- --config-file=/etc/kube-rbac-proxy/auth.yaml
- --tls-cert-file=/etc/tls/private/tls.crt
- --tls-private-key-file=/etc/tls/private/tls.key
- --upstream-ca-file=/ca.crt
- --proxy-endpoints-port=9444
- --v=0
- --more
ports:
- {name: https, containerPort: 8490, protocol: TCP}
- {name: proxy-healthz, containerPort: 9444, protocol: TCP}
readinessProbe:
  httpGet: {path: /healthz, port: 9444, scheme: HTTPS}
  initialDelaySeconds: 5
  periodSeconds: 5
  timeoutSeconds: 1
  successThreshold: 1
  failureThreshold: 3
livenessProbe:
  httpGet: {path: /healthz, port: 9444, scheme: HTTPS}
  initialDelaySeconds: 30
  periodSeconds: 10
  timeoutSeconds: 1
  successThreshold: 1
  failureThreshold: 3
resources:
  limits: {cpu: 100m, memory: 64Mi}
  requests: {cpu: 50m, memory: 32Mi}
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := expect.Diff(t, test.want, test.sidecar.Container()); diff != "" {
				t.Errorf("container (-want +got):\n%s", diff)
			}
		})
	}
}

// TestConfig compares the keys and values in the file of the proxy with those of the product. The address and the
// authority in it may differ from the arguments.
func TestConfig(t *testing.T) {
	t.Parallel()
	type file struct {
		Authorization struct {
			ResourceAttributes struct {
				Namespace, APIGroup, Resource, ResourceName, Verb string
			} `json:"resourceAttributes"`
		} `json:"authorization"`
		UpstreamConfig struct {
			URL            string `json:"url"`
			ProxyTimeout   string `json:"proxyTimeout"`
			UpstreamCAFile string `json:"upstreamCAFile"`
		} `json:"upstreamConfig"`
		TLSConfig struct {
			MinVersion   string   `json:"minVersion"`
			CipherSuites []string `json:"cipherSuites"`
		} `json:"tlsConfig"`
	}
	const suites = `tlsConfig:
  minVersion: VersionTLS12
  cipherSuites:
  - TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
  - TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384
  - TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
  - TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
  - TLS_RSA_WITH_AES_128_GCM_SHA256
  - TLS_RSA_WITH_AES_256_GCM_SHA384
`
	const subject = "authorization: {resourceAttributes: {namespace: ns, apiGroup: '', resource: services, resourceName: svc, verb: get}}\n"
	for want, sidecar := range map[string]proxy.Sidecar{
		subject + "upstreamConfig: {url: 'http://127.0.0.1:8081', proxyTimeout: 30s}\n" + suites: {
			Namespace: "ns", Service: "svc", Upstream: "http://127.0.0.1:8081",
		},
		subject + "upstreamConfig: {url: 'https://127.0.0.1:8032', proxyTimeout: 30s, upstreamCAFile: /ca.crt}\n" + suites: {
			Namespace: "ns", Service: "svc", Upstream: "https://svc.ns.svc:8032", FileUpstream: "https://127.0.0.1:8032",
			FileUpstreamCA: "/ca.crt",
		},
	} {
		var got file
		if err := yaml.UnmarshalStrict([]byte(sidecar.Config()), &got); err != nil {
			t.Fatal(err)
		}
		if diff := expect.Diff(t, want, got); diff != "" {
			t.Errorf("configuration (-want +got):\n%s", diff)
		}
	}
}
