package certificate

import (
	"bytes"
	"crypto/x509"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The keys of the Secret. The next certificate is trusted and not served yet.
const (
	keyTrusted  = "ca.crt"
	keyNext     = "next.crt"
	keyNextKey  = "next.key"
	keyServed   = corev1.TLSCertKey
	keyServedAt = corev1.TLSPrivateKeyKey
)

// policy is how long things last.
type policy struct {
	// lifetime is that of a certificate.
	lifetime time.Duration
	// renewal is how old a certificate is when the next one is made.
	renewal time.Duration
	// settling is how long the next certificate has been trusted before it is served: API servers learn of a changed configuration by
	// a watch.
	settling time.Duration
}

// standard renews a certificate of 90 days after 60, which leaves a month to mend what keeps it from being trusted.
func standard() policy {
	return policy{lifetime: 90 * 24 * time.Hour, renewal: 60 * 24 * time.Hour, settling: time.Minute}
}

// state is what the Secret has.
type state struct {
	served, next *pair
	trusted      []*x509.Certificate
}

// parseState reads the data of the Secret; what cannot be read counts as absent.
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

// data is the state as the data of the Secret.
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

// advance is the state that should be stored now, for a server with the hosts. Everywhere reports that each client of the server trusts
// all that s has as trusted.
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

// trust is what is trusted: what is served, what is next, and what other replicas may still serve, until it expires.
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

// due is when the state has to be looked at again.
func (p policy) due(s state) time.Time {
	if s.next != nil {
		return s.next.made().Add(p.settling)
	}
	return s.served.made().Add(p.renewal)
}
