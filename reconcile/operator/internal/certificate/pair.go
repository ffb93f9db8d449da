package certificate

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// skew is the tolerated difference of clocks: a certificate is valid from that long before its creation.
const skew = time.Hour

// serialBits is the length of a serial number, see RFC 5280, section 4.1.2.2.
const serialBits = 127

// pair is a certificate with its key, as PEM and parsed.
type pair struct {
	certificate, key []byte
	parsed           *x509.Certificate
	serving          *tls.Certificate
}

// made returns the time of the creation, in seconds.
func (p *pair) made() time.Time { return p.parsed.NotBefore.Add(skew) }

// usable reports whether a client of any of the hosts accepts the certificate at the time.
func (p *pair) usable(hosts []string, now time.Time) bool {
	if p == nil || now.Before(p.parsed.NotBefore) || !now.Before(p.parsed.NotAfter) {
		return false
	}
	for _, host := range hosts {
		if p.parsed.VerifyHostname(host) != nil {
			return false
		}
	}
	return true
}

// newPair creates a self-signed certificate for the hosts.
func newPair(hosts []string, now time.Time, lifetime time.Duration) (*pair, error) {
	if len(hosts) == 0 {
		return nil, errors.New("make a certificate: want the name of a host")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	if err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: hosts[0]},
		DNSNames:     hosts,
		NotBefore:    now.Add(-skew),
		NotAfter:     now.Add(lifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if len(hosts[0]) > 64 { //nolint:mnd // the upper bound of a common name, RFC 5280, appendix A
		template.Subject.CommonName = ""
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode the key: %w", err)
	}
	return parsePair(encode("CERTIFICATE", signed), encode("PRIVATE KEY", private))
}

// parsePair parses a certificate and its key.
func parsePair(certificate, key []byte) (*pair, error) {
	serving, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	return &pair{certificate: certificate, key: key, parsed: serving.Leaf, serving: &serving}, nil
}

func encode(kind string, content []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
}

// parseBundle parses the certificates of a bundle. It ignores blocks that are not certificates.
func parseBundle(bundle []byte) (found []*x509.Certificate) {
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if parsed, err := x509.ParseCertificate(block.Bytes); err == nil {
			found = append(found, parsed)
		}
	}
	return found
}

func encodeBundle(certificates []*x509.Certificate) []byte {
	var w bytes.Buffer
	for _, c := range certificates {
		w.Write(encode("CERTIFICATE", c.Raw))
	}
	return w.Bytes()
}
