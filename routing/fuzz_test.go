package routing_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/routing"
)

// FuzzRender: whatever a user writes, the outcome is a clear error or a path that an HTTPRoute may have; it is the same again
// and through the cache, and rendering a result as a template changes nothing.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		"/{.metadata.namespace}/{.metadata.name}", "/{.metadata.annotations['k']}/x", "/{.spec.text}", `/\{a\}`, "/a/../b", "/%2e%2e",
		"/{.spec.env[?(@.name=='k')].value}", "/{..name}", "/{.metadata.labels['k', 'l']}", "/{{}}", "//", "/{range .x}{end}", "/é/K",
		"/{.spec.embedded.hidden}", "/{.spec.since.wall}", "/{.spec.env[0:1].name}", "/{.spec.any.x}", "/{@}", "/{1}{true}",
	} {
		f.Add(seed, "Value/../x %2F#", true)
		f.Add(seed, "plain", false)
	}
	var cache routing.PathCache
	f.Fuzz(func(t *testing.T, template, value string, encoded bool) {
		w := newWidget()
		w.Name, w.Spec.Text = value, value
		w.Labels["k"], w.Annotations["k"], w.Spec.Env[0].Name = value, value, value
		opts := []routing.PathOption{routing.DNSSegments}
		if encoded {
			opts[0] = routing.EncodedSegments
		}
		path, err := routing.RenderPath(template, w, opts...)
		again, err2 := routing.RenderPath(template, w, append(opts, &cache)...)
		if again != path || (err == nil) != (err2 == nil) {
			t.Errorf("the cache changes %q, %v to %q, %v", path, err, again, err2)
		}
		if err != nil {
			checkOutcome(t, err, routing.ReasonPathTemplateInvalid, "path template")
			return
		}
		checkPath(t, path, routing.DefaultMaxBytes)
		if path == "/" {
			t.Errorf("%q collapses to the root", template)
		}
		if stable, err := routing.RenderPath(path, nil, opts...); err != nil || stable != path {
			t.Errorf("%q renders as %q, %v", path, stable, err)
		}
		_, err = routing.NewHTTPRoute(routing.Route{
			Namespace: "a", Name: "b", Parents: []gatewayv1.ParentReference{{Name: "c"}},
			Rules: []routing.Rule{{Matches: []routing.Match{{Path: path}}}},
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// FuzzNames: following names gives what JSONPath gives. "@" is the object itself and makes the same path a query.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{
		"spec.text", "spec.count", "spec.nothing", "spec.nothing.x", "metadata.labels.team", "metadata.nope", "Spec.Text", "spec.embedded",
		"spec.size", "spec.any", "spec.embedded.hidden", "kind", "spec", "metadata.creationTimestamp", "spec.text.x", "spec.since.Time.wall",
		"metadata.labels['a.b/c-d']", "spec['text']",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, names string) {
		w := newWidget()
		got, err := routing.RenderPath("/x/{."+names+"}", w)
		want, err2 := routing.RenderPath("/x/{@."+names+"}", w)
		if got != want || (err == nil) != (err2 == nil) {
			t.Errorf("{.%s} gives %q, %v; {@.%s} gives %q, %v", names, got, err, names, want, err2)
		}
	})
}

// FuzzParseTimeout: exactly the pattern of the API is accepted, and what was read can be written and read again.
func FuzzParseTimeout(f *testing.F) {
	for _, seed := range []string{"", "0s", "30s", "1h30m", "5ms", "1m5s", "99999h99999h99999h99999h", "1.5s", "-1s", "100000h", "1s1s1s1s1s", "1", "s", "1M", "٣s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		duration, err := routing.ParseTimeout(value)
		if matches := gatewayDuration.MatchString(value); matches != (err == nil) {
			t.Fatalf("ParseTimeout(%q): error %v, but the pattern says %t", value, err, matches)
		}
		if err != nil {
			checkOutcome(t, err, routing.ReasonTimeoutInvalid, "timeout")
			return
		}
		if want, err := time.ParseDuration(value); err != nil || want != duration {
			t.Errorf("ParseTimeout(%q) = %s, the standard library reads %s, %v", value, duration, want, err)
		}
		text, err := routing.FormatTimeout(duration)
		if err != nil {
			if duration < 100000*time.Hour {
				t.Errorf("FormatTimeout(%s): %v", duration, err)
			}
			return
		}
		if back, err := routing.ParseTimeout(string(text)); err != nil || back != duration {
			t.Errorf("%s is written as %q and read as %s, %v", duration, text, back, err)
		}
	})
}

