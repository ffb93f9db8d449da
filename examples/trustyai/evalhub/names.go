package evalhub

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/naming"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// names are the names of a hub's objects. The product's names are ambiguous: of hubs that would share names the earliest has them,
// and the names of the others contain a hash.
type names struct {
	name, namespace string
	// pair joins name and namespace, for objects that carry both.
	pair string
	// inTenant is the name for objects in the namespaces of tenants.
	inTenant string
}

// pairIndex is the index of hubs by pair.
const pairIndex = "pair"

func pairOf(hub client.Object) string { return hub.GetName() + "-" + hub.GetNamespace() }

func indexPair(hub client.Object) []string { return []string{norm(pairOf(hub))} }

// nameAll returns the names of all hubs of the list, by their UID.
func nameAll(hubs []v1.EvalHub) map[types.UID]names {
	sorted := make([]*v1.EvalHub, 0, len(hubs))
	for i := range hubs {
		sorted = append(sorted, &hubs[i])
	}
	slices.SortFunc(sorted, func(a, b *v1.EvalHub) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	out, taken := map[types.UID]names{}, map[string]bool{}
	for _, hub := range sorted {
		free := func(kind, name string) string {
			key := kind + norm(name)
			if taken[key] {
				return name + "-" + digest(hub.Namespace+"/"+hub.Name)
			}
			taken[key] = true
			return name
		}
		out[hub.UID] = names{hub.Name, hub.Namespace, free("pair ", pairOf(hub)), free("name ", hub.Name)}
	}
	return out
}

// label returns the label value of objects that belong to a hub without an owner reference.
func (n names) label() string { return norm(n.name + "." + n.namespace) }

// account is the service account of the hub's pods, jobAccount that of its jobs.
func (n names) account() string    { return accountOf(n.name) }
func (n names) jobAccount() string { return norm(n.pair + "-job") }

func accountOf(hub string) string { return long(hub + "-service") }

// host returns the name of a Service of the hub.
func (n names) host(suffix string) string {
	return n.service(suffix) + "." + n.namespace + ".svc.cluster.local"
}

func (n names) url(suffix string) string { return "https://" + n.host(suffix) + ":8443" }

func (n names) service(suffix string) string { return norm(n.name + suffix) }

// long returns a name that may have dots and up to 253 characters.
func long(name string) string { return naming.DNSSubdomain(name) }

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// norm converts any text to a label. The rule must not change, because it must match the names of objects that another operator has
// created.
func norm(text string) string {
	out := strings.Trim(unfit.ReplaceAllString(strings.ToLower(text), "-"), "-")
	if len(out) > 63 {
		out = out[:52] + "-" + digest(text)
	}
	return cmp.Or(out, "x")
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:10]
}

// labels returns the labels of the hub's own objects, jobLabels those of objects that are selected by them.
func (n names) labels() map[string]string {
	return map[string]string{
		"app": "eval-hub", "app.kubernetes.io/name": norm(n.name), "app.kubernetes.io/instance": norm(n.name),
		"app.kubernetes.io/part-of": "eval-hub", "app.kubernetes.io/version": "1.39.0",
	}
}

func (n names) jobLabels() map[string]string {
	out := n.labels()
	out["app.kubernetes.io/component"] = "job"
	out["app.kubernetes.io/managed-by"] = "trustyai-service-operator"
	out["eval-hub.trustyai.opendatahub.io"] = n.label()
	return out
}
