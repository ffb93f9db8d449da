package environment

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
)

// Rights are the permissions of an operator under test: a service account on a real API server that has only the given rules. Run the
// operator with Config, run all of its scenarios, then Check that each rule was used and no request was rejected:
//
//	var env = &environment.Environment{Audit: true, AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"}}
//
//	rights := env.Rights(t, page.Rules())
//	... // start the operator with rights.Config(), run its scenarios
//	rights.Without(t, "update apps/deployments/finalizers", func() { ... }) // a permission without a request of its own
//	rights.Check(t, nil)
//
// RBAC is additive, and a page grants each verb of a resource once: a request that used a permission would be rejected without it. One
// run with all rules is therefore equivalent to one run for each missing rule.
type Rights struct {
	env    *Environment
	admin  client.Client
	rules  []rbacv1.PolicyRule
	role   string
	user   string
	config *rest.Config

	mu      sync.Mutex
	log     *AuditLog
	missed  map[rights.Right]bool // permissions whose absence made the API server reject a request
	windows []window              // times without a permission
}

type window struct{ from, to time.Time }

// Timeouts of [Rights.Without] and [Rights.Await], and the time after the first rejection in which others may still be logged.
const (
	withoutTimeout = 60 * time.Second
	awaitTimeout   = 2 * time.Minute
	inFlightTime   = time.Second
)

// Rights creates a service account with only the given rules. Without a control plane t is skipped, see Require.
func (e *Environment) Rights(t testing.TB, rules []rbacv1.PolicyRule) *Rights {
	t.Helper()

	namespace := e.Namespace(t)
	r := &Rights{
		env: e, rules: rules, role: namespace, user: "system:serviceaccount:" + namespace + ":operator", missed: map[rights.Right]bool{},
	}

	var err error
	if r.admin, err = client.New(e.Config(), client.Options{}); err != nil {
		t.Fatalf("connect to the API server: %v", err)
	}

	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: r.role}, Rules: rules}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: r.role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: r.role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "operator"}},
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "operator"}}

	for _, object := range []client.Object{account, role, binding} {
		if err := r.admin.Create(t.Context(), object); err != nil {
			t.Fatalf("create an account with permissions: %v", err)
		}
	}

	ctx := context.WithoutCancel(t.Context()) // Ginkgo has no context during the cleanup

	t.Cleanup(func() {
		for _, object := range []client.Object{binding, role} {
			if err := client.IgnoreNotFound(r.admin.Delete(ctx, object)); err != nil {
				t.Errorf("delete %T %s: %v", object, r.role, err)
			}
		}
	})

	if r.config, err = e.ServiceAccountConfig(t.Context(), namespace, "operator"); err != nil {
		t.Fatal(err)
	}

	return r
}

// Config returns a copy of the configuration of the service account, for a manager in this process, or with [Kubeconfig] for another
// process.
func (r *Rights) Config() *rest.Config { return rest.CopyConfig(r.config) }

// User is the name of the service account in the [AuditLog].
func (r *Rights) User() string { return r.user }

// Check fails t for each permission that no request used, and for each rejected request. A permission is a verb and a resource, as in
// "patch apps/deployments/status". unused maps permissions that may be unused to the reason. Permissions that [Rights.Without] has tested
// count as used. list counts as used if there was a watch, because informers fall back to it on API servers that do not stream lists. A
// patch that creates an object also uses create, as a server-side apply does.
//
// On a cluster without an audit log Check logs that and checks nothing.
func (r *Rights) Check(t testing.TB, unused map[string]string) {
	t.Helper()

	used, refused, err := r.look()
	if errors.Is(err, ErrNoAuditLog) && r.env.existing() {
		t.Logf("permissions are not enforced: %v", err)

		return
	}

	if err != nil {
		t.Fatal(err)
	}

	for _, entry := range refused {
		t.Errorf("missing permission: %s: %s", entry, entry.Message)
	}

	known := map[string]bool{}

	for _, one := range rights.RightsOf(r.rules) {
		known[one.String()] = true

		if !used[one] && unused[one.String()] == "" {
			t.Errorf("no request used the permission %q: test what needs it, remove it, or list it as unused with a reason", one)
		}
	}

	for name := range unused {
		if !known[name] {
			t.Errorf("the rules have no permission %q that could be unused", name)
		}
	}
}

