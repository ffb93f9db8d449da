package certificate

import (
	"crypto/x509"
	"maps"
	"slices"
	"testing"
	"time"
)

var (
	hosts = []string{"webhooks.shop.svc"}
	start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	short = policy{lifetime: 90 * time.Hour, renewal: 60 * time.Hour, settling: time.Minute}
)

func pairAt(t *testing.T, hosts []string, age time.Duration) *pair {
	t.Helper()
	p, err := newPair(hosts, start.Add(-age), short.lifetime)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestAdvance checks which pair is served, which is next and how many are trusted. A number is the index in the list of pairs that
// the case has; -1 is a new pair.
func TestAdvance(t *testing.T) {
	t.Parallel()
	const fresh, none = -1, -2
	for name, c := range map[string]struct {
		ages         []time.Duration // of the pairs
		served, next int
		others       bool // of other hosts
		everywhere   bool
		wantServed   int
		wantNext     int
		wantTrusted  int
	}{
		"nothing":                     {nil, none, none, false, false, fresh, none, 1},
		"in force":                    {[]time.Duration{59 * time.Hour}, 0, none, false, true, 0, none, 1},
		"to be renewed":               {[]time.Duration{60 * time.Hour}, 0, none, false, false, 0, fresh, 2},
		"next not trusted everywhere": {[]time.Duration{61 * time.Hour, time.Hour}, 0, 1, false, false, 0, 1, 2},
		"next not settled":            {[]time.Duration{61 * time.Hour, time.Second}, 0, 1, false, true, 0, 1, 2},
		"next settled":                {[]time.Duration{61 * time.Hour, time.Minute}, 0, 1, false, true, 1, none, 2},
		"expired, with a next one":    {[]time.Duration{91 * time.Hour, time.Second}, 0, 1, false, false, 1, none, 1},
		"both expired":                {[]time.Duration{92 * time.Hour, 91 * time.Hour}, 0, 1, false, false, fresh, none, 1},
		"other hosts":                 {[]time.Duration{time.Hour}, 0, none, true, true, fresh, none, 2},
		"from the future":             {[]time.Duration{-2 * time.Hour}, 0, none, false, true, fresh, none, 2},
		"clock a little behind":       {[]time.Duration{-30 * time.Minute}, 0, none, false, true, 0, none, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, pairs, before := hosts, map[int]*pair{}, state{}
			if c.others {
				asked = []string{"other.shop.svc"}
			}
			for i, age := range c.ages {
				pairs[i] = pairAt(t, hosts, age)
				before.trusted = append(before.trusted, pairs[i].parsed)
			}
			before.served, before.next = pairs[c.served], pairs[c.next]
			after, err := short.advance(parseState(before.data()), asked, start, c.everywhere)
			if err != nil {
				t.Fatal(err)
			}
			for what, p := range map[string]struct {
				got  *pair
				want int
			}{"served": {after.served, c.wantServed}, "next": {after.next, c.wantNext}} {
				place := none
				if p.got != nil {
					place = fresh
				}
				for i, known := range pairs {
					if p.got != nil && p.got.parsed.Equal(known.parsed) {
						place = i
					}
				}
				if place != p.want {
					t.Errorf("%s is %d, want %d", what, place, p.want)
				}
				if p.got != nil && (!p.got.usable(asked, start) || !slices.ContainsFunc(after.trusted, p.got.parsed.Equal)) {
					t.Errorf("%s is not usable, or not trusted", what)
				}
			}
			if len(after.trusted) != c.wantTrusted {
				t.Errorf("%d are trusted, want %d", len(after.trusted), c.wantTrusted)
			}
			again, err := short.advance(parseState(after.data()), asked, start, c.everywhere)
			if err != nil || !maps.EqualFunc(again.data(), after.data(), slices.Equal[[]byte]) {
				t.Errorf("a second look changes something: %v", err)
			}
		})
	}
}

// TestGarbage checks that invalid content of the Secret is treated as absent.
func TestGarbage(t *testing.T) {
	t.Parallel()
	good := state{served: pairAt(t, hosts, 0), trusted: []*x509.Certificate{pairAt(t, hosts, 0).parsed}}.data()
	for _, key := range []string{keyServed, keyServedAt, keyTrusted, keyNext, keyNextKey} {
		data := maps.Clone(good)
		data[key] = []byte("-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n")
		after, err := short.advance(parseState(data), hosts, start, true)
		if err != nil || !after.served.usable(hosts, start) || !slices.ContainsFunc(after.trusted, after.served.parsed.Equal) {
			t.Errorf("with garbage in %s: %v", key, err)
		}
	}
}

// TestStandard checks that the default policy renews a certificate long before it expires.
func TestStandard(t *testing.T) {
	t.Parallel()
	if standard().renewal+standard().settling >= standard().lifetime*3/4 {
		t.Errorf("the policy %+v leaves too little time", standard())
	}
}
