package view

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// kind returns the cached state of a kind, which is listed on first use.
func (v *View) kind(gvk schema.GroupVersionKind) (*viewKind, error) {
	if k := v.kinds[gvk]; k != nil {
		return k, nil
	}
	if err := v.cluster.Served(gvk.GroupKind(), gvk.Version); err != nil {
		return nil, err
	}
	if rules := v.cluster.System.Rules; rules != nil {
		for _, verb := range []string{"list", "watch"} {
			resource := v.cluster.Resource(gvk)
			if !rights.Allowed(rules, requests.Request{Verb: verb, Group: resource.Group, Resource: resource.Resource}) {
				return nil, apierrors.NewForbidden(resource, "", fmt.Errorf("%w: add the verb %q", rights.ErrNotDeclared, verb))
			}
		}
	}
	state, err := v.cluster.List(gvk)
	if err != nil {
		return nil, err
	}
	state = v.filter(gvk, state)
	k := &viewKind{
		resource: v.cluster.Resource(gvk), shown: state, newest: state, informers: map[representation]*informer{},
		converted: map[representation]map[types.NamespacedName]converted{},
	}
	if past := v.Past; past != nil && (past.Kind == "" || past.Kind == gvk.Kind) {
		k.shown = v.filter(gvk, past.State[gvk])
		k.pipe = []pending{{v.tick + past.Passes, state}}
	}
	v.kinds[gvk] = k
	return k, nil
}

// keeps returns the cache options of a kind.
func (v *View) keeps(gvk schema.GroupVersionKind) *kept {
	if k := v.kept[gvk]; k != nil {
		return k
	}
	k := &kept{
		labels: v.opts.DefaultLabelSelector, fields: v.opts.DefaultFieldSelector, transform: v.opts.DefaultTransform,
		namespaces: namespacesOf(v.opts.DefaultNamespaces),
	}
	for obj, by := range v.opts.ByObject {
		if of, err := apiutil.GVKForObject(obj, v.cluster.Scheme); err != nil || of != gvk {
			continue
		}
		if by.Label != nil {
			k.labels = by.Label
		}
		if by.Field != nil {
			k.fields = by.Field
		}
		if by.Transform != nil {
			k.transform = by.Transform
		}
		if by.Namespaces != nil {
			k.namespaces = namespacesOf(by.Namespaces)
		}
	}
	v.kept[gvk] = k
	return k
}

func namespacesOf(configs map[string]cache.Config) []string {
	var out []string
	for namespace := range configs {
		if namespace == cache.AllNamespaces {
			return nil
		}
		out = append(out, namespace)
	}
	return out
}

// in returns the error of a read in a namespace that is not cached. Cluster-scoped kinds are always cached.
func (k *kept) in(verb, namespace string) error {
	if namespace == "" || len(k.namespaces) == 0 || slices.Contains(k.namespaces, namespace) {
		return nil
	}
	return fmt.Errorf("unable to %s: %s because of unknown namespace for the cache", verb, namespace)
}

// has reports whether the cache contains an object.
func (k *kept) has(u *unstructured.Unstructured) bool {
	if k.labels != nil && !k.labels.Matches(objects.Labels(u)) || k.in("", u.GetNamespace()) != nil {
		return false
	}
	matches, err := objects.MatchesFields(k.fields, func(name string) ([]string, error) {
		value, found, err := unstructured.NestedString(u.Object, strings.Split(name, ".")...)
		if !found {
			return []string{""}, err
		}
		return []string{value}, err
	})
	return matches && err == nil
}

// filter removes objects by the options of the cache.
func (v *View) filter(gvk schema.GroupVersionKind, state cluster.Snapshot) cluster.Snapshot {
	k := v.keeps(gvk)
	if k.labels == nil && k.fields == nil && k.namespaces == nil {
		return state
	}
	out := make(cluster.Snapshot, len(state))
	for key, u := range state {
		if k.has(u) {
			out[key] = u
		}
	}
	return out
}
