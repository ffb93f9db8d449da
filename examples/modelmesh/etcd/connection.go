package etcd

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
)

// Key is the key of the Secret with the connection.
const Key = "etcd_connection"

// Connection contains the addresses and credentials of etcd. The fields have the order of the product. A field whose name ends in
// _file names another key of the Secret, and takes precedence over the field without the suffix.
type Connection struct {
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

// Parse reads the connection of a Secret.
func Parse(secret *corev1.Secret) (c Connection, err error) {
	if json.Unmarshal(secret.Data[Key], &c) != nil { // the error of the decoder may quote the content
		return c, fmt.Errorf(
			"failed to parse etcd config json: Secret %s/%s, key %s: want a JSON object of texts", secret.Namespace, secret.Name, Key,
		)
	}
	return c, nil
}

// Target is an etcd server that ModelMesh uses.
type Target struct {
	root   string
	client clientv3.Config
	// fingerprint identifies the connection.
	fingerprint string
}

// NewTarget checks the connection of a Secret.
func NewTarget(secret *corev1.Secret) (t Target, err error) {
	c, err := Parse(secret)
	if err != nil {
		return t, err
	}
	for _, field := range []struct{ value, file *string }{
		{&c.Certificate, &c.CertificateFile}, {&c.ClientKey, &c.ClientKeyFile}, {&c.ClientCertificate, &c.ClientCertificateFile},
	} {
		if *field.file == "" {
			continue
		}
		content, found := secret.Data[*field.file]
		if !found {
			return t, fmt.Errorf("Secret %s/%s: key %s, which %s names, is missing", //nolint:staticcheck // a kind
				secret.Namespace, secret.Name, *field.file, Key)
		}
		*field.value = string(content)
	}
	text, err := json.Marshal(c) //nolint:gosec // to be hashed
	if err != nil {
		return t, fmt.Errorf("encode the connection to etcd: %w", err)
	}
	sum := sha256.Sum256(text)
	t.root, t.fingerprint = c.RootPrefix, hex.EncodeToString(sum[:])
	if t.client, err = c.config(); err != nil {
		return t, fmt.Errorf("Secret %s/%s, key %s: %w", secret.Namespace, secret.Name, Key, err) //nolint:staticcheck // a kind
	}
	return t, nil
}

const (
	dialTimeout      = 10 * time.Second
	keepAlive        = 30 * time.Second
	keepAliveTimeout = 10 * time.Second
)

func (c Connection) config() (clientv3.Config, error) {
	config := clientv3.Config{
		Username: c.UserID, Password: c.Password, DialTimeout: dialTimeout, DialKeepAliveTime: keepAlive, DialKeepAliveTimeout: keepAliveTimeout,
		Logger: zap.NewNop(), // the error is returned
	}
	for endpoint := range strings.SplitSeq(c.Endpoints, ",") {
		if endpoint = strings.TrimSpace(endpoint); endpoint != "" {
			config.Endpoints = append(config.Endpoints, endpoint)
		}
	}
	if len(config.Endpoints) == 0 {
		return config, errors.New("endpoints is empty: want URLs such as http://etcd:2379, with commas between them")
	}
	if c.OverrideAuthority != "" {
		config.DialOptions = append(config.DialOptions, grpc.WithAuthority(c.OverrideAuthority))
	}
	if !strings.HasPrefix(config.Endpoints[0], "https://") && c.Certificate+c.ClientCertificate+c.ClientKey == "" {
		return config, nil
	}
	config.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.OverrideAuthority}
	if c.Certificate != "" {
		config.TLS.RootCAs = x509.NewCertPool()
		if !config.TLS.RootCAs.AppendCertsFromPEM([]byte(c.Certificate)) {
			return config, errors.New("certificate: want certificates in PEM")
		}
	}
	if (c.ClientKey == "") != (c.ClientCertificate == "") {
		return config, errors.New("client_key and client_certificate: want both or none")
	}
	if c.ClientKey != "" {
		pair, err := tls.X509KeyPair([]byte(c.ClientCertificate), []byte(c.ClientKey))
		if err != nil {
			return config, fmt.Errorf("client_key and client_certificate: %w", err)
		}
		config.TLS.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
