package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/internal/installed"
	v1 "github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
)

// TestInstalled checks that the operator and its conversion webhook run with only the files of the installation.
func TestInstalled(t *testing.T) {
	installed.Run(t, trustyai(), []string{"config/foreign"}, func(t *testing.T, c client.Client) {
		writtenByBothVersions(t, c)
		hubsReachOnlyWhoAdmitsThem(t, c)
	})
}

// writtenByBothVersions checks that fields set by a user remain after the operator has reconciled the object and after a
// write in the older version, including fields that the older version does not have.
func writtenByBothVersions(t *testing.T, c client.Client) {
	t.Helper()
	const namespace = "versions"
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "opendatahub", Name: images.ConfigMap},
			Data:       map[string]string{images.Service: "img/tas:1", images.Proxy: "img/krp:1", images.EvalHub: "img/eh:1"},
		},
	} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	for kind, spec := range map[string]map[string]any{
		"EvalHub": {
			"database": map[string]any{"type": "sqlite", "maxOpenConns": int64(1), "maxIdleConns": int64(0)}, "replicas": int64(1),
			"providers": []any{}, "collections": []any{}, "env": []any{}, "tenancy": "single",
			"otel": map[string]any{
				"exporterType": "stdout", "samplingRatio": "0", "exporterInsecure": false, "enableTracing": false,
				"enableJobContainerLogs": false, "serviceName": "mine",
			},
			"mlflow": map[string]any{"tls": map[string]any{"caBundle": map[string]any{"name": "mine", "key": "ca"}}},
			"mcp":    map[string]any{"enabled": false, "transport": "http", "env": []any{}},
		},
		"TrustyAIService": {
			"storage": map[string]any{"format": "PVC", "size": "1Gi"}, "data": map[string]any{}, "replicas": int64(0),
			"metrics": map[string]any{"schedule": "5s", "batchSize": int64(0)},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
			object.SetGroupVersionKind(v1.GroupVersion.WithKind(kind))
			object.SetNamespace(namespace)
			object.SetName("mine")
			if err := c.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			patiently(t, func() error {
				seen := read(t, c, object, v1.GroupVersion)
				if phase, _, _ := unstructured.NestedString(seen.Object, "status", "phase"); phase == "" || len(seen.GetFinalizers()) == 0 {
					return fmt.Errorf("the operator has not observed it: %v", seen.Object["status"])
				}
				return nil
			})
			patiently(t, func() error {
				older := read(t, c, object, v1alpha1.GroupVersion)
				older.SetLabels(map[string]string{"written": "by-the-older-version"})
				return c.Update(t.Context(), older)
			})
			after := read(t, c, object, v1.GroupVersion)
			if diff := cmp.Diff(spec, after.Object["spec"]); diff != "" {
				t.Errorf("the spec changed (-before +after):\n%s", diff)
			}
			if after.GetGeneration() != 1 || after.GetLabels()["written"] == "" || after.GetAnnotations()["trustyai.opendatahub.io/v1-fields"] != "" {
				t.Errorf("its generation is %d, its metadata are %v", after.GetGeneration(), after.Object["metadata"])
			}
		})
	}
}

