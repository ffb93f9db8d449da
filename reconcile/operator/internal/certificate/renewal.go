package certificate

import (
	"bytes"
	"crypto/x509"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The keys of the Secret. The next certificate is trusted but not served.
const (
	keyTrusted  = "ca.crt"
	keyNext     = "next.crt"
	keyNextKey  = "next.key"
	keyServed   = corev1.TLSCertKey
	keyServedAt = corev1.TLSPrivateKeyKey
)

// policy has the durations of the renewal.
type policy struct {
	// lifetime is the validity of a certificate.
	lifetime time.Duration
	// renewal is the age of a certificate at which the next one is created.
	renewal time.Duration
	// settling is how long the next certificate is trusted before it is served: API servers receive a changed configuration
	// through a watch.
	settling time.Duration
}

// standard returns a policy that renews certificates of 90 days after 60, which leaves 30 days to fix errors.
func standard() policy {
	return policy{lifetime: 90 * 24 * time.Hour, renewal: 60 * 24 * time.Hour, settling: time.Minute}
}

// state is the content of the Secret.
type state struct {
	served, next *pair
	trusted      []*x509.Certificate
}

// parseState parses the data of the Secret. Invalid entries count as missing.
func parseState(data map[string][]byte) state {
	s := state{trusted: parseBundle(data[keyTrusted])}
	if p, err := parsePair(data[keyServed], data[keyServedAt]); err == nil {
		s.served = p
	}
	if p, err := parsePair(data[keyNext], data[keyNextKey]); err == nil {
		s.next = p
	}
	return s
}

// data returns the state as data of the Secret.
func (s state) data() map[string][]byte {
	out := map[string][]byte{keyTrusted: encodeBundle(s.trusted)}
	if s.served != nil {
		out[keyServed], out[keyServedAt] = s.served.certificate, s.served.key
	}
	if s.next != nil {
		out[keyNext], out[keyNextKey] = s.next.certificate, s.next.key
	}
	return out
}

// advance returns the next state for a server with the hosts. Everywhere reports whether all clients of the server trust
// the trusted certificates of s.
func (p policy) advance(s state, hosts []string, now time.Time, everywhere bool) (state, error) {
	var err error
	if !s.next.usable(hosts, now) {
		s.next = nil
	}
	if s.next != nil && (!s.served.usable(hosts, now) || everywhere && !now.Before(s.next.made().Add(p.settling))) {
		s.served, s.next = s.next, nil
	}
	if !s.served.usable(hosts, now) {
		if s.served, err = newPair(hosts, now, p.lifetime); err != nil {
			return s, err
		}
	}
	if s.next == nil && !now.Before(s.served.made().Add(p.renewal)) {
		if s.next, err = newPair(hosts, now, p.lifetime); err != nil {
			return s, err
		}
	}
	s.trusted = s.trust(now)
	return s, nil
}

// trust returns the trusted certificates: the served one, the next one, and former ones that other replicas may still
// serve, until they expire.
func (s state) trust(now time.Time) []*x509.Certificate {
	wanted := []*x509.Certificate{s.served.parsed}
	if s.next != nil {
		wanted = append(wanted, s.next.parsed)
	}
	for _, former := range s.trusted {
		if now.Before(former.NotAfter) && !slices.ContainsFunc(wanted, former.Equal) {
			wanted = append(wanted, former)
		}
	}
	slices.SortFunc(wanted, func(a, b *x509.Certificate) int { return bytes.Compare(a.Raw, b.Raw) })
	return wanted
}

// due returns the time of the next update.
func (p policy) due(s state) time.Time {
	if s.next != nil {
		return s.next.made().Add(p.settling)
	}
	return s.served.made().Add(p.renewal)
}
