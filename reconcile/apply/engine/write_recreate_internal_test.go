package engine

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	out := map[string]any{}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func paths(t *testing.T, texts ...string) []fieldset.Path {
	t.Helper()
	var out []fieldset.Path
	for _, text := range texts {
		path, err := fieldset.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, path)
	}
	return out
}

func TestDecideRecreation(t *testing.T) {
	workload := func(kind string) schema.GroupKind { return schema.GroupKind{Group: "apps", Kind: kind} }
	const (
		claims   = `{"spec":{"selector":{"matchLabels":{"a":"1"}},"volumeClaimTemplates":[{"spec":{"size":1}}],"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"}}}`
		larger   = `{"spec":{"selector":{"matchLabels":{"a":"1"}},"volumeClaimTemplates":[{"spec":{"size":2}}],"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"}}}`
		selector = `{"spec":{"selector":{"matchLabels":{"a":"1"}}}}`
		another  = `{"spec":{"selector":{"matchLabels":{"a":"2"}}}}`
	)
	for name, tc := range map[string]struct {
		kind              schema.GroupKind
		guarded           bool
		fields            []string
		live, plan, fresh string
		own               string
		once              []string
		policy            metav1.DeletionPropagation
		want              recreationVerdict
	}{
		"a new object has the planned value": {
			kind: schema.GroupKind{Kind: "Secret"}, fields: []string{"type"},
			live: `{"type":"a"}`, plan: `{"type":"b"}`, fresh: `{"type":"b"}`, want: recreationVerdict{helps: true},
		},
		"an admission policy sets the value on each create": {
			kind: schema.GroupKind{Kind: "Secret"}, fields: []string{"type"},
			live: `{"type":"policy"}`, plan: `{"type":"b"}`, fresh: `{"type":"policy"}`, want: recreationVerdict{},
		},
		"the value of a new object is not known": {
			kind: schema.GroupKind{Kind: "Secret"}, fields: []string{"type"},
			live: `{"type":"a"}`, plan: `{"type":"b"}`, want: recreationVerdict{helps: true},
		},
		"only a field that was not refused differs": {
			kind: schema.GroupKind{Kind: "Secret"}, fields: []string{"type"},
			live: `{"type":"a","data":{"x":"1"}}`, plan: `{"type":"b","data":{"x":"2"}}`, fresh: `{"type":"a","data":{"x":"2"}}`, want: recreationVerdict{},
		},
		"the refusal names no field": {
			kind: schema.GroupKind{Kind: "Secret"},
			live: `{"type":"a"}`, plan: `{"type":"b"}`, fresh: `{"type":"b"}`, want: recreationVerdict{helps: true},
		},
		"an owned field left the plan": {
			kind: schema.GroupKind{Kind: "Thing"}, fields: []string{"spec"}, own: `{"f:spec":{"f:class":{},"f:size":{}}}`,
			live: `{"spec":{"class":"a","size":1}}`, plan: `{"spec":{"size":1}}`, fresh: `{"spec":{"size":1}}`, want: recreationVerdict{helps: true},
		},
		"a field that the cluster allocates differs": {
			kind: schema.GroupKind{Kind: "Thing"}, fields: []string{"spec"}, own: `{"f:spec":{"f:size":{}}}`,
			live: `{"spec":{"node":"n","size":1}}`, plan: `{"spec":{"size":1}}`, fresh: `{"spec":{"size":1}}`, want: recreationVerdict{},
		},
		"a planned item of a list differs, and an injected item has a generated name": {
			kind: schema.GroupKind{Kind: "Pod"}, guarded: true, fields: []string{"spec"},
			live:  `{"spec":{"containers":[{"name":"c","image":"a","mounts":[{"name":"token-1"}]}]}}`,
			plan:  `{"spec":{"containers":[{"name":"c","image":"b"}]}}`,
			fresh: `{"spec":{"containers":[{"name":"c","image":"b","mounts":[{"name":"token-2"}]}]}}`, want: recreationVerdict{helps: true},
		},
		"only an injected item differs": {
			kind: schema.GroupKind{Kind: "Pod"}, guarded: true, fields: []string{"spec"},
			live:  `{"spec":{"containers":[{"name":"c","image":"a","mounts":[{"name":"token-1"}]}]}}`,
			plan:  `{"spec":{"containers":[{"name":"c","image":"a"}]}}`,
			fresh: `{"spec":{"containers":[{"name":"c","image":"a","mounts":[{"name":"token-2"}]}]}}`, want: recreationVerdict{},
		},
		"a claim holds data": {
			kind: schema.GroupKind{Kind: "PersistentVolumeClaim"}, guarded: true, fields: []string{"spec"},
			live: `{"spec":{"class":"a"}}`, plan: `{"spec":{"class":"b"}}`, fresh: `{"spec":{"class":"b"}}`,
			want: recreationVerdict{helps: true, loses: "objects of this kind hold data"},
		},
		"the Pods and claims of a StatefulSet stay if its selector does": {
			kind: workload("StatefulSet"), fields: []string{"spec"}, live: claims, plan: larger, fresh: larger,
			want: recreationVerdict{helps: true, propagation: metav1.DeletePropagationOrphan},
		},
		"the claims of a StatefulSet are deleted with it": {
			kind: workload("StatefulSet"), fields: []string{"spec"}, live: claims, plan: larger, fresh: larger, policy: metav1.DeletePropagationBackground,
			want: recreationVerdict{helps: true, propagation: metav1.DeletePropagationBackground, loses: "its claims are deleted with it"},
		},
		"the Pods of a Deployment are replaced if the selector changes": {
			kind: workload("Deployment"), fields: []string{"spec.selector"}, live: selector, plan: another, fresh: another, want: recreationVerdict{helps: true},
		},
		"a value that is sent once would be lost": {
			kind: schema.GroupKind{Kind: "Secret"}, fields: []string{"type"}, once: []string{"data.password"},
			live: `{"type":"a","data":{"password":"x"}}`, plan: `{"type":"b"}`, fresh: `{"type":"b"}`,
			want: recreationVerdict{helps: true, loses: "data.password is set once"},
		},
		"a value that is sent once is not there": {
			kind: schema.GroupKind{Kind: "Secret"}, fields: []string{"type"}, once: []string{"data.password"},
			live: `{"type":"a"}`, plan: `{"type":"b"}`, fresh: `{"type":"b"}`, want: recreationVerdict{helps: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := recreation{
				kind: tc.kind, guarded: tc.guarded, fields: tc.fields, policy: tc.policy, once: paths(t, tc.once...),
				live: object(t, tc.live), plan: object(t, tc.plan), fresh: object(t, tc.fresh),
			}
			if tc.own != "" {
				own, err := fieldset.Parse([]byte(tc.own))
				if err != nil {
					t.Fatal(err)
				}
				r.own = own
			}
			if diff := cmp.Diff(tc.want, r.decide(), cmp.AllowUnexported(recreationVerdict{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
