package checker_test

import (
	"errors"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
)

// scaled is an operator whose first reconciliation scales its Deployment to each of the replicas in turn.
func scaled(replicas ...int32) operator {
	return func(p pass) error {
		if p.number > 1 {
			return nil
		}
		labels := map[string]string{"app": "web"}
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
			Replicas: &replicas[0], Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
		}}
		if err := p.create(deployment); err != nil {
			return err
		}
		for _, n := range replicas[1:] {
			if err := p.Patch(p, deployment, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n))); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestCheckSteady(t *testing.T) {
	t.Parallel()
	const password = "correct-horse"
	given := func(s *description.System) { s.Given = []client.Object{configMap("of-others", password)} }
	made := func(then operator) operator {
		return func(p pass) error {
			if err := p.create(secret("db", "password", password)); err != nil {
				return err
			}
			return then(p)
		}
	}
	for name, c := range map[string]struct {
		operator operator
		change   func(*description.System)
		want     string
	}{
		"nothing":                    {func(pass) error { return nil }, nil, ""},
		"ready":                      {func(p pass) error { return p.ready(p.owner.Generation, "") }, nil, ""},
		"of an older generation":     {func(p pass) error { return p.ready(7, "") }, nil, "[status] Widget.test.reconcilekit.dev default/web is in steady state with the generation 1, and status.observedGeneration is 7"},
		"a panic":                    {func(pass) error { panic("no such label") }, nil, "[panic] a pass panics: panic: no such label [recovered]"},
		"a permanent error":          {func(pass) error { return errors.New("no backup") }, nil, "[rest] the passes for default/web keep failing: no backup"},
		"an error, with permissions": {func(pass) error { return errors.New("no backup") }, func(s *description.System) { s.Rules = everything() }, ""},
		"scaled down":                {scaled(2, 0), nil, ""},
		"scaled up":                  {scaled(0, 2), nil, ""},
		"scaled down and up":         {scaled(2, 0, 3), nil, "[damage] Deployment.apps default/web is scaled to 0 and to 3 again, without a fault"},
		"a secret":                   {made(func(pass) error { return nil }), nil, ""},
		"a secret in an object":      {made(func(p pass) error { return p.create(configMap("copy", "it is "+password)) }), nil, "[leak] ConfigMap default/copy shows the value of Secret default/db data.password"},
		"a secret of another owner":  {made(func(pass) error { return nil }), given, ""},
		"a secret in a status":       {made(func(p pass) error { return p.ready(p.owner.Generation, password) }), nil, "[leak] Widget.test.reconcilekit.dev default/web shows the value of Secret default/db data.password"},
		"a secret in the log":        {made(func(p pass) error { return logged(p, password) }), nil, "[leak] the log shows the value of Secret default/db data.password"},
		"a secret in an event": {made(func(p pass) error {
			p.events.Event(p.owner, "Normal", "Made", password)
			return nil
		}), nil, "[leak] an event of Widget.test.reconcilekit.dev default/web shows the value of Secret default/db data.password"},
		"no secret, by its key": {func(p pass) error {
			if err := p.create(secret("db", "user", password)); err != nil {
				return err
			}
			return p.create(configMap("copy", password))
		}, nil, ""},
		"too short for a secret": {func(p pass) error {
			if err := p.create(secret("db", "password", "short")); err != nil {
				return err
			}
			return p.create(configMap("copy", "short"))
		}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, r := execute(t, c.operator, c.change)
			j.CheckSteady("no fault, A", r)
			wants(t, j, c.want)
		})
	}
}

// TestLeakOfRandomValue checks that a random value counts as a secret, whatever its key is.
func TestLeakOfRandomValue(t *testing.T) {
	t.Parallel()
	j, r := execute(t, func(p pass) error {
		if err := p.create(secret("db", "user", "drawn-at-random")); err != nil {
			return err
		}
		return p.create(configMap("copy", "drawn-at-random"))
	}, nil)
	j.Random["Secret default/db"] = map[string]bool{"data.user": true}
	j.CheckSteady("no fault, A", r)
	wants(t, j, "[leak] ConfigMap default/copy shows the value of Secret default/db data.user")
}

// TestTemporaryLeak checks that intermediate statuses of a run with a fault are checked, too.
func TestTemporaryLeak(t *testing.T) {
	t.Parallel()
	j, r := execute(t, func(p pass) error {
		if err := p.create(secret("db", "password", "correct-horse")); err != nil {
			return err
		}
		if len(p.owner.Status.Conditions) == 0 {
			return p.ready(p.owner.Generation, "cannot log in with correct-horse")
		}
		return p.ready(p.owner.Generation, "")
	}, nil)
	j.CheckSteady("no fault, A", r)
	wants(t, j, "")
	j.CheckLeaks("A: error", r)
	wants(t, j, "[leak] the status of Widget.test.reconcilekit.dev default/web shows the value of Secret default/db data.password")
}

// TestCheckRefused checks requests that the API server rejects as invalid until the end of the run.
func TestCheckRefused(t *testing.T) {
	t.Parallel()
	port := func(p int32) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{
			Ports: []corev1.ServicePort{{Port: p, TargetPort: intstr.FromInt32(80)}},
		}}
	}
	for name, c := range map[string]struct {
		operator operator
		want     string
	}{
		"a valid object":    {func(p pass) error { return p.create(port(80)) }, ""},
		"an invalid object": {func(p pass) error { return p.create(configMap("Not_A_Name", "")) }, "[refused] the API server refuses create configmaps default/Not_A_Name: "},
		"only in the first reconciliation": {func(p pass) error {
			if p.number == 1 {
				_ = p.create(configMap("a", "red"))
				return p.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "b", Labels: map[string]string{"a": "-"}}})
			}
			return p.create(configMap("b", "red"))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, r := execute(t, c.operator, nil)
			j.CheckRefused("no fault, A", r)
			wants(t, j, c.want)
		})
	}
}
