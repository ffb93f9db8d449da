package recording

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// passPlan is the plan of a pass.
type passPlan struct {
	Owner        *plannedChild     `json:"owner,omitempty"` // its metadata
	Children     []plannedChild    `json:"children,omitempty"`
	Deletes      []plannedDeletion `json:"deletes,omitempty"`
	Policy       string            `json:"policy,omitempty"`
	Hold         bool              `json:"hold,omitempty"`
	RequeueAfter textDuration      `json:"requeueAfter,omitzero"`
	RequeueAt    time.Time         `json:"requeueAt,omitzero"`
	Inputs       string            `json:"inputs,omitempty"`
	PruneBlocked string            `json:"pruneBlocked,omitempty"`
	KeptKinds    []string          `json:"keptKinds,omitempty"`
}

// plannedChild is a planned child; the values are those of the options of the package reconcile/apply.
type plannedChild struct {
	Kind     string            `json:"kind"`
	Mode     string            `json:"mode,omitempty"`
	Adoption string            `json:"adoption,omitempty"`
	Fields   map[string]string `json:"fields,omitempty"`
	Existing bool              `json:"existing,omitempty"`
	Recreate bool              `json:"recreate,omitempty"`
	Waits    string            `json:"waitsUntil,omitempty"`
	Object   jsonValue         `json:"object"`
}

// plannedDeletion is a planned deletion.
type plannedDeletion struct {
	Kind                 string            `json:"kind"`
	MatchResourceVersion bool              `json:"matchResourceVersion,omitempty"`
	MatchLabels          map[string]string `json:"matchLabels,omitempty"`
	Uncontrolled         bool              `json:"uncontrolled,omitempty"`
	Waits                string            `json:"waitsUntil,omitempty"`
	Object               jsonValue         `json:"object"`
}

