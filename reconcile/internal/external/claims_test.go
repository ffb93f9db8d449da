package external_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/external"
)

// annotate writes the annotation of an owner under the field manager of the engine. Each account that can patch the owner can do this.
func annotate(owner client.Object, value string) {
	_ = cluster{"shop"}.Apply(context.Background(), owner, apply.Plan{
		Owner: planned(value).Owner,
	})
}

// annotation is the annotation of the engine of [bench].
var annotation = func() string {
	b := newBench(&testing.T{}, external.Options{})
	_, _ = b.passIn(context.Background(), b.owner, b.plan("a"))
	for name := range b.owner.Annotations {
		return name
	}
	return ""
}()

func planned(value string) (plan reconcile.PlanResult) {
	plan.Metadata(metav1.ObjectMeta{Annotations: map[string]string{annotation: value}})
	return plan
}

func lostReason(result apply.Result) string {
	for _, o := range result.Objects {
		if o.Err != nil {
			return health.Categorize(o.Err).Reason
		}
	}
	return ""
}

// TestClaimsProveOwnership states what is removed for an owner whose annotation names a key, by who has claimed the key.
func TestClaimsProveOwnership(t *testing.T) {
	t.Parallel()
	type want struct {
		calls    []string
		reason   string
		kept     bool // the annotation still names the key
		deleting bool // the owner keeps its finalizer when it is deleted
	}
	own := `{"uid":"1","things":{"Database":["a"]}}`
	for name, tc := range map[string]struct {
		annotation string
		claimedBy  types.UID // empty means no claim
		options    external.Options
		forget     string
		want       want
	}{
		"forged, claimed by another owner": {annotation: own, claimedBy: "2"},
		"forged in the earlier format":     {annotation: `{"things":{"Database":["a"]}}`, claimedBy: "2"},
		"forged, not claimed":              {annotation: own, want: want{reason: "ExternalClaimLost", kept: true, deleting: true}},
		"written by an earlier version":    {annotation: `{"things":{"Database":["a"]}}`, want: want{reason: "ExternalClaimLost", kept: true, deleting: true}},
		"copied from another owner":        {annotation: `{"uid":"9","things":{"Database":["a"]}}`},
		"forgotten with permission":        {annotation: own, forget: "1"},
		"permission of another owner":      {annotation: own, forget: "9", want: want{reason: "ExternalClaimLost", kept: true, deleting: true}},
		"claimed":                          {annotation: own, claimedBy: "1", want: want{calls: []string{"remove a"}}},
		"claimed, without the annotation":  {claimedBy: "1", want: want{calls: []string{"remove a"}}},
		"exclusive, no claim":              {annotation: own, options: external.Options{Exclusive: true}, want: want{calls: []string{"remove a"}}},
		"exclusive, another owner's":       {annotation: own, claimedBy: "2", options: external.Options{Exclusive: true}},
		"exclusive, not permitted, lost":   {annotation: own, options: external.Options{Exclusive: true, Permit: refuse}, want: want{reason: "ExternalClaimLost", kept: true, deleting: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tc.options)
			if tc.claimedBy != "" {
				claim := external.Claim{Kind: "Database", Key: "a", Controller: "shop", Owner: types.NamespacedName{Name: "x"}, UID: tc.claimedBy}
				if _, err := b.claims.Create(t.Context(), claim); err != nil {
					t.Fatal(err)
				}
			}
			if tc.annotation != "" {
				annotate(b.owner, tc.annotation)
			}
			if tc.forget != "" {
				b.owner.Annotations["example.com/forget-external"] = tc.forget
			}
			deleted := b.owner.DeepCopy()
			calls, result := b.pass(b.owner, b.plan())
			got := want{calls: calls, reason: lostReason(result)}
			_, _ = b.pass(b.owner, b.plan())
			got.kept = strings.Contains(b.owner.Annotations[annotation], `"a"`)
			if len(calls) == 0 {
				deleted.DeletionTimestamp, deleted.Finalizers = &metav1.Time{Time: b.clock.Now()}, []string{"example.com/shop"}
				_, result := b.pass(deleted, b.plan())
				got.deleting = !result.Finalized
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func refuse(types.NamespacedName, string) error { return errors.New("refused") }

// TestClaimsAreSharedByControllers checks that two controllers that declare the same kind share the claim for a key.
func TestClaimsAreSharedByControllers(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{})
	second, err := external.NewEngine(external.Config{
		Kinds: []external.Declared{b.databases}, FieldManager: "market", Domain: "example.com", Finalizer: "example.com/shop", Claims: &b.claims,
	})
	if err != nil {
		t.Fatal(err)
	}
	first, owner := b.engine, ownerOf("shop", "2")
	_, _ = b.pass(b.owner, b.plan("a"))
	b.engine = second
	calls, result := b.pass(owner, b.plan("a"))
	b.want("the first controller has it", calls)
	if got := lostReason(result); got != "ExternalObjectClaimed" {
		t.Errorf("got reason %q, want ExternalObjectClaimed", got)
	}
	owner.DeletionTimestamp = &metav1.Time{Time: b.clock.Now()}
	calls, result = b.pass(owner, b.plan())
	b.want("the second owner is deleted", calls)
	if !result.Finalized {
		t.Error("the second owner keeps its finalizer")
	}
	b.engine = first
	_, _ = b.pass(b.owner, b.plan())
	_, _ = b.pass(b.owner, b.plan())
	b.engine = second
	calls, _ = b.pass(ownerOf("shop", "3"), b.plan("a"))
	b.want("the first owner has given it up", calls, "observe a", "ensure a")
}

// unavailable is a store of claims whose reads fail.
type unavailable struct{ external.MemoryClaims }

func (*unavailable) List(context.Context) ([]external.Claim, error) { return nil, errAway }

// TestNothingIsRemovedBeforeTheClaimsAreRead checks that neither a resource nor the finalizer is removed if the claims cannot be read.
func TestNothingIsRemovedBeforeTheClaimsAreRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{})
	engine, err := external.NewEngine(external.Config{
		Kinds: []external.Declared{b.databases}, FieldManager: "shop", Domain: "example.com", Finalizer: "example.com/shop", Claims: &unavailable{},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.engine = engine
	b.owner.DeletionTimestamp, b.owner.Finalizers = &metav1.Time{Time: b.clock.Now()}, []string{"example.com/shop"}
	calls, result := b.pass(b.owner, b.plan())
	b.want("what the owner has is not known", calls)
	if result.Finalized || !errors.Is(result.Err(), errAway) {
		t.Errorf("got finalized %t and error %v, want the finalizer and the error of the claims", result.Finalized, result.Err())
	}
}

// TestAnOwnerThatIsGoneKeepsNoKey checks that the claim of a deleted owner passes to the next owner that plans the key.
func TestAnOwnerThatIsGoneKeepsNoKey(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{})
	_, _ = b.pass(b.owner, b.plan("a"))
	b.restart()
	calls, _ := b.pass(ownerOf("shop", "2"), b.plan("a"))
	b.want("an owner with the same name and another UID", calls, "observe a")
	calls, _ = b.pass(ownerOf("other", "3"), b.plan("a"))
	b.want("the owner exists", calls)
}

// TestEnsuredIsObserved checks that without an event stream, the owner is reconciled after Ensure with increasing delays.
func TestEnsuredIsObserved(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{})
	var got []string
	for range 4 {
		_, result := b.pass(b.owner, b.plan("a"))
		got = append(got, result.RequeueAfter.String())
		b.server.databases = nil // the database never appears
	}
	if diff := cmp.Diff([]string{"1ns", "1s", "2s", "4s"}, got); diff != "" {
		t.Errorf("requeues (-want +got):\n%s", diff)
	}
}

// TestASystemThatNoLongerExists checks that resources of a system that no longer exists count as removed.
func TestASystemThatNoLongerExists(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{})
	_, _ = b.pass(b.owner, b.plan("a"))
	b.server.fail = map[string]error{external.VerbRemove: external.ErrSystemGone, external.VerbEnsure: external.ErrSystemGone}
	b.server.databases = nil
	_, result := b.pass(b.owner, b.plan("a"))
	if got := lostReason(result); got != "ExternalSystemGone" {
		t.Errorf("got reason %q of %v, want ExternalSystemGone", got, result.Err())
	}
	b.owner.DeletionTimestamp = &metav1.Time{Time: b.clock.Now()}
	calls, result := b.pass(b.owner, b.plan())
	b.want("the owner is deleted", calls, "remove a")
	if !result.Finalized || result.Err() != nil {
		t.Errorf("got finalized %t and error %v, want that the owner goes", result.Finalized, result.Err())
	}
}

