package runtimes

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// etcdKey is the key of the Secret with the connection.
const etcdKey = "etcd_connection"

// connection is how etcd is reached, in the product's order.
type connection struct {
	Endpoints             string `json:"endpoints"`
	UserID                string `json:"userid,omitempty"`
	Password              string `json:"password,omitempty"`
	RootPrefix            string `json:"root_prefix,omitempty"`
	Certificate           string `json:"certificate,omitempty"`
	CertificateFile       string `json:"certificate_file,omitempty"`
	ClientKey             string `json:"client_key,omitempty"`
	ClientKeyFile         string `json:"client_key_file,omitempty"`
	ClientCertificate     string `json:"client_certificate,omitempty"`
	ClientCertificateFile string `json:"client_certificate_file,omitempty"`
	OverrideAuthority     string `json:"override_authority,omitempty"`
}

// derivedSecret is the Secret by which the pods of a namespace reach etcd, under a prefix of their own.
func derivedSecret(source *corev1.Secret, namespace string) (*corev1.Secret, error) {
	var c connection
	if err := json.Unmarshal(source.Data[etcdKey], &c); err != nil {
		// the text of the error may quote the content
		return nil, fmt.Errorf("failed to parse etcd config json: Secret %s/%s, key %s: want a JSON object of texts", source.Namespace, source.Name, etcdKey)
	}
	c.RootPrefix += "/mm_ns/" + namespace
	content, err := json.Marshal(c) //nolint:gosec // into a Secret
	if err != nil {
		return nil, fmt.Errorf("encode the connection to etcd: %w", err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: source.Name, Labels: map[string]string{"app.kubernetes.io/managed-by": "modelmesh-controller"},
		},
		Type: corev1.SecretTypeOpaque, Data: map[string][]byte{etcdKey: content},
	}, nil
}