// FuzzDecide: the outcome depends on the set of claims alone, no two standing claims of different owners overlap, and each
// loser lost to an older claim that stands.
func FuzzDecide(f *testing.F) {
	f.Add(uint64(1), uint8(4))
	f.Add(uint64(99), uint8(40))
	f.Fuzz(func(t *testing.T, seed uint64, count uint8) {
		random := rand.New(rand.NewPCG(seed, 1))
		claims := randomClaims(random, int(count)%64)
		decisions := routing.Decide(claims)
		shuffled := append([]routing.Claim{}, claims...)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := cmp.Diff(decisions, routing.Decide(shuffled)); diff != "" {
			t.Errorf("the order of arrival decides:\n%s", diff)
		}
		checkDecisions(t, decisions)
	})
}

func checkDecisions(t *testing.T, decisions routing.Decisions) {
	t.Helper()
	for i, decision := range decisions {
		if decision.Winner == nil {
			for _, other := range decisions[:i] {
				if other.Winner == nil && rivals(decision.Claim, other.Claim) {
					t.Errorf("both stand:\n%+v\n%+v", decision.Claim, other.Claim)
				}
			}
			continue
		}
		if !rivals(decision.Claim, *decision.Winner) {
			t.Errorf("%+v lost to %+v without a conflict", decision.Claim, *decision.Winner)
		}
		stands := false
		for _, other := range decisions[:i] {
			stands = stands || other.Winner == nil && cmp.Equal(other.Claim, *decision.Winner)
		}
		if !stands {
			t.Errorf("the winner %+v does not stand before %+v", *decision.Winner, decision.Claim)
		}
	}
}

// rivals is the rule of Decide in another form: by trying concrete requests.
func rivals(a, b routing.Claim) bool {
	return a.Owner.UID != b.Owner.UID && a.Parent == b.Parent && a.Path == b.Path &&
		(a.Listener == "" || b.Listener == "" || a.Listener == b.Listener) && shareHost(a.Hosts, b.Hosts)
}

func shareHost(a, b []string) bool {
	serves := func(hosts []string, host string) bool {
		for _, pattern := range hosts {
			if suffix, ok := strings.CutPrefix(pattern, "*"); ok && strings.HasSuffix(host, suffix) || pattern == host {
				return true
			}
		}
		return len(hosts) == 0
	}
	for _, host := range []string{"a.test", "b.test", "x.a.test", "y.x.a.test", "elsewhere.example"} {
		if serves(a, host) && serves(b, host) {
			return true
		}
	}
	return false
}

func randomClaims(random *rand.Rand, count int) []routing.Claim {
	hosts := [][]string{nil, {"a.test"}, {"b.test"}, {"*.test"}, {"*.a.test"}, {"x.a.test", "b.test"}}
	claims := make([]routing.Claim, 0, count)
	for range count {
		owner := random.IntN(12)
		name := string(rune('a' + owner))
		claims = append(claims, routing.Claim{
			Owner:    routing.Claimant{Namespace: "ns", Name: name, UID: types.UID(name), Created: time.Unix(int64(owner/3), 0)},
			Parent:   routing.ClaimedParent{Namespace: "infra", Name: []string{"x", "y"}[random.IntN(2)]},
			Listener: []string{"", "http", "https"}[random.IntN(3)],
			Hosts:    hosts[random.IntN(len(hosts))],
			Path:     []string{"/", "/a", "/a/", "/a/b"}[random.IntN(4)],
		})
	}
	return claims
}

var _ metav1.Object = &widget{}
