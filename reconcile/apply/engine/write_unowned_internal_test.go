package engine

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestUnownedFields(t *testing.T) {
	for name, tc := range map[string]struct {
		live, fresh, owned, plan string
		near                     []string
		want                     []string
		fields                   string
	}{
		"a default of another strategy": {
			live:  `{"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}}`,
			fresh: `{"spec":{"strategy":{"type":"Recreate"}}}`, owned: `{"f:spec":{"f:strategy":{"f:type":{}}}}`,
			want: []string{".spec.strategy.rollingUpdate"}, fields: `{"f:spec":{"f:strategy":{"f:rollingUpdate":{}}}}`,
		},
		"a default of another image": {
			live:  `{"spec":{"containers":[{"name":"c","image":"a","imagePullPolicy":"Always"}]}}`,
			fresh: `{"spec":{"containers":[{"name":"c","image":"a","imagePullPolicy":"IfNotPresent"}]}}`,
			owned: `{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:image":{}}}}}`,
			want:  []string{`.spec.containers[name="c"].imagePullPolicy`}, fields: `{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{"f:imagePullPolicy":{}}}}}`,
		},
		"the same default":      {live: `{"spec":{"a":1}}`, fresh: `{"spec":{"a":1}}`, owned: `{}`},
		"an owned field":        {live: `{"spec":{"a":1}}`, fresh: `{"spec":{"a":2}}`, owned: `{"f:spec":{"f:a":{}}}`},
		"below an atomic field": {live: `{"spec":{"a":{"b":1}}}`, fresh: `{"spec":{"a":{"b":2}}}`, owned: `{"f:spec":{"f:a":{}}}`},
		"an allocated field":    {live: `{"spec":{"clusterIP":"1"}}`, fresh: `{"spec":{"clusterIP":"2"}}`, owned: `{}`},
		"a headless Service": {
			live: `{"spec":{"clusterIP":"None","clusterIPs":["None"]}}`, fresh: `{"spec":{"clusterIP":"2","clusterIPs":["2"]}}`, owned: `{}`,
			want: []string{".spec.clusterIP", ".spec.clusterIPs"}, fields: `{"f:spec":{"f:clusterIP":{},"f:clusterIPs":{}}}`,
		},
		"a port that a new object has as well": {live: `{"spec":{"nodePort":1}}`, fresh: `{"spec":{"nodePort":2}}`, owned: `{}`},
		"a port that a new object has not": {
			live: `{"spec":{"nodePort":1}}`, fresh: `{"spec":{}}`, owned: `{}`, want: []string{".spec.nodePort"}, fields: `{"f:spec":{"f:nodePort":{}}}`,
		},
		"below an object that the plan has empty": {
			live: `{"spec":{"a":{"b":1}}}`, fresh: `{"spec":{"a":{}}}`, owned: `{"f:spec":{"f:a":{}}}`, plan: `{"spec":{"a":{}}}`,
			want: []string{".spec.a.b"}, fields: `{"f:spec":{"f:a":{"f:b":{}}}}`,
		},
		"next to a missing default": {
			live: `{"spec":{"a":{"b":1}}}`, fresh: `{"spec":{"a":{"b":1,"c":1}}}`, owned: `{}`,
			want: []string{".spec.a.b"}, fields: `{"f:spec":{"f:a":{"f:b":{}}}}`,
		},
		"metadata and status": {live: `{"metadata":{"uid":"1"},"status":{"a":1}}`, fresh: `{"metadata":{"uid":"2"}}`, owned: `{}`},
		"a field that a new object has and the live one has not": {live: `{"spec":{}}`, fresh: `{"spec":{"a":1}}`, owned: `{}`},
		"fields far from the refusal": {
			live: `{"spec":{"a":{"b":1,"c":1},"d":1}}`, fresh: `{"spec":{"a":{}}}`, owned: `{}`, near: []string{"spec.a.b"},
			want: []string{".spec.a.b", ".spec.a.c"}, fields: `{"f:spec":{"f:a":{"f:b":{},"f:c":{}}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var causes []metav1.StatusCause
			for _, field := range tc.near {
				causes = append(causes, metav1.StatusCause{Field: field})
			}
			if tc.plan == "" {
				tc.plan = "{}"
			}
			if tc.fields == "" {
				tc.fields = "{}"
			}
			got := unownedFields(unownedPart{live: object(t, tc.live), fresh: object(t, tc.fresh), owned: object(t, tc.owned), plan: object(t, tc.plan)}, nearCauses(causes))
			if diff := cmp.Diff(tc.want, got.paths()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(object(t, tc.fields), got.fields); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCurable(t *testing.T) {
	resource := schema.GroupResource{Resource: "things"}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"invalid":           {apierrors.NewInvalid(schema.GroupKind{Kind: "Thing"}, "x", nil), true},
		"an internal error": {apierrors.NewInternalError(errors.New("x")), true},
		"forbidden":         {apierrors.NewForbidden(resource, "x", nil), false},
		"a conflict":        {apierrors.NewConflict(resource, "x", nil), false},
		"not found":         {apierrors.NewNotFound(resource, "x"), false},
		"too many requests": {apierrors.NewTooManyRequests("x", 1), false},
		"no answer":         {errors.New("x"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isCurable(tc.err); got != tc.want {
				t.Errorf("got %t; want %t", got, tc.want)
			}
		})
	}
}
