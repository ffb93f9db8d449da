package inspect_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/internal/vectors"
)

func TestReplicaSet(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]object{
		"ready":        {`{"spec":{"replicas":2},"status":{"replicas":2,"availableReplicas":2}}`, "Ready ReplicaSetReady: ReplicaSet is available"},
		"not observed": {`{"metadata":{"generation":1},"status":{}}`, "Progressing GenerationNotObserved: ReplicaSet controller has not observed the latest generation"},
		"unavailable":  {`{"spec":{"replicas":2},"status":{"replicas":2,"availableReplicas":1}}`, "Progressing ReplicasUnavailable: 1 of 2 replicas are available"},
		"too many":     {`{"spec":{"replicas":1},"status":{"replicas":2,"availableReplicas":2}}`, "Progressing ScalingDown: 1 replicas too many"},
		"zero":         {`{"spec":{"replicas":0},"status":{}}`, "Ready ScaledToZero: ReplicaSet is scaled to zero"},
		"refused": {
			`{"spec":{"replicas":1},"status":{"conditions":[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"no service account"}]}}`,
			"Failed FailedCreate: no service account",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := inspected(t, &appsv1.ReplicaSet{}, "apps/v1", "ReplicaSet", o.json); got != o.want {
				t.Errorf("got %s, want %s", got, o.want)
			}
		})
	}
}

func TestPodDisruptionBudget(t *testing.T) {
	t.Parallel()
	allowed := func(status, reason string) string {
		return fmt.Sprintf(`{"status":{"conditions":[{"type":"DisruptionAllowed","status":"%s","reason":"%s","message":"why"}]}}`, status, reason)
	}
	for name, o := range map[string]object{
		"allowed":      {allowed("True", "SufficientPods"), "Ready Exists: PodDisruptionBudget exists"},
		"few pods":     {allowed("False", "InsufficientPods"), "Ready Exists: PodDisruptionBudget exists"},
		"failed":       {allowed("False", "SyncFailed"), "Degraded SyncFailed: why"},
		"not observed": {`{"metadata":{"generation":2},"status":{"observedGeneration":1}}`, "Progressing GenerationNotObserved: PodDisruptionBudget controller has not observed the latest generation"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := inspected(t, &policyv1.PodDisruptionBudget{}, "policy/v1", "PodDisruptionBudget", o.json); got != o.want {
				t.Errorf("got %s, want %s", got, o.want)
			}
		})
	}
}

func TestKindsOfTheAPIServer(t *testing.T) {
	t.Parallel()
	const (
		definition  = `"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition"`
		service     = `"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService"`
		accepted    = `{"type":"NamesAccepted","status":"True","reason":"NoConflicts"}`
		conflict    = `{"type":"NamesAccepted","status":"False","reason":"PluralConflict","message":"taken"}`
		established = `{"type":"Established","status":"True","reason":"InitialNamesAccepted"}`
		installing  = `{"type":"Established","status":"False","reason":"Installing","message":"wait"}`
	)
	for name, o := range map[string]object{
		"definition, new":                          {`{` + definition + `}`, "Progressing ConditionMissing: CustomResourceDefinition does not report Established yet"},
		"definition, accepted":                     {`{` + definition + `,"status":{"conditions":[` + accepted + `]}}`, "Progressing ConditionMissing: CustomResourceDefinition does not report Established yet"},
		"definition, installing":                   {`{` + definition + `,"status":{"conditions":[` + accepted + `,` + installing + `]}}`, "Progressing Installing: wait"},
		"definition, established":                  {`{` + definition + `,"status":{"conditions":[` + accepted + `,` + established + `]}}`, "Ready Established: CustomResourceDefinition is established"},
		"definition, conflict":                     {`{` + definition + `,"status":{"conditions":[` + established + `,` + conflict + `]}}`, "Failed PluralConflict: taken [InvalidSpec]"},
		"service, new":                             {`{` + service + `}`, "Progressing ConditionMissing: APIService does not report Available yet"},
		"service, available":                       {`{` + service + `,"status":{"conditions":[{"type":"Available","status":"True","reason":"Passed","message":"all"}]}}`, "Ready Passed: all"},
		"service, unavailable":                     {`{` + service + `,"status":{"conditions":[{"type":"Available","status":"False","reason":"MissingEndpoints","message":"none"}]}}`, "NotAvailable MissingEndpoints: none"},
		"a kind of the same name in another group": {`{"apiVersion":"example.com/v1","kind":"APIService"}`, "Ready Exists: APIService exists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := &unstructured.Unstructured{}
			vectors.Decode(t, []byte(o.json), &u.Object)
			if got := summary(inspect.Of(u)); got != o.want {
				t.Errorf("got %s, want %s", got, o.want)
			}
		})
	}
}

