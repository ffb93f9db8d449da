package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestFinalizersOfOthers checks that the operator sends no request for an owner that is being deleted and has only
// finalizers of other controllers, even if it is reconciled.
func TestFinalizersOfOthers(t *testing.T) {
	w := newCluster(t, everyService)
	for _, s := range scenarios(t) {
		if s.Name == "nemo-config-change-rolls-pods" {
			w.configure(t, s.settings())
		}
	}
	for kind, owner := range map[string]struct {
		version string
		spec    map[string]any
	}{
		"TrustyAIService": {"v1", map[string]any{
			"storage": map[string]any{"format": "PVC", "folder": "/data", "size": "1Gi"}, "metrics": map[string]any{"schedule": "5s"},
		}},
		"EvalHub": {
			"v1", map[string]any{"database": map[string]any{"type": "sqlite"}, "providers": []any{}, "collections": []any{}},
		},
		"LMEvalJob":              {"v1alpha1", map[string]any{"model": "hf", "taskList": map[string]any{"taskNames": []any{"task1"}}}},
		"GuardrailsOrchestrator": {"v1alpha1", map[string]any{"replicas": int64(1), "disableOrchestrator": true, "enableBuiltInDetectors": true}},
		"NemoGuardrails":         {"v1alpha1", map[string]any{"nemoConfigs": []any{map[string]any{"name": "c1", "configMaps": []any{"absent"}}}}},
	} {
		t.Run(kind, func(t *testing.T) {
			p := &player{cluster: w, T: t, ns: w.env.Namespace(t)}
			object := &unstructured.Unstructured{Object: map[string]any{"spec": owner.spec}}
			object.SetAPIVersion("trustyai.opendatahub.io/" + owner.version)
			object.SetKind(kind)
			object.SetNamespace(p.ns)
			object.SetName("held")
			object.SetAnnotations(map[string]string{"security.opendatahub.io/enable-auth": "true"}) // adds a ClusterRoleBinding to servers
			p.leaveAlone(object)
		})
	}
}

func (p *player) leaveAlone(object *unstructured.Unstructured) {
	p.Helper()
	const others = "example.com/others"
	object.SetFinalizers([]string{others})
	p.must(p.Create(p.Context(), object))
	finalizers := func(what string, wanted func([]string) bool) {
		p.eventually(what, 20*time.Second, func() error {
			err := p.Get(p.Context(), client.ObjectKeyFromObject(object), object)
			if err == nil && !wanted(object.GetFinalizers()) {
				err = fmt.Errorf("the finalizers are %v, the status is %s", object.GetFinalizers(), text(object.Object["status"]))
			}
			return err
		})
	}
	finalizers("add the operator's finalizer", func(f []string) bool { return len(f) > 1 })
	p.must(p.Delete(p.Context(), object))
	finalizers("remove the operator's finalizer", func(f []string) bool { return slices.Equal(f, []string{others}) })
	log, err := p.env.AuditLog()
	p.must(err)
	p.must(log.Reset())
	p.must(p.Patch(p.Context(), object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"touched":"yes"}}}`))))
	time.Sleep(2 * time.Second)
	sent, err := log.Entries(environment.User(p.user), func(e environment.AuditEntry) bool {
		return e.Namespace == p.ns && (e.Code >= 400 || e.Verb != "get" && e.Verb != "list" && e.Verb != "watch")
	})
	if err != nil || len(sent) > 0 {
		p.Errorf("the operator sent a request for an owner without its finalizer: %s (%v)", sent, err)
	}
	p.must(p.Patch(p.Context(), object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
}
