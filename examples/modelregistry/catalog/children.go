package catalog

import (
	"embed"
	"slices"

	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
	"github.com/reconcilekit/reconcilekit/reconcile/secrets"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

//go:embed templates/*.yaml
var templates embed.FS

// newChildren returns all children of the catalog. A child that belongs to a Deployment waits for it and is garbage-collected with
// it, so it is kept when it is not planned. Children with data are shared instead of owned: they are deleted only when the catalog
// is switched off.
func newChildren(scheme *runtime.Scheme, settings Settings) (*children.Set[facts], error) {
	parsed, err := manifests.Parse(templates, scheme, "templates/*.yaml")
	adopt := []apply.ChildOption{apply.AdoptUncontrolled}
	restore := []apply.ChildOption{apply.AdoptUncontrolled, apply.Force("data")}
	workload := []apply.ChildOption{apply.AdoptUncontrolled, apply.Recreate()}
	// An existing value is never overwritten.
	seed := []apply.ChildOption{apply.AdoptUncontrolled, secrets.Rules(settings.credentials())}
	volume := []apply.ChildOption{apply.AdoptUncontrolled, apply.Seed("spec.resources.requests.storage")} // the volume never shrinks
	off, database, storage := children.Keep, children.Keep, children.Prune                                // shared: never pruned
	if settings.Disabled {
		off = children.Delete
	}
	if settings.Disabled && !settings.SkipDatabase {
		database, storage = children.Delete, children.Delete
	}
	on := func(facts) bool { return !settings.Disabled }
	stored := func(facts) bool { return !settings.Disabled && !settings.SkipDatabase }
	served := func(f facts) bool { return on(f) && f.Server != nil }
	routed := func(f facts) bool { return served(f) && f.OpenShift }
	backed := func(f facts) bool { return stored(f) && f.Database != nil }
	administered := func(f facts) bool { return on(f) && len(f.Groups) > 0 }
	list := []children.Child[facts]{
		{Template: "serviceaccount.yaml", When: on, Off: off, Mutate: ofPlatform, Options: adopt},
		{Template: "default-sources.yaml", When: on, Off: children.Keep, Mutate: restoreDefaults, Options: restore},
		{Template: "model-sources.yaml", When: func(f facts) bool { return on(f) && slices.Contains(f.missing, modelsName) }, Retained: true},
		{Template: "mcp-sources.yaml", When: func(f facts) bool { return on(f) && slices.Contains(f.missing, serversName) }, Retained: true},
		{Template: "deployment.yaml", When: on, Off: off, Mutate: ofPlatform, Options: workload},
		{Template: "service.yaml", When: served, Off: children.Keep, Mutate: ofServer, Options: adopt},
		{Template: "role.yaml", When: served, Off: children.Keep, Mutate: ofServer, Options: adopt},
		{Template: "rolebinding.yaml", When: served, Off: children.Keep, Mutate: ofServer, Options: workload},
		{Template: "admin-role.yaml", When: served, Off: children.Keep, Mutate: ofServer, Options: adopt},
		{Template: "admin-rolebinding.yaml", When: administered, Off: children.Delete, Mutate: ofServer, Options: workload},
		{Template: "postgres-secret.yaml", When: stored, Retained: true, Off: storage, Mutate: ofPlatform, Options: seed},
		{Template: "postgres-storage.yaml", When: stored, Retained: true, Off: storage, Mutate: ofPlatform, Options: volume},
		{Template: "postgres-deployment.yaml", When: stored, Off: database, Mutate: ofPlatform, Options: workload},
		{Template: "postgres-service.yaml", When: backed, Off: database, Mutate: ofDatabase, Options: adopt},
		{Template: "postgres-networkpolicy.yaml", When: backed, Off: children.Keep, Mutate: ofDatabase, Options: adopt},
		{Template: "route.yaml", When: routed, Off: off, Mutate: ofServer, Options: adopt},
		{Template: "networkpolicy-https.yaml", When: routed, Off: off, Mutate: ofServer, Options: adopt},
		{Template: "proxy-config.yaml", When: on, Off: off, Mutate: ofPlatform, Options: adopt},
		{Template: "clusterrolebinding.yaml", When: on, Off: off, Options: workload},
	}
	for i := range list {
		list[i].Deletion = []apply.DeletionOption{apply.MatchLabels{createdBy: operator}} // also if an earlier version has created it
	}
	return &children.Set[facts]{Manifests: parsed, Children: list}, err
}

// facts is the input of the templates.
type facts struct {
	Settings
	// Domain is the domain of the route, empty if unknown.
	Domain string
	// Platform, Server and Database are owner references for children, or nil if the owner does not exist.
	Platform, Server, Database []metav1.OwnerReference
	// Groups administer the catalog; Sources are the discovered ConfigMaps of sources.
	Groups, Sources []string
	Credentials     map[string][]byte
	OpenShift       bool

	// defaults is the managed document of sources as stored, nil if it does not exist.
	defaults map[string]string
	// missing are the ConfigMaps of users that do not exist.
	missing []string
}

func ofPlatform(f facts, o manifests.Object) { o.SetOwnerReferences(f.Platform) }
func ofServer(f facts, o manifests.Object)   { o.SetOwnerReferences(f.Server) }
func ofDatabase(f facts, o manifests.Object) { o.SetOwnerReferences(f.Database) }

// restoreDefaults removes keys that other writers have added to the ConfigMap of the managed document, if the document has to be
// restored: it takes over the keys, with empty values, and releases them in the next reconciliation.
func restoreDefaults(f facts, o manifests.Object) {
	ofPlatform(f, o)
	_ = manifests.Change(o, func(planned *corev1.ConfigMap) { // its template contains a ConfigMap
		for key := range f.defaults {
			if key != sourcesKey && f.defaults[sourcesKey] != planned.Data[sourcesKey] {
				planned.Data[key] = ""
			}
		}
	})
}