// TestTypedDefinition checks a typed object without apiVersion and kind.
func TestTypedDefinition(t *testing.T) {
	t.Parallel()
	got := summary(inspect.Of(&apiextensionsv1.CustomResourceDefinition{}))
	if want := "Progressing ConditionMissing: CustomResourceDefinition does not report Established yet"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestGrowingClaim checks that a bound claim is ready when it has the requested size and class.
func TestGrowingClaim(t *testing.T) {
	t.Parallel()
	claim := func(status string) string {
		return `{"spec":{"resources":{"requests":{"storage":"20Gi"}}},"status":{"phase":"Bound","capacity":{"storage":"10Gi"}` + status + `}}`
	}
	resize := func(status string) string { return `,"allocatedResourceStatuses":{"storage":"` + status + `"}` }
	condition := func(kind, status string) string {
		return fmt.Sprintf(`,"conditions":[{"type":"%s","status":"%s","message":"why"}]`, kind, status)
	}
	classes := func(status string) string {
		return `{"spec":{"volumeAttributesClassName":"gold"},"status":{"phase":"Bound","currentVolumeAttributesClassName":"silver"` + status + `}}`
	}
	modify := func(status, class string) string {
		return `,"modifyVolumeStatus":{"status":"` + status + `","targetVolumeAttributesClassName":"` + class + `"}`
	}
	const growing = "Progressing PvcResizing: PVC has 10Gi of 20Gi"
	for name, o := range map[string]object{
		"has the requested size":           {`{"spec":{"resources":{"requests":{"storage":"20Gi"}}},"status":{"phase":"Bound","capacity":{"storage":"20Gi"}}}`, "Ready PvcBound: PVC is bound"},
		"has more than the requested size": {`{"spec":{"resources":{"requests":{"storage":"20Gi"}}},"status":{"phase":"Bound","capacity":{"storage":"20480Mi"}}}`, "Ready PvcBound: PVC is bound"},
		"rolled back":                      {`{"spec":{"resources":{"requests":{"storage":"10Gi"}}},"status":{"phase":"Bound","capacity":{"storage":"10Gi"}` + resize("ControllerResizeInfeasible") + `}}`, "Ready PvcBound: PVC is bound"},
		"not started":                      {claim(""), growing},
		"resizing":                         {claim(condition("Resizing", "True")), growing},
		"in progress":                      {claim(resize("ControllerResizeInProgress")), growing},
		"node pending":                     {claim(resize("NodeResizePending")), growing},
		"node":                             {claim(resize("NodeResizeInProgress")), growing},
		"file system":                      {claim(condition("FileSystemResizePending", "True")), "Progressing PvcFileSystemResizePending: PVC has 10Gi of 20Gi, its file system grows when a pod mounts it"},
		"infeasible":                       {claim(resize("ControllerResizeInfeasible")), "Degraded PvcResizeInfeasible: PVC cannot grow, it has 10Gi of 20Gi [InvalidSpec]"},
		"infeasible with a message":        {claim(resize("NodeResizeInfeasible") + condition("NodeResizeError", "True")), "Degraded PvcResizeInfeasible: PVC cannot grow, it has 10Gi of 20Gi: why [InvalidSpec]"},
		"infeasible before 1.31":           {claim(resize("ControllerResizeFailed")), "Degraded PvcResizeInfeasible: PVC cannot grow, it has 10Gi of 20Gi [InvalidSpec]"},
		"controller error":                 {claim(condition("ControllerResizeError", "True")), "Degraded PvcResizeFailed: PVC has 10Gi of 20Gi, resizing failed: why [Infrastructure]"},
		"node error":                       {claim(resize("NodeResizeInProgress") + condition("NodeResizeError", "True")), "Degraded PvcResizeFailed: PVC has 10Gi of 20Gi, resizing failed: why [Infrastructure]"},
		"error resolved":                   {claim(condition("NodeResizeError", "False")), growing},
		"class":                            {classes(""), "Progressing PvcModifying: PVC does not have the volume attributes class gold yet"},
		"class, pending":                   {classes(modify("Pending", "gold")), "Pending PvcModifyPending: PVC waits for the volume attributes class gold"},
		"class, in progress":               {classes(modify("InProgress", "gold")), "Progressing PvcModifying: PVC does not have the volume attributes class gold yet"},
		"class, infeasible":                {classes(modify("Infeasible", "gold") + condition("ModifyVolumeError", "True")), "Degraded PvcModifyInfeasible: PVC cannot get the volume attributes class gold: why [InvalidSpec]"},
		"class, status of another class":   {classes(modify("Infeasible", "platinum")), "Progressing PvcModifying: PVC does not have the volume attributes class gold yet"},
		"class, error":                     {classes(condition("ModifyVolumeError", "True")), "Degraded PvcModifyFailed: PVC does not have the volume attributes class gold yet: why [Infrastructure]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := inspected(t, &corev1.PersistentVolumeClaim{}, "v1", "PersistentVolumeClaim", o.json); got != o.want {
				t.Errorf("got %s, want %s", got, o.want)
			}
		})
	}
}

