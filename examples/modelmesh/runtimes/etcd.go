package runtimes

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/etcd"
)

// derivedSecret returns the Secret that the pods of a namespace use to connect to etcd, with the prefix of the namespace.
func derivedSecret(source *corev1.Secret, namespace string) (*corev1.Secret, error) {
	c, err := etcd.Parse(source)
	if err != nil {
		return nil, err
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
		Type: corev1.SecretTypeOpaque, Data: map[string][]byte{etcd.Key: content},
	}, nil
}