// TestAClaimIsReadBeforeACall checks that a claim that an administrator deleted does not count although the process remembers it.
func TestAClaimIsReadBeforeACall(t *testing.T) {
	t.Parallel()
	claim := external.Claim{Kind: "Database", Key: "a", UID: "1"}
	for name, tc := range map[string]struct {
		taken  bool // another owner has claimed the key since
		calls  []string
		reason string
		holder types.UID
	}{
		"no owner has it":      {calls: []string{"observe a", "ensure a"}, holder: "1"},
		"another owner has it": {taken: true, calls: []string{"observe a"}, reason: "ExternalObjectClaimed", holder: "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, external.Options{})
			_, _ = b.pass(b.owner, b.plan("a"))
			if err := b.claims.Delete(t.Context(), claim); err != nil {
				t.Fatal(err)
			}
			if tc.taken {
				next := claim
				next.Controller, next.UID, next.Owner = "market", "2", types.NamespacedName{Namespace: "default", Name: "other"}
				if _, err := b.claims.Create(t.Context(), next); err != nil {
					t.Fatal(err)
				}
			}
			b.server.databases = nil
			calls, result := b.pass(b.owner, b.plan("a"))
			b.want(name, calls, tc.calls...)
			if got := lostReason(result); got != tc.reason {
				t.Errorf("got reason %q of %v, want %q", got, result.Err(), tc.reason)
			}
			if found, err := b.claims.Get(t.Context(), "Database", "a"); err != nil || found == nil || found.UID != tc.holder {
				t.Errorf("got claim %v and error %v, want that of UID %s", found, err, tc.holder)
			}
		})
	}
}

