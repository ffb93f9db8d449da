package record

import (
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

// Plan is the plan of a pass.
type Plan struct {
	Owner        *Child     `json:"owner,omitempty"` // its metadata
	Children     []Child    `json:"children,omitempty"`
	Deletes      []Deletion `json:"deletes,omitempty"`
	Policy       string     `json:"policy,omitempty"`
	Hold         bool       `json:"hold,omitempty"`
	RequeueAfter Duration   `json:"requeueAfter,omitzero"`
	RequeueAt    time.Time  `json:"requeueAt,omitzero"`
	Inputs       string     `json:"inputs,omitempty"`
	PruneBlocked string     `json:"pruneBlocked,omitempty"`
}

// Child is a planned child; words are those of the options of the package reconcile/apply.
type Child struct {
	Kind     string            `json:"kind"`
	Mode     string            `json:"mode,omitempty"`
	Adoption string            `json:"adoption,omitempty"`
	Fields   map[string]string `json:"fields,omitempty"`
	Existing bool              `json:"existing,omitempty"`
	Recreate bool              `json:"recreate,omitempty"`
	Object   Content           `json:"object"`
}

// Deletion is a planned deletion.
type Deletion struct {
	Kind                 string            `json:"kind"`
	MatchResourceVersion bool              `json:"matchResourceVersion,omitempty"`
	MatchLabels          map[string]string `json:"matchLabels,omitempty"`
	Uncontrolled         bool              `json:"uncontrolled,omitempty"`
	Object               Content           `json:"object"`
}

// Component is the health of one part.
type Component struct {
	Name       string   `json:"name,omitempty"`
	State      string   `json:"state,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	Message    string   `json:"message,omitempty"`
	Dependency string   `json:"dependency,omitempty"`
	Errors     []string `json:"errors,omitempty"`
	Child      bool     `json:"child,omitempty"`
	Immediate  bool     `json:"immediate,omitempty"`
}

// Applied is what became of the plan: the answer of the engine, with the metadata of the owner when it was written.
type Applied struct {
	Hold         bool               `json:"hold,omitempty"`
	Objects      []AppliedObject    `json:"objects,omitempty"`
	OwnerError   *Error             `json:"ownerError,omitempty"`
	PruneBlocked *PruneBlocked      `json:"pruneBlocked,omitempty"`
	Finalized    bool               `json:"finalized,omitempty"`
	RequeueAfter Duration           `json:"requeueAfter,omitzero"`
	Owner        *metav1.ObjectMeta `json:"owner,omitempty"`
}

// AppliedObject is what became of one object.
type AppliedObject struct {
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
	Error           *Error        `json:"error,omitempty"`
}

// PruneBlocked is why children that are no longer planned were kept.
type PruneBlocked struct {
	Reason     apply.PruneBlockedReason `json:"reason"`
	Objects    []string                 `json:"objects,omitempty"`
	Annotation string                   `json:"annotation,omitempty"`
	Token      string                   `json:"token,omitempty"`
	Cause      *Error                   `json:"cause,omitempty"`
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
func (n namer) plan(p *reconcile.PlanResult) (out Plan, err error) {
	out = Plan{
		Policy: planPolicies()[p.Policy], Hold: p.Hold, Inputs: p.Inputs,
		RequeueAfter: Duration{p.RequeueAfter}, RequeueAt: p.RequeueAt, PruneBlocked: text(p.PruneBlocked),
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
		deletion := Deletion{
			Kind: n.kind(planned.Object), MatchResourceVersion: planned.MatchResourceVersion, MatchLabels: planned.Labels,
			Uncontrolled: planned.Uncontrolled,
		}
		if deletion.Object, err = sparse(planned.Object); err != nil {
			return out, fmt.Errorf("plan: deletion of %s: %w", deletion.Kind, err)
		}
		out.Deletes = append(out.Deletes, deletion)
	}
	return out, nil
}

func (n namer) child(planned *apply.Child) (out Child, err error) {
	out = Child{
		Mode: modes()[planned.Mode], Adoption: adoptions()[planned.Adoption], Existing: planned.Existing, Recreate: planned.Recreate,
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
		apply.OwnField: "own", apply.SeedField: "seed", apply.ForceField: "force", apply.IgnoreField: "ignore",
		apply.CreateOnlyField: "createOnly", apply.AbsentField: "absent",
	}
}

func components(list []health.Component) []Component {
	var out []Component
	for _, c := range list {
		var errs []string
		for _, err := range c.Errors {
			if err != nil {
				errs = append(errs, err.Error())
			}
		}
		out = append(out, Component{
			Name: c.Name, State: string(c.State), Reason: c.Reason, Message: c.Message, Dependency: string(c.Dependency),
			Errors: errs, Child: c.Child, Immediate: c.Immediate,
		})
	}
	return out
}

// appliedOf writes the answer of the engine down.
func appliedOf(plan apply.Plan, result apply.Result) *Applied {
	out := &Applied{
		Hold: plan.Hold, OwnerError: errorOf(result.OwnerErr), Finalized: result.Finalized,
		RequeueAfter: Duration{result.RequeueAfter},
	}
	for _, o := range result.Objects {
		out.Objects = append(out.Objects, AppliedObject{
			Group: o.GVK.Group, Version: o.GVK.Version, Kind: o.GVK.Kind, Namespace: o.Key.Namespace, Name: o.Key.Name,
			Verb: o.Verb, Reason: o.Reason, Fields: changed(o.Fields),
			Outcome: o.Outcome, UID: o.UID, ResourceVersion: o.ResourceVersion, Error: errorOf(o.Err),
		})
	}
	if kept := result.PruneBlocked; kept != nil {
		out.PruneBlocked = &PruneBlocked{
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
func (a *Applied) result() apply.Result {
	out := apply.Result{OwnerErr: a.OwnerError.err(), Finalized: a.Finalized, RequeueAfter: a.RequeueAfter.Duration}
	for _, o := range a.Objects {
		out.Objects = append(out.Objects, apply.ObjectResult{
			Decision: apply.Decision{
				GVK: schema.GroupVersionKind{Group: o.Group, Version: o.Version, Kind: o.Kind},
				Key: types.NamespacedName{Namespace: o.Namespace, Name: o.Name}, UID: o.UID,
				Verb: o.Verb, Reason: o.Reason, Fields: fieldsOf(o.Fields), Err: o.Error.err(),
			},
			Outcome: o.Outcome, ResourceVersion: o.ResourceVersion,
		})
	}
	if kept := a.PruneBlocked; kept != nil {
		out.PruneBlocked = &apply.PruneBlockedError{
			Reason: kept.Reason, Objects: kept.Objects, Annotation: kept.Annotation, Token: kept.Token, Cause: kept.Cause.err(),
		}
	}
	return out
}
