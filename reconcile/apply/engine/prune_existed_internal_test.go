package engine

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func TestExistedBefore(t *testing.T) {
	start := time.Now()
	members := func(planned bool, n int, after time.Duration) []memberObject {
		out := make([]memberObject, n)
		for i := range out {
			out[i] = memberObject{planned: planned, created: start.Add(after)}
		}
		return out
	}
	for name, tc := range map[string]struct {
		surplus, planned []memberObject
		known            int
		restarted        bool
		want             int
	}{
		"nothing is replaced":                        {members(false, 2, 0), members(true, 6, 0), 6, false, 8},
		"all are replaced in this process":           {members(false, 8, 0), members(true, 8, 0), 0, false, 8},
		"all were replaced before a restart":         {members(false, 8, 0), members(true, 8, time.Hour), 8, true, 8},
		"all were created together before a restart": {members(false, 2, 0), members(true, 6, time.Second), 6, true, 8},
		"one was created again before a restart": {
			append(members(false, 7, 0), members(false, 1, time.Hour)...), members(true, 8, time.Hour+time.Second), 8, true, 8,
		},
		"nothing is surplus after a restart": {nil, members(true, 6, time.Hour), 6, true, 6},
	} {
		t.Run(name, func(t *testing.T) {
			if got := existedBefore(append(tc.surplus, tc.planned...), tc.known, tc.restarted); got != tc.want {
				t.Errorf("got %d; want %d", got, tc.want)
			}
		})
	}
}

func TestMadeByAnother(t *testing.T) {
	since := time.Now()
	for name, tc := range map[string]struct {
		member memberObject
		want   bool
	}{
		"created later, never seen":             {memberObject{uid: "new", unknown: true, created: since.Add(time.Second)}, true},
		"created later by this process":         {memberObject{uid: "new", created: since.Add(time.Second)}, false},
		"created before":                        {memberObject{uid: "new", unknown: true, created: since.Add(-time.Second)}, false},
		"there when the plan was made, by list": {memberObject{uid: "old", unknown: true, created: since.Add(time.Second)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := madeByAnother(tc.member, since, map[types.UID]struct{}{"old": {}}); got != tc.want {
				t.Errorf("got %t; want %t", got, tc.want)
			}
		})
	}
}

func TestCreatedOnce(t *testing.T) {
	entry := func(manager string, operation metav1.ManagedFieldsOperationType) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation}
	}
	with := func(e metav1.ManagedFieldsEntry, fields string) metav1.ManagedFieldsEntry {
		e.FieldsV1 = metav1.NewFieldsV1(fields)
		return e
	}
	applied := entry("us", metav1.ManagedFieldsOperationApply)
	marks, restored := with(applied, `{"f:metadata":{"f:labels":{}}}`), entry("velero", metav1.ManagedFieldsOperationUpdate)
	for name, tc := range map[string]struct {
		entries []metav1.ManagedFieldsEntry
		want    bool
	}{
		"adopted from a backup":                          {[]metav1.ManagedFieldsEntry{with(restored, `{"f:data":{}}`), marks}, true},
		"adopted from a backup, in a shortened cache":    {[]metav1.ManagedFieldsEntry{restored, marks}, true},
		"only metadata is planned, and there is no data": {[]metav1.ManagedFieldsEntry{with(restored, `{"f:metadata":{}}`), marks}, false},
		"content applied":                                {[]metav1.ManagedFieldsEntry{with(restored, `{"f:data":{}}`), with(applied, `{"f:metadata":{},"f:data":{}}`)}, false},
		"created and never applied":                      {[]metav1.ManagedFieldsEntry{entry("us", metav1.ManagedFieldsOperationUpdate)}, true},
		"applied":                                        {[]metav1.ManagedFieldsEntry{entry("us", metav1.ManagedFieldsOperationUpdate), entry("us", metav1.ManagedFieldsOperationApply)}, false},
		"of another manager":                             {[]metav1.ManagedFieldsEntry{entry("them", metav1.ManagedFieldsOperationUpdate)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := createdOnce(tc.entries, "us"); got != tc.want {
				t.Errorf("got %t; want %t", got, tc.want)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	role := schema.GroupKind{Group: rbacGroup, Kind: "Role"}
	for name, tc := range map[string]struct {
		kind    schema.GroupKind
		content string
		want    []reference
	}{
		"the account of a Deployment, in both fields": {
			schema.GroupKind{Group: "apps", Kind: "Deployment"},
			`{"spec":{"template":{"spec":{"serviceAccountName":"a","serviceAccount":"b","containers":[{"name":"c"}]}}}}`,
			[]reference{{kind: serviceAccounts, name: "a"}, {kind: serviceAccounts, name: "b"}},
		},
		"what a CronJob mounts and reads": {
			schema.GroupKind{Group: "batch", Kind: "CronJob"},
			`{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"imagePullSecrets":[{"name":"pull"}],
			"volumes":[{"configMap":{"name":"m"}},{"secret":{"secretName":"s"}},{"persistentVolumeClaim":{"claimName":"p"}},{"projected":{"sources":[{"configMap":{"name":"n"}}]}}],
			"containers":[{"env":[{"valueFrom":{"secretKeyRef":{"name":"k"}}}],"envFrom":[{"configMapRef":{"name":"e"}}]}]}}}}}}`,
			[]reference{
				{kind: secrets, name: "pull"},
				{kind: configMaps, name: "m"},
				{kind: secrets, name: "s"},
				{kind: claims, name: "p"},
				{kind: configMaps, name: "n"},
				{kind: secrets, name: "k"},
				{kind: configMaps, name: "e"},
			},
		},
		"nothing that may be missing": {
			schema.GroupKind{Kind: "Pod"},
			`{"spec":{"containers":[{"envFrom":[{"configMapRef":{"name":"e","optional":true}}]}],"volumes":[{"secret":{"secretName":"s","optional":true}}]}}`, nil,
		},
		"the role and the accounts of a binding": {
			schema.GroupKind{Group: rbacGroup, Kind: "RoleBinding"},
			`{"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"ServiceAccount","name":"a","namespace":"n"},{"kind":"User","name":"u"}]}`,
			[]reference{{kind: role, name: "r"}, {kind: serviceAccounts, namespace: "n", name: "a"}},
		},
		"the backends of an Ingress": {
			schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"},
			`{"spec":{"defaultBackend":{"service":{"name":"d"}},"tls":[{"secretName":"t"}],"rules":[{"http":{"paths":[{"backend":{"service":{"name":"s"}}}]}}]}}`,
			[]reference{{kind: services, name: "d"}, {kind: secrets, name: "t"}, {kind: services, name: "s"}},
		},
		"the backends of an HTTPRoute": {
			schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"},
			`{"spec":{"rules":[{"backendRefs":[{"name":"s"},{"group":"x","kind":"Pool","namespace":"n","name":"p"}]}]}}`,
			[]reference{{kind: services, name: "s"}, {kind: schema.GroupKind{Group: "x", Kind: "Pool"}, namespace: "n", name: "p"}},
		},
		"nothing of another kind": {schema.GroupKind{Kind: "ConfigMap"}, `{"data":{"serviceAccountName":"a"}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			content := map[string]any{}
			if err := json.Unmarshal([]byte(tc.content), &content); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, references(tc.kind, content), cmp.AllowUnexported(reference{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
