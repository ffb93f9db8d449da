package search

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/difference"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
)

// another checks the owners together with another one of their kind: the children of the first must not depend on the second.
func (e *explorer) another(ctx context.Context) error {
	if len(e.System.Owners) != 1 || e.System.Singleton != nil || e.End(description.StepA) == nil || e.System.Horizon > 0 {
		return nil
	}
	for _, place := range []string{pairPlace, "in another namespace"} {
		second := e.System.Owners[0].DeepCopyObject().(client.Object) //nolint:forcetypeassert // as above
		if place == pairPlace {
			second.SetName(second.GetName() + "-second")
		} else if gvk, err := apiutil.GVKForObject(second, e.System.Scheme); err != nil {
			return err
		} else if namespaced, err := apiutil.IsGVKNamespaced(gvk, e.Probe.Mapper); err != nil || !namespaced {
			continue
		} else {
			second.SetNamespace("another")
		}
		if refusal := e.refuses(ctx, second); refusal != nil {
			e.alone = refusal
			continue
		}
		pair := e.System
		pair.Owners, pair.Leaves = []client.Object{e.System.Owners[0], second}, 1
		if e.executePair(ctx, place, pair) && place == pairPlace {
			e.Pair = &pair
		}
	}
	if e.Pair == nil {
		e.PairEnd = nil // the two cannot be compared
	}
	return nil
}

const pairPlace = "of another name"

// refuses returns the reason why the API server rejects the owner: a rule may restrict the number or the name.
func (e *explorer) refuses(ctx context.Context, owner client.Object) error {
	owner = owner.DeepCopyObject().(client.Object) //nolint:forcetypeassert // as above
	if _, err := e.Probe.Place(owner); err != nil {
		return nil //nolint:nilerr // the run with both says it
	}
	if err := e.Probe.Client.Create(ctx, owner, client.DryRunAll); apierrors.IsInvalid(err) {
		return err
	}
	return nil
}

const besideName = "no fault, a second owner "

// executePair plays both owners, and then the deletion of the second one.
func (e *explorer) executePair(ctx context.Context, place string, pair description.Prepared) bool {
	name := besideName + place
	e.executed = append(e.executed, name)
	for _, steps := range [][]description.Step{{description.StepA}, {description.StepA, description.StepLess}} {
		r := run.Execute(ctx, pair, run.Spec{Steps: steps, At: len(steps) - 1}, "")
		if r.Last != nil {
			defer r.Last.End()
		}
		if r.Err != nil {
			e.Find(name, finding.CheckRest, "%v", r.Err)
			return false
		}
		if err := e.Learn(r); err != nil {
			return false
		}
		got, err := r.Cluster.State()
		if err != nil {
			return false
		}
		e.Random.Mask(got)
		if len(steps) == 1 && place == pairPlace && r.Last.Scheduler.Overlaps() && e.pairEnd(ctx, pair, r) != nil {
			return false
		}
		want := cluster.State{}
		for object, content := range e.End(description.StepA) {
			want[object] = part(content, len(steps) == 1)
			if got[object] != nil {
				got[object] = beyond(want[object], content, got[object], len(steps) == 1)
			}
		}
		for object := range got {
			if want[object] == nil && (len(steps) == 1 || len(e.System.Outlives) > 0) {
				delete(got, object)
			}
		}
		if diff := difference.Between(want, got); len(diff) > 0 {
			e.Find(name, finding.CheckState, "with %s the state of the first owner differs from that without:\n%s", map[int]string{
				1: "a second owner", 2: "a second owner that was deleted", //nolint:mnd // steps
			}[len(steps)], difference.Print(diff))
			return false
		}
	}
	return true
}

// pairEnd records the end state of both owners, except for random values. If it depends on the order of the owners, it is not used.
func (e *explorer) pairEnd(ctx context.Context, pair description.Prepared, r *run.Run) error {
	end, err := r.Cluster.State()
	if err != nil {
		return err
	}
	spec := run.Spec{Steps: []description.Step{description.StepA}}
	again, err := endOf(ctx, pair, spec, func(other *run.Run) error {
		learned, err := e.LearnNames(ctx, pair, spec, r.Cluster, other.Cluster)
		if err == nil && learned {
			end, err = r.Cluster.State()
		}
		return err
	})
	if err != nil {
		return err
	}
	e.Random.Add(end, again)
	spec.Variant.Shake = func(events []view.Event) []view.Event {
		slices.Reverse(events)
		return events
	}
	backward, err := endOf(ctx, pair, spec, nil)
	if err != nil {
		return err
	}
	e.Random.Mask(end)
	e.Random.Mask(backward)
	if len(difference.Between(end, backward)) == 0 {
		e.PairEnd = end
	}
	return nil
}

// endOf plays the spec and returns its end state, after calling look; nil does nothing.
func endOf(ctx context.Context, system description.Prepared, spec run.Spec, look func(*run.Run) error) (cluster.State, error) {
	r := run.Execute(ctx, system, spec, "")
	if r.Last != nil {
		defer r.Last.End()
	}
	if r.Err != nil {
		return nil, r.Err
	}
	if look != nil {
		if err := look(r); err != nil {
			return nil, err
		}
	}
	return r.Cluster.State()
}

// part returns the part of an object that must not depend on a second owner: no metadata and status while the second one is present, and
// nothing of an uncontrolled object, which owners may share.
func part(content map[string]any, present bool) map[string]any {
	if !controlled(content) || present {
		return cluster.SpecOf(content)
	}
	return content
}

// beyond returns the part without the second owner's additions to an uncontrolled object.
func beyond(want, alone, got map[string]any, present bool) map[string]any {
	shared := !controlled(alone) && !controlled(got)
	if got = part(got, present); present && shared && difference.Within(want, got) {
		return want
	}
	return got
}

// controlled reports whether an object has a controller.
func controlled(content map[string]any) bool {
	metadata, _ := content["metadata"].(map[string]any)
	return slices.ContainsFunc(objects.Maps(metadata, "ownerReferences"), func(ref map[string]any) bool { return ref["controller"] == true })
}
