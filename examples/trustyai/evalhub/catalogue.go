package evalhub

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// The kinds of entries in the catalogue.
const (
	provider   = "provider"
	collection = "collection"
)

var kinds = []string{provider, collection}

func title(kind string) string { return strings.ToUpper(kind[:1]) + kind[1:] }

// catalogue contains the entries of one kind: those of the operator, by name, and the names of the tenant's ConfigMaps.
type catalogue struct {
	read, ofTenant reconcile.FetchResult[*corev1.ConfigMapList]
	system         map[string]*corev1.ConfigMap
}

func typeLabel(kind string) string { return group + "/evalhub-" + kind + "-type" }
func nameLabel(kind string) string { return group + "/evalhub-" + kind + "-name" }

func fetchCatalogue(ctx context.Context, reader reconcile.Reader, kind, operatorNamespace, namespace string) catalogue {
	list := func(in, value string) reconcile.FetchResult[*corev1.ConfigMapList] {
		return reconcile.FetchList(ctx, reader, &corev1.ConfigMapList{}, client.InNamespace(in), client.MatchingLabels{typeLabel(kind): value})
	}
	c := catalogue{read: list(operatorNamespace, "system"), ofTenant: list(namespace, "tenant"), system: map[string]*corev1.ConfigMap{}}
	if c.read.Value != nil {
		for i := range c.read.Value.Items {
			entry := &c.read.Value.Items[i]
			if name := entry.Labels[nameLabel(kind)]; c.system[name] == nil {
				c.system[name] = entry
			}
		}
	}
	return c
}

// missing returns the first wanted entry that does not exist.
func (c catalogue) missing(kind string, names []string) error {
	for _, name := range names {
		if c.system[name] == nil {
			return fmt.Errorf("%s %q not found: no ConfigMap with label %s=%s and %s=system", kind, name, nameLabel(kind), name, typeLabel(kind))
		}
	}
	return nil
}

// tenants returns the names of the tenant's ConfigMaps, sorted.
func (c catalogue) tenants() []string {
	var out []string
	if c.ofTenant.Value != nil {
		for i := range c.ofTenant.Value.Items {
			out = append(out, c.ofTenant.Value.Items[i].Name)
		}
	}
	slices.Sort(out)
	return out
}

// projected returns a volume with all files of the ConfigMaps.
func projected(configMaps []string) corev1.VolumeSource {
	from := &corev1.ProjectedVolumeSource{DefaultMode: ptr.To[int32](420)}
	for _, name := range configMaps {
		from.Sources = append(from.Sources, corev1.VolumeProjection{
			ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
		})
	}
	return corev1.VolumeSource{Projected: from}
}

// merge merges the CA certificates for MLflow.
func (obs Observation) merge() (string, error) {
	bundle := bundleOf(obs.hub)
	if bundle == nil {
		return obs.fetched.authorities.Merge(), nil
	}
	text := ""
	if found := obs.fetched.userBundle.Value; found != nil {
		text = found.Data[keyOf(bundle)]
	}
	if strings.TrimSpace(text) == "" {
		return "", fmt.Errorf("spec.mlflow.tls.caBundle: ConfigMap %s has nothing under the key %s", bundle.Name, keyOf(bundle))
	}
	return obs.fetched.authorities.Merge(text), nil
}

func keyOf(bundle *v1.CABundle) string {
	if bundle.Key == "" {
		return bundleKey
	}
	return bundle.Key
}
