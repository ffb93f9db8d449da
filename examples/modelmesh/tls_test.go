package main

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/reconcilekit/reconcilekit/examples/internal/process"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
)

// reachSecured checks that a ModelMesh that requires a client certificate is reached once the Secret is valid.
func (p *player) reachSecured() {
	folder := p.TempDir()
	process.Certify(p.T, folder, "modelmesh-serving.secured-models")
	var files [2]string
	for i, name := range []string{"tls.crt", "tls.key"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		p.must(err)
		files[i] = string(text)
	}
	pair, err := tls.X509KeyPair([]byte(files[0]), []byte(files[1]))
	p.must(err)
	callers := x509.NewCertPool()
	callers.AppendCertsFromPEM([]byte(files[0]))
	p.mesh = newDouble(p.T, grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: callers, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
	})))
	p.mesh.Script(inState(mmesh.Loaded))
	p.namespace = "secured"
	p.create(namespaceOf("secured", nil))
	p.create(namespaceOf("secured-models", map[string]any{"modelmesh-enabled": "true"}))
	p.configure("scaleToZero: {enabled: false}\ntls: {secretName: mesh-tls}")
	p.create(objectOf("serving.kserve.io/v1alpha1", "Predictor", "secured-models", "secured", map[string]any{
		"spec": map[string]any{"modelType": map[string]any{"name": "onnx"}},
	}))
	p.create(objectOf("v1", "Secret", "secured", "mesh-tls", map[string]any{"stringData": map[string]any{"tls.crt": files[0]}}))
	p.follow(p.operator(p.T, map[string]string{"NAMESPACE": "secured"}))
	p.expect(expectation{Error: "TLS secret 'mesh-tls' missing tls.crt and/or tls.key"})

	secret := p.object("v1|Secret|secured|mesh-tls")
	p.must(p.Delete(p.Context(), secret))
	p.create(objectOf("v1", "Secret", "secured", "mesh-tls", map[string]any{
		"stringData": map[string]any{"tls.crt": files[0], "tls.key": files[1]},
	}))
	p.expect(expectation{Exist: []map[string]any{objectOf("serving.kserve.io/v1alpha1", "Predictor", "secured-models", "secured", map[string]any{
		"status": map[string]any{"activeModelState": "Loaded"},
	})}})
}
