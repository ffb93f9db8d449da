package reconcile

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/signature"
)

// phases are the phases of a reconciler beyond the two that all have; what a reconciler does not have is nil.
type phases[T Owner, F, O any] struct {
	composer         Composer[T, F, O]
	asFetched        func(F) O // where there is no composer
	health           func(ctx context.Context, observation *O) []health.Component
	finalizer        Finalizer[T, F]
	applyObserver    ApplyObserver[T, O]
	migrator         Migrator[T]
	decorate         func(after T, cm *conditions.Manager, observation *O)
	decorateDeletion func(after T, cm *conditions.Manager, owner T)
}

// CheckPhases reports what is wrong with the phases of a reconciler: a method with the name of a phase and another signature, or
// with a pointer receiver where a value is given; a method whose name is nearly that of a phase that is not there; a
// ComposeState that is missing although the plan is not made from what is fetched. The error names the method, its signature and
// the expected one. [New] and the builder of reconcile/controller call it.
func CheckPhases[T Owner, F, O any](reconciler Reconciler[T, F, O]) error {
	_, err := phasesOf(reconciler)
	return err
}

func phasesOf[T Owner, F, O any](reconciler Reconciler[T, F, O]) (*phases[T, F, O], error) {
	if err := check(reconciler); err != nil {
		return nil, err
	}
	p := &phases[T, F, O]{}
	p.composer, _ = reconciler.(Composer[T, F, O])
	p.finalizer, _ = reconciler.(Finalizer[T, F])
	p.applyObserver, _ = reconciler.(ApplyObserver[T, O])
	p.migrator, _ = reconciler.(Migrator[T])
	if p.composer == nil {
		p.asFetched, _ = any(func(fetched F) F { return fetched }).(func(F) O)
	}
	if reflect.TypeFor[O]().Implements(reflect.TypeFor[Observation]()) {
		p.health = componentHealth[O]
	}
	p.decorate, p.decorateDeletion = decorators[T, O](reconciler)
	return p, nil
}

func componentHealth[O any](ctx context.Context, observation *O) []health.Component {
	return any(*observation).(Observation).GetComponentHealth(ctx) //nolint:forcetypeassert // phasesOf has asked
}

// decorators binds DecorateStatus and DecorateDeletion to the field Status of the owner, whose type no interface can name here.
func decorators[T Owner, O any](reconciler any) (
	decorate func(T, *conditions.Manager, *O), deletion func(T, *conditions.Manager, T),
) {
	field, _ := statusField(reflect.TypeFor[T]())
	call := func(method reflect.Value, after T, cm *conditions.Manager, last reflect.Value) {
		status := reflect.ValueOf(after).Elem().FieldByIndex(field.Index)
		method.Call([]reflect.Value{status.Addr(), reflect.ValueOf(cm), last})
	}
	if method := reflect.ValueOf(reconciler).MethodByName(string(PhaseDecorate)); method.IsValid() {
		decorate = func(after T, cm *conditions.Manager, observation *O) {
			call(method, after, cm, reflect.ValueOf(observation).Elem())
		}
	}
	if method := reflect.ValueOf(reconciler).MethodByName(decorateDeletion); method.IsValid() {
		deletion = func(after T, cm *conditions.Manager, owner T) { call(method, after, cm, reflect.ValueOf(owner)) }
	}
	return decorate, deletion
}

// The methods of a reconciler that are no phase of their own in metrics.
const (
	decorateDeletion = "DecorateDeletion"
	getConditions    = "GetConditions"
	setConditions    = "SetConditions"
	migrate          = string(PhaseMigrate)
)

// statusField is the field Status of an owner.
func statusField(owner reflect.Type) (reflect.StructField, bool) {
	if owner.Kind() != reflect.Pointer || owner.Elem().Kind() != reflect.Struct {
		return reflect.StructField{}, false
	}
	return owner.Elem().FieldByName("Status")
}

// check is [CheckPhases] on the types.
func check[T Owner, F, O any](reconciler Reconciler[T, F, O]) error {
	if reconciler == nil {
		return errors.New("the reconciler is nil")
	}
	methods := map[string]reflect.Type{
		string(PhaseFetch):        nil, // the compiler has seen to it
		string(PhasePlan):         nil,
		string(PhaseCompose):      signature.Of[Composer[T, F, O]](),
		string(PhaseFinalize):     signature.Of[Finalizer[T, F]](),
		string(PhaseObserveApply): signature.Of[ApplyObserver[T, O]](),
		migrate:                   signature.Of[Migrator[T]](),
	}
	status, hasStatus := statusField(reflect.TypeFor[T]())
	if hasStatus {
		manager, pointer := reflect.TypeFor[*conditions.Manager](), reflect.PointerTo(status.Type)
		methods[string(PhaseDecorate)] = signature.Function(pointer, manager, reflect.TypeFor[O]())
		methods[decorateDeletion] = signature.Function(pointer, manager, reflect.TypeFor[T]())
	}
	of := reflect.TypeOf(reconciler)
	errs := append(signature.Check(of, methods), checkAdapter[T](of)...)
	if !hasStatus {
		errs = append(errs, withoutStatus[T](of)...)
	}
	if fetched, observed := reflect.TypeFor[F](), reflect.TypeFor[O](); fetched != observed {
		if _, found := of.MethodByName(string(PhaseCompose)); !found {
			errs = append(errs, fmt.Errorf("%s has no method ComposeState, although FetchRemoteState returns %s and PlanResources "+
				"takes %s: add %s, or let both have one type", signature.Name(of), signature.Name(fetched), signature.Name(observed),
				signature.Printed(string(PhaseCompose), methods[string(PhaseCompose)])))
		}
	}
	errs = append(errs, signature.Check(reflect.TypeFor[O](), map[string]reflect.Type{
		string(PhaseHealth): signature.Of[Observation](),
	})...)
	return errors.Join(errs...)
}

// checkAdapter returns what is wrong with the methods of a [ConditionAdapter]: it has both or none.
func checkAdapter[T Owner](reconciler reflect.Type) []error {
	expected := map[string]reflect.Type{}
	for method := range reflect.TypeFor[ConditionAdapter[T]]().Methods() {
		expected[method.Name] = method.Type
	}
	errs := signature.Check(reconciler, expected)
	_, gets := reconciler.MethodByName(getConditions)
	_, sets := reconciler.MethodByName(setConditions)
	if gets == sets || len(errs) > 0 {
		return errs
	}
	missing := getConditions
	if gets {
		missing = setConditions
	}
	return []error{fmt.Errorf("%s adapts the conditions of its owner with one method of two: add %s",
		signature.Name(reconciler), signature.Printed(missing, expected[missing]))}
}

// withoutStatus are the errors of decorators of an owner that has no field to decorate.
func withoutStatus[T Owner](reconciler reflect.Type) (errs []error) {
	for _, method := range []string{string(PhaseDecorate), decorateDeletion} {
		if _, found := reconciler.MethodByName(method); found {
			errs = append(errs, fmt.Errorf("%s has the method %s, but %s has no field Status to decorate",
				signature.Name(reconciler), method, signature.Name(reflect.TypeFor[T]())))
		}
	}
	return errs
}