// TestDeletedObjectsAreNeverReady sets the deletion timestamp of ready objects.
func TestDeletedObjectsAreNeverReady(t *testing.T) {
	t.Parallel()
	const replicas = `"status":{"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1}`
	for kind, tc := range map[string]struct{ apiVersion, content string }{
		"Deployment":               {"apps/v1", replicas},
		"StatefulSet":              {"apps/v1", replicas},
		"ReplicaSet":               {"apps/v1", replicas},
		"DaemonSet":                {"apps/v1", `"status":{}`},
		"Job":                      {"batch/v1", `"status":{"conditions":[{"type":"Complete","status":"True"}]}`},
		"Pod":                      {"v1", `"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`},
		"Service":                  {"v1", `"status":{}`},
		"PersistentVolumeClaim":    {"v1", `"status":{"phase":"Bound"}`},
		"Namespace":                {"v1", `"status":{"phase":"Active"}`},
		"ConfigMap":                {"v1", `"data":{}`},
		"Ingress":                  {"networking.k8s.io/v1", `"status":{}`},
		"HorizontalPodAutoscaler":  {"autoscaling/v2", `"status":{"conditions":[{"type":"ScalingActive","status":"True"}]}`},
		"HTTPRoute":                {"gateway.networking.k8s.io/v1", `"status":{"parents":[{"conditions":[{"type":"Accepted","status":"True"}]}]}`},
		"PodDisruptionBudget":      {"policy/v1", `"status":{}`},
		"CustomResourceDefinition": {"apiextensions.k8s.io/v1", `"status":{"conditions":[{"type":"Established","status":"True"}]}`},
		"APIService":               {"apiregistration.k8s.io/v1", `"status":{"conditions":[{"type":"Available","status":"True"}]}`},
		"Widget":                   {"example.com/v1", `"status":{"conditions":[{"type":"Ready","status":"True"}]}`},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for metadata, want := range map[string]string{`{}`: "Ready", `{"deletionTimestamp":"2026-01-01T00:00:00Z"}`: "Progressing"} {
				u := &unstructured.Unstructured{}
				vectors.Decode(t, []byte(`{"metadata":`+metadata+`,`+tc.content+`}`), &u.Object)
				u.SetAPIVersion(tc.apiVersion)
				u.SetKind(kind)
				if got := string(inspect.Of(u).GetState()); got != want {
					t.Errorf("metadata %s: got %s, want %s", metadata, got, want)
				}
			}
		})
	}
}