// hubsReachOnlyWhoAdmitsThem checks that the installed roles do not let an account with edit create hubs, and that a hub
// gets permissions in the namespace of a tenant only if the tenant admits it, it is ready, and it owns its service
// account. The RBAC authorizer of the API server decides.
func hubsReachOnlyWhoAdmitsThem(t *testing.T, c client.Client) {
	t.Helper()
	const team, victim, editor = "editors", "victim", "ada"
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: victim, Labels: map[string]string{tenantLabel: ""}}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "planted-service"}},
	} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	letEdit(t, c, team, editor)
	may := func(user, namespace, verb, group, resource string) bool {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               user,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: group, Resource: resource},
		}}
		if err := c.Create(t.Context(), review); err != nil {
			t.Fatal(err)
		}
		return review.Status.Allowed
	}
	if !may(editor, team, "create", "", "configmaps") {
		t.Error("the account lacks the permissions of edit")
	}
	for _, resource := range []string{"evalhubs", "trustyaiservices", "guardrailsorchestrators", "nemoguardrails", "lmevaljobs"} {
		if may(editor, team, "create", v1.GroupVersion.Group, resource) {
			t.Errorf("an account with edit may create %s", resource)
		}
	}

	reaches := func(hub string) bool {
		return may("system:serviceaccount:"+team+":"+hub+"-service", victim, "get", "", "secrets")
	}
	never := func(hub, when string) {
		t.Helper()
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			if reaches(hub) {
				t.Fatalf("the hub %s reaches the tenant %s", hub, when)
			}
		}
	}
	for _, name := range []string{"hub", "planted"} {
		createHub(t, c, team, name)
		ready := func(replicas int32) func() error {
			return func() error { return makeReady(t.Context(), c, team, name, replicas) }
		}
		if name == "planted" {
			admit(t, c, victim, team+"/"+name)
			never(name, "with an account that a user has created")
			if err := ready(1)(); client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
			never(name, "with an account that a user has created, and when it is ready")
			continue
		}
		patiently(t, ready(0))
		never(name, "of a namespace that does not admit the hub")
		admit(t, c, victim, team+"/"+name)
		never(name, "before it is ready")
		patiently(t, ready(1))
		patiently(t, func() error {
			if !reaches(name) {
				return errors.New("the hub does not reach the tenant that admits it")
			}
			return nil
		})
		admit(t, c, victim, "")
		patiently(t, func() error {
			if reaches(name) {
				return errors.New("the hub still reaches the tenant")
			}
			return nil
		})
	}
}

// letEdit binds the permissions that roles add to edit, because no controller manager runs to aggregate them.
func letEdit(t *testing.T, c client.Client, namespace, user string) {
	t.Helper()
	var added rbacv1.ClusterRoleList
	if err := c.List(t.Context(), &added, client.MatchingLabels{"rbac.authorization.k8s.io/aggregate-to-edit": "true"}); err != nil {
		t.Fatal(err)
	}
	edit := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "edit-of-the-test"}}
	for _, role := range added.Items {
		edit.Rules = append(edit.Rules, role.Rules...)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: edit.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if err := errors.Join(c.Create(t.Context(), edit), c.Create(t.Context(), binding)); err != nil {
		t.Fatal(err)
	}
}

// createHub creates a hub with a client whose scheme lacks the kind.
func createHub(t *testing.T, c client.Client, namespace, name string) {
	t.Helper()
	hub := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"database": map[string]any{"type": "sqlite"}, "providers": []any{}, "collections": []any{},
	}}}
	hub.SetGroupVersionKind(v1.GroupVersion.WithKind("EvalHub"))
	hub.SetNamespace(namespace)
	hub.SetName(name)
	if err := c.Create(t.Context(), hub); err != nil {
		t.Fatal(err)
	}
}

// makeReady sets the number of ready pods of a hub's server.
func makeReady(ctx context.Context, c client.Client, namespace, hub string, replicas int32) error {
	server := &appsv1.Deployment{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: hub}, server); err != nil {
		return err
	}
	server.Status = appsv1.DeploymentStatus{ObservedGeneration: server.Generation, Replicas: replicas, ReadyReplicas: replicas}
	return c.Status().Update(ctx, server)
}

// admit sets the hubs that a tenant admits.
func admit(t *testing.T, c client.Client, namespace, hubs string) {
	t.Helper()
	if err := c.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, client.RawPatch(types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"evalhub.trustyai.opendatahub.io/hubs":"`+hubs+`"}}}`))); err != nil {
		t.Fatal(err)
	}
}

// read reads an object in a version.
func read(t *testing.T, c client.Client, object *unstructured.Unstructured, version schema.GroupVersion) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(version.WithKind(object.GetKind()))
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), out); err != nil {
		t.Fatal(err)
	}
	return out
}

func patiently(t *testing.T, try func() error) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		switch err := try(); {
		case err == nil:
			return
		case time.Now().After(end):
			t.Fatal(err)
		}
	}
}