// look returns the used permissions and the requests that were rejected while all permissions were granted.
func (r *Rights) look() (used map[rights.Right]bool, refused AuditEntries, err error) {
	entries, err := r.entries()
	if err != nil {
		return nil, nil, err
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	used = map[rights.Right]bool{}
	for right := range r.missed {
		used[right] = true
	}

	for _, entry := range entries {
		switch {
		case entry.Resource == "": // every account may use discovery
		case !lacksRight(entry):
			used[rights.Right{Verb: entry.Verb, Group: entry.Group, Resource: rights.ResourceOf(entry.Request)}] = true

			if entry.Verb == "watch" { // an informer lists, or on newer API servers streams its list instead
				used[rights.Right{Verb: "list", Group: entry.Group, Resource: entry.Resource}] = true
			}

			if entry.Code == http.StatusCreated && entry.Verb == "patch" { // a server-side apply that creates needs both permissions
				used[rights.Right{Verb: "create", Group: entry.Group, Resource: rights.ResourceOf(entry.Request)}] = true
			}
		case !slices.ContainsFunc(r.windows, func(w window) bool {
			return entry.Received.After(w.from) && entry.Received.Before(w.to)
		}):
			refused = append(refused, entry)
		}
	}

	return used, refused, nil
}

// Await waits until a request has used the permission, written as in [Rights.Check], and fails t if none does within two minutes. Use it
// for requests that the operator sends later, such as the patch of a repeated event.
//
// On a cluster without an audit log Await logs that and does not wait.
func (r *Rights) Await(t testing.TB, name string) {
	t.Helper()

	wanted := r.named(t, name)

	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, awaitTimeout, true, func(context.Context) (bool, error) {
		used, _, err := r.look()

		return used[wanted], err
	})

	switch {
	case errors.Is(err, ErrNoAuditLog) && r.env.existing():
		t.Logf("permissions are not enforced: %v", err)
	case err != nil:
		t.Fatalf("no request used the permission %q: %v", name, err)
	}
}

// named returns the permission with the name.
func (r *Rights) named(t testing.TB, name string) rights.Right {
	t.Helper()

	all := rights.RightsOf(r.rules)

	at := slices.IndexFunc(all, func(one rights.Right) bool { return one.String() == name })
	if at < 0 {
		t.Fatalf("the rules have no permission %q", name)
	}

	return all[at]
}

// Without revokes a permission while do runs, and fails t unless the API server rejects a request of the operator within a minute; do
// must cause such a request. The operator retries the rejected request later; change the owner afterwards to trigger it. Use it for
// permissions without a request of their own, because the API server checks them while it handles another request: finalizers of owners
// whose deletion is blocked, and permissions that are granted to others. Running informers continue without list and watch.
func (r *Rights) Without(t testing.TB, name string, do func()) {
	t.Helper()

	taken := r.named(t, name)
	since := time.Now()

	r.grant(t, taken.From(r.rules), taken, false)
	do()

	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, withoutTimeout, true, func(context.Context) (bool, error) {
		return r.refusedSince(since)
	})

	r.grant(t, r.rules, taken, true)

	r.mu.Lock()
	defer r.mu.Unlock()

	r.windows = append(r.windows, window{since, time.Now().Add(inFlightTime)})

	switch {
	case errors.Is(err, ErrNoAuditLog) && r.env.existing():
		t.Logf("permissions are not enforced: %v", err)
	case err != nil:
		t.Errorf("without the permission %q no request was rejected: %v", name, err)
	default:
		r.missed[taken] = true
	}
}

// lacksRight reports whether a request was rejected because of a missing permission. A namespace that is being deleted also answers 403.
func lacksRight(e AuditEntry) bool {
	return e.Code == http.StatusForbidden && !strings.Contains(e.Message, "because it is being terminated")
}

func (r *Rights) refusedSince(since time.Time) (bool, error) {
	entries, err := r.entries(func(e AuditEntry) bool { return lacksRight(e) && e.Received.After(since) })

	return len(entries) > 0, err
}

// entries returns the requests of the account.
func (r *Rights) entries(filters ...func(AuditEntry) bool) (AuditEntries, error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.log == nil {
		log, err := r.env.AuditLog()
		if err != nil {
			return nil, err
		}

		r.log = log
	}

	return r.log.Entries(append(filters, User(r.user))...)
}

// grant stores the rules and waits until they are effective.
func (r *Rights) grant(t testing.TB, rules []rbacv1.PolicyRule, right rights.Right, want bool) {
	t.Helper()

	role := &rbacv1.ClusterRole{}
	if err := r.admin.Get(t.Context(), client.ObjectKey{Name: r.role}, role); err != nil {
		t.Fatal(err)
	}

	role.Rules = rules
	if err := r.admin.Update(t.Context(), role); err != nil {
		t.Fatal(err)
	}

	resource, subresource, _ := strings.Cut(right.Resource, "/")

	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, withoutTimeout, true, func(ctx context.Context) (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: r.user, Groups: []string{"system:serviceaccounts", "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: right.Verb, Group: right.Group, Resource: resource, Subresource: subresource},
		}}
		err := r.admin.Create(ctx, review)

		return review.Status.Allowed == want, err
	})
	if err != nil {
		t.Fatalf("the API server does not act by the rules (want %q allowed: %t): %v", right, want, err)
	}
}

// existing reports whether the environment uses an existing cluster.
func (e *Environment) existing() bool {
	e.mu.Lock()
	defer e.mu.Unlock()

	return e.server != nil && *e.server.UseExistingCluster
}