// partHealth is the health of one part.
type partHealth struct {
	Name       string   `json:"name,omitempty"`
	State      string   `json:"state,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	Message    string   `json:"message,omitempty"`
	Dependency string   `json:"dependency,omitempty"`
	Errors     []string `json:"errors,omitempty"`
	Child      bool     `json:"child,omitempty"`
	Immediate  bool     `json:"immediate,omitempty"`
}

// appliedPlan is what became of the plan: the answer of the engine, with the metadata of the owner when it was written.
type appliedPlan struct {
	Hold         bool               `json:"hold,omitempty"`
	Objects      []appliedObject    `json:"objects,omitempty"`
	OwnerError   *failure           `json:"ownerError,omitempty"`
	PruneBlocked *blockedPrune      `json:"pruneBlocked,omitempty"`
	Finalized    bool               `json:"finalized,omitempty"`
	RequeueAfter textDuration       `json:"requeueAfter,omitzero"`
	Owner        *metav1.ObjectMeta `json:"owner,omitempty"`
}

// appliedObject is what became of one object.
type appliedObject struct {
	Group           string        `json:"group,omitempty"`
	Version         string        `json:"version"`
	Kind            string        `json:"kind"`
	Namespace       string        `json:"namespace,omitempty"`
	Name            string        `json:"name"`
	Verb            apply.Verb    `json:"verb,omitempty"`
	Reason          apply.Reason  `json:"reason,omitempty"`
	Fields          []string      `json:"fields,omitempty"`
	Outcome         apply.Outcome `json:"outcome"`
	UID             types.UID     `json:"uid,omitempty"`
	ResourceVersion string        `json:"resourceVersion,omitempty"`
	WaitsUntil      string        `json:"waitsUntil,omitempty"`
	Unobserved      bool          `json:"unobserved,omitempty"`
	Answer          jsonValue     `json:"answer,omitempty"` // of what is outside of the cluster
	Error           *failure      `json:"error,omitempty"`
}

// blockedPrune is why children that are no longer planned were kept.
type blockedPrune struct {
	Reason     apply.Reason `json:"reason"`
	Objects    []string     `json:"objects,omitempty"`
	Annotation string       `json:"annotation,omitempty"`
	Token      string       `json:"token,omitempty"`
	Cause      *failure     `json:"cause,omitempty"`
}

// namer names kinds for people.
type namer struct{ scheme *runtime.Scheme }

// kind is "group/version/Kind" of an object, or of the items of a list; without a scheme that knows it the Go type.
func (n namer) kind(obj runtime.Object) string {
	switch obj.(type) {
	case *corev1.Secret, *corev1.SecretList:
		return secretKind + strings.TrimPrefix(reflect.TypeOf(obj).Elem().Name(), "Secret") // whatever the scheme knows
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	if gvk.Empty() && n.scheme != nil {
		if known, err := apiutil.GVKForObject(obj, n.scheme); err == nil {
			gvk = known
		}
	}
	if gvk.Empty() {
		return fmt.Sprintf("%T", obj)
	}
	return printed(gvk)
}

func (n namer) items(list client.ObjectList) string { return strings.TrimSuffix(n.kind(list), "List") }

func printed(gvk schema.GroupVersionKind) string {
	return gvk.GroupVersion().String() + "/" + gvk.Kind
}

// plan writes a plan down.
func (n namer) plan(p *reconcile.PlanResult) (out passPlan, err error) {
	out = passPlan{
		Policy: planPolicies()[p.Policy], Hold: p.Hold, Inputs: p.Inputs,
		RequeueAfter: textDuration{p.RequeueAfter}, RequeueAt: p.RequeueAt, PruneBlocked: text(p.PruneBlocked),
	}
	for _, gvk := range p.KeptKinds {
		out.KeptKinds = append(out.KeptKinds, printed(gvk))
	}
	if p.Owner != nil {
		owner, err := n.child(p.Owner)
		if err != nil {
			return out, fmt.Errorf("plan: metadata of the owner: %w", err)
		}
		owner.Kind = "" // that of the owner
		out.Owner = &owner
	}
	for i := range p.Children {
		child, err := n.child(&p.Children[i])
		if err != nil {
			return out, fmt.Errorf("plan: child %s: %w", child.Kind, err)
		}
		out.Children = append(out.Children, child)
	}
	for _, planned := range p.Deletes {
		deletion := plannedDeletion{
			Kind: n.kind(planned.Object), MatchResourceVersion: planned.MatchResourceVersion, MatchLabels: planned.Labels,
			Uncontrolled: planned.Uncontrolled, Waits: planned.WaitsUntil,
		}
		if deletion.Object, err = sparse(planned.Object); err != nil {
			return out, fmt.Errorf("plan: deletion of %s: %w", deletion.Kind, err)
		}
		out.Deletes = append(out.Deletes, deletion)
	}
	return out, nil
}

func (n namer) child(planned *apply.Child) (out plannedChild, err error) {
	out = plannedChild{
		Mode: modes()[planned.Mode], Adoption: adoptions()[planned.Adoption], Existing: planned.Existing, Recreate: planned.Recreate,
		Waits: planned.WaitsUntil,
	}
	for _, rule := range planned.Fields {
		if out.Fields == nil {
			out.Fields = map[string]string{}
		}
		out.Fields[rule.Path] = policies()[rule.Policy]
	}
	if planned.Object != nil {
		out.Kind = n.kind(planned.Object)
		out.Object, err = sparse(planned.Object)
	} else {
		out.Kind = fmt.Sprintf("%T", planned.Configuration)
		out.Object, err = sparse(planned.Configuration)
	}
	return out, err
}

func modes() map[apply.Mode]string {
	return map[apply.Mode]string{apply.Shared: "shared", apply.Once: "once", apply.Contribute: "contribute", apply.Retained: "retained"}
}

func planPolicies() map[apply.Policy]string {
	return map[apply.Policy]string{apply.Suspend: "suspend", apply.Withdraw: "withdraw"}
}

func adoptions() map[apply.Adoption]string {
	return map[apply.Adoption]string{apply.AdoptUncontrolled: "uncontrolled", apply.AdoptControlled: "controlled"}
}

func policies() map[apply.FieldPolicy]string {
	return map[apply.FieldPolicy]string{
		apply.FieldOwn: "own", apply.FieldSeed: "seed", apply.FieldForce: "force", apply.FieldIgnore: "ignore",
		apply.FieldCreateOnly: "createOnly", apply.FieldAbsent: "absent",
	}
}

func components(list []health.Component) []partHealth {
	var out []partHealth
	for _, c := range list {
		var errs []string
		for _, err := range c.Errors {
			if err != nil {
				errs = append(errs, err.Error())
			}
		}
		out = append(out, partHealth{
			Name: c.Name, State: string(c.State), Reason: c.Reason, Message: c.Message, Dependency: string(c.Dependency),
			Errors: errs, Child: c.Child, Immediate: c.Immediate,
		})
	}
	return out
}

// appliedOf writes the answer of the engine down.
func appliedOf(plan apply.Plan, result apply.Result) *appliedPlan {
	out := &appliedPlan{
		Hold: plan.Hold, OwnerError: errorOf(result.OwnerErr), Finalized: result.Finalized,
		RequeueAfter: textDuration{result.RequeueAfter},
	}
	for _, o := range result.Objects {
		out.Objects = append(out.Objects, appliedObject{
			Group: o.GVK.Group, Version: o.GVK.Version, Kind: o.GVK.Kind, Namespace: o.Key.Namespace, Name: o.Key.Name,
			Verb: o.Verb, Reason: o.Reason, Fields: changed(o.Fields),
			Outcome: o.Outcome, UID: o.UID, ResourceVersion: o.ResourceVersion, WaitsUntil: o.WaitsUntil,
			Unobserved: o.Unobserved, Answer: jsonValue(o.Answer), Error: errorOf(o.Err),
		})
	}
	if kept := result.PruneBlocked; kept != nil {
		out.PruneBlocked = &blockedPrune{
			Reason: kept.Reason, Objects: kept.Objects, Annotation: kept.Annotation, Token: kept.Token, Cause: errorOf(kept.Cause),
		}
	}
	return out
}

func fieldsOf(paths []string) []apply.FieldChange {
	var out []apply.FieldChange
	for _, path := range paths {
		out = append(out, apply.FieldChange{Path: path})
	}
	return out
}

// changed are the paths of the fields; their values are in the plan.
func changed(fields []apply.FieldChange) []string {
	var out []string
	for _, f := range fields {
		out = append(out, f.Path)
	}
	return out
}

// result is the answer of the engine.
func (a *appliedPlan) result() apply.Result {
	out := apply.Result{OwnerErr: a.OwnerError.err(), Finalized: a.Finalized, RequeueAfter: a.RequeueAfter.Duration}
	for _, o := range a.Objects {
		out.Objects = append(out.Objects, apply.ObjectResult{
			Decision: apply.Decision{
				GVK: schema.GroupVersionKind{Group: o.Group, Version: o.Version, Kind: o.Kind},
				Key: types.NamespacedName{Namespace: o.Namespace, Name: o.Name}, UID: o.UID,
				Verb: o.Verb, Reason: o.Reason, Fields: fieldsOf(o.Fields), WaitsUntil: o.WaitsUntil, Err: o.Error.err(),
			},
			Outcome: o.Outcome, ResourceVersion: o.ResourceVersion, Unobserved: o.Unobserved, Answer: json.RawMessage(o.Answer),
		})
	}
	if kept := a.PruneBlocked; kept != nil {
		out.PruneBlocked = &apply.PruneBlockedError{
			Reason: kept.Reason, Objects: kept.Objects, Annotation: kept.Annotation, Token: kept.Token, Cause: kept.Cause.err(),
		}
	}
	return out
}
