package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/internal/process"
)

// expect waits until the expectation holds. It reads absent objects only after the operator has reconciled the changes
// of the step.
func (p *player) expect(e expectation) {
	p.Helper()
	if e.Error != "" {
		p.errors = append(p.errors, e.Error)
	}
	p.eventually(func() error {
		if reported := strings.Trim(strconv.Quote(e.Error), `"`); !strings.Contains(p.log.String()[p.logged:], reported) {
			return fmt.Errorf("the log of this step has no %s", reported)
		}
		if e.Result.Calls != nil && p.mesh.server != nil {
			if err := p.called(e.Result.Calls); err != nil {
				return err
			}
		}
		for _, want := range e.Exist {
			given := &unstructured.Unstructured{Object: want}
			got, err := p.get(given)
			if err != nil {
				return err
			}
			if err := match(given.GetKind(), want, got); err != nil {
				return err
			}
		}
		for _, field := range e.Fields {
			got, err := p.get(p.object(field.Ref))
			if err != nil {
				return err
			}
			if err := compare(field.Ref+" "+field.Path, field.Equals, field.Base64JSON, at(got, field.Path)); err != nil {
				return err
			}
		}
		for _, ref := range e.Absent {
			if _, err := p.get(p.object(ref)); !apierrors.IsNotFound(err) {
				return errors.Join(fmt.Errorf("%s exists", ref), err)
			}
		}
		return nil
	})
	if e.Result.Calls != nil && p.mesh.server == nil { // no call arrives while no server listens, but the next one will
		p.mesh.serve(p.T)
		p.nudge()
		p.eventually(func() error { return p.called(e.Result.Calls) })
	}
	if len(e.Absent) > 0 && p.metrics != "" {
		process.AwaitQueues(p.T, p.metrics, time.Minute)
		for _, ref := range e.Absent {
			if _, err := p.get(p.object(ref)); !apierrors.IsNotFound(err) {
				p.Fatalf("%s exists (%v)", ref, err)
			}
		}
	}
}

// get reads an object and removes the labels and annotations of the engine.
func (p *player) get(named *unstructured.Unstructured) (map[string]any, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(named.GroupVersionKind())
	if err := p.Get(p.Context(), client.ObjectKeyFromObject(named), u); err != nil {
		return nil, err
	}
	for _, of := range []string{"labels", "annotations"} {
		all, _, _ := unstructured.NestedMap(u.Object, "metadata", of)
		for key := range all {
			if strings.HasPrefix(key, "applyset.kubernetes.io/") || strings.HasPrefix(key, "reconcilekit.dev/") {
				unstructured.RemoveNestedField(u.Object, "metadata", of, key)
			}
		}
	}
	return u.Object, nil
}