// TestAFormerOwnerTakesNothing checks that a deleted owner in a stale cache does not take the key of its recreated successor.
func TestAFormerOwnerTakesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, external.Options{})
	_, _ = b.pass(ownerOf("shop", "2"), b.plan("a"))
	var err error
	b.engine, err = external.NewEngine(external.Config{
		Kinds: []external.Declared{b.databases}, FieldManager: "shop", Domain: "example.com", Finalizer: "example.com/shop", Claims: &b.claims,
		Alive: func(_ context.Context, _ types.NamespacedName, uid types.UID) (bool, error) { return uid == "2", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	b.server.databases = nil
	calls, result := b.pass(b.owner, b.plan("a"))
	b.want("the owner that replaced it has the key", calls)
	if got := lostReason(result); got != "ExternalObjectClaimed" {
		t.Errorf("got reason %q of %v, want ExternalObjectClaimed", got, result.Err())
	}
	if found, err := b.claims.Get(t.Context(), "Database", "a"); err != nil || found == nil || found.UID != "2" {
		t.Errorf("got claim %v and error %v, want that of UID 2", found, err)
	}
}

// TestARestoredOwnerRepeatsEffects checks an owner with a new UID and the annotation of the former owner, with and without managedFields.
func TestARestoredOwnerRepeatsEffects(t *testing.T) {
	t.Parallel()
	for _, managers := range []bool{true, false} {
		b := newBench(t, external.Options{})
		plan := func() (plan reconcile.PlanResult) {
			b.databases.Once(&plan, "report", database{Owner: "shop"})
			return plan
		}
		calls, _ := b.pass(b.owner, plan())
		b.want("the effect", calls, "ensure report")
		_, _ = b.pass(b.owner, plan())
		b.restart()
		calls, _ = b.pass(b.owner, plan())
		b.want("its marker is stored", calls)
		if b.owner.UID = "2"; !managers {
			b.owner.ManagedFields = nil
		}
		b.restart()
		calls, _ = b.pass(b.owner, plan())
		b.want("the marker is that of another owner", calls, "ensure report")
	}
}

// TestConfigMapClaims checks that claims are stored in ConfigMaps, and that a key can be any string.
func TestConfigMapClaims(t *testing.T) {
	t.Parallel()
	c := fake.NewClientBuilder().Build()
	claims := &external.ConfigMapClaims{Writer: c, Reader: c, Namespace: "operator"}
	names := map[string]string{}
	for _, key := range []string{"a", "A", "a ", "a\n", "a\x00b", "../../a", "ä", strings.Repeat("k", 512), `{"uid":"2"}`, "a\u202eb"} {
		wanted := external.Claim{Kind: "Database", Key: key, Controller: "shop", Owner: types.NamespacedName{Namespace: "n", Name: "o"}, UID: "1"}
		if other, err := claims.Create(t.Context(), wanted); err != nil || other != nil {
			t.Fatalf("key %q: got claim %v and error %v, want none", key, other, err)
		}
		found, err := claims.Get(t.Context(), "Database", key)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&wanted, found); diff != "" {
			t.Errorf("key %q (-want +got):\n%s", key, diff)
		}
		name := external.ClaimName("Database", key)
		if other, taken := names[name]; taken || len(validation.IsDNS1123Subdomain(name)) > 0 {
			t.Errorf("got name %q for key %q, and for key %q", name, key, other)
		}
		names[name] = key
	}

	stored := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "operator", Name: external.ClaimName("Database", "a")}, stored); err != nil {
		t.Fatal(err)
	}
	copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "operator", Name: "copy", Labels: stored.Labels}, Data: stored.Data}
	if err := c.Create(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	stored.Data["key"] = "b"
	if err := c.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	all, err := claims.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range all {
		if claim.Key == "a" || claim.Key == "b" {
			t.Errorf("got claim %v of a copy or of an edited ConfigMap", claim)
		}
	}
	if found, err := claims.Get(t.Context(), "Database", "b"); err != nil || found != nil {
		t.Errorf("got claim %v and error %v for a key that was edited, want none", found, err)
	}
	if found, err := claims.Get(t.Context(), "Database", "a"); err == nil {
		t.Errorf("got claim %v, want an error about its ConfigMap", found)
	}
}
