package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
)

// phases are the optional phases of a reconciler; a phase that the reconciler does not implement is nil.
type phases[T reconcile.Owner, F, O any] struct {
	composer         reconcile.Composer[T, F, O]
	asFetched        func(F) O // if there is no composer
	health           func(ctx context.Context, observation *O) []health.Component
	finalizer        reconcile.Finalizer[T, F]
	applyObserver    reconcile.ApplyObserver[T, O]
	migrator         reconcile.Migrator[T]
	decorate         func(after T, cm *conditions.Manager, sc reconcile.StatusContext[T], observation *O)
	decorateDeletion func(after T, cm *conditions.Manager, owner T)
}

// CheckPhases reports invalid phases of a reconciler: a method with the name of a phase and another signature, or
// with a pointer receiver on a reconciler that is passed by value; a method whose name resembles that of a missing phase; a phase of the
// observation that is a method of the reconciler, or the reverse; a missing ComposeState if the plan is not computed
// from the fetched state. The error names the method, its signature and the expected one. [New] and the builder of
// reconcile/controller call it.
func CheckPhases[T reconcile.Owner, F, O any](reconciler reconcile.Reconciler[T, F, O]) error {
	_, err := phasesOf(reconciler)
	return err
}

func phasesOf[T reconcile.Owner, F, O any](reconciler reconcile.Reconciler[T, F, O]) (*phases[T, F, O], error) {
	if err := check(reconciler); err != nil {
		return nil, err
	}
	p := &phases[T, F, O]{}
	p.composer, _ = reconciler.(reconcile.Composer[T, F, O])
	p.finalizer, _ = reconciler.(reconcile.Finalizer[T, F])
	p.applyObserver, _ = reconciler.(reconcile.ApplyObserver[T, O])
	p.migrator, _ = reconciler.(reconcile.Migrator[T])
	if p.composer == nil {
		p.asFetched, _ = any(func(fetched F) F { return fetched }).(func(F) O)
	}
	if ReportsHealth[O]() {
		p.health = componentHealth[O]
	}
	p.decorate, p.decorateDeletion = decorators[T, O](reconciler)
	return p, nil
}

// ReportsHealth reports whether the observation reports the health of the components.
func ReportsHealth[O any]() bool {
	return reflect.TypeFor[O]().Implements(reflect.TypeFor[reconcile.Observation]())
}

func componentHealth[O any](ctx context.Context, observation *O) []health.Component {
	return any(*observation).(reconcile.Observation).GetComponentHealth(ctx) //nolint:forcetypeassert // phasesOf has checked it
}

// decorators binds DecorateStatus and DecorateDeletion to the field Status of the owner, whose type no interface can express here.
func decorators[T reconcile.Owner, O any](reconciler any) (
	decorate func(T, *conditions.Manager, reconcile.StatusContext[T], *O), deletion func(T, *conditions.Manager, T),
) {
	field, _ := statusField(reflect.TypeFor[T]())
	call := func(method reflect.Value, after T, cm *conditions.Manager, rest ...reflect.Value) {
		status := reflect.ValueOf(after).Elem().FieldByIndex(field.Index)
		method.Call(append([]reflect.Value{status.Addr(), reflect.ValueOf(cm)}, rest...))
	}
	if method := reflect.ValueOf(reconciler).MethodByName(string(reconcile.PhaseDecorate)); method.IsValid() {
		decorate = func(after T, cm *conditions.Manager, sc reconcile.StatusContext[T], observation *O) {
			call(method, after, cm, reflect.ValueOf(sc), reflect.ValueOf(observation).Elem())
		}
	}
	if method := reflect.ValueOf(reconciler).MethodByName(decorateDeletion); method.IsValid() {
		deletion = func(after T, cm *conditions.Manager, owner T) { call(method, after, cm, reflect.ValueOf(owner)) }
	}
	return decorate, deletion
}

// The methods of a reconciler that are not separate phases in metrics.
const (
	decorateDeletion = "DecorateDeletion"
	getConditions    = "GetConditions"
	setConditions    = "SetConditions"
	migrate          = string(reconcile.PhaseMigrate)
)

// statusField is the field Status of an owner.
func statusField(owner reflect.Type) (reflect.StructField, bool) {
	if owner.Kind() != reflect.Pointer || owner.Elem().Kind() != reflect.Struct {
		return reflect.StructField{}, false
	}
	return owner.Elem().FieldByName("Status")
}

// check implements [CheckPhases] for types.
func check[T reconcile.Owner, F, O any](reconciler reconcile.Reconciler[T, F, O]) error {
	if reconciler == nil {
		return errors.New("the reconciler is nil")
	}
	methods := map[string]reflect.Type{
		string(reconcile.PhaseFetch):        nil, // the compiler checks it
		string(reconcile.PhasePlan):         nil,
		string(reconcile.PhaseCompose):      phaseSignature[reconcile.Composer[T, F, O]](),
		string(reconcile.PhaseFinalize):     phaseSignature[reconcile.Finalizer[T, F]](),
		string(reconcile.PhaseObserveApply): phaseSignature[reconcile.ApplyObserver[T, O]](),
		migrate:                             phaseSignature[reconcile.Migrator[T]](),
	}
	status, hasStatus := statusField(reflect.TypeFor[T]())
	if hasStatus {
		manager, pointer := reflect.TypeFor[*conditions.Manager](), reflect.PointerTo(status.Type)
		methods[string(reconcile.PhaseDecorate)] = signatureOf(pointer, manager, reflect.TypeFor[reconcile.StatusContext[T]](), reflect.TypeFor[O]())
		methods[decorateDeletion] = signatureOf(pointer, manager, reflect.TypeFor[T]())
	}
	of := reflect.TypeOf(reconciler)
	errs := append(checkSignatures(of, methods), checkAdapter[T](of)...)
	if !hasStatus {
		errs = append(errs, withoutStatus[T](of)...)
	}
	if fetched, observed := reflect.TypeFor[F](), reflect.TypeFor[O](); fetched != observed {
		if _, found := of.MethodByName(string(reconcile.PhaseCompose)); !found {
			errs = append(errs, fmt.Errorf("%s has no method ComposeState, although FetchRemoteState returns %s and PlanResources "+
				"takes %s: add %s, or let both have one type", nameOfType(of), nameOfType(fetched), nameOfType(observed),
				printSignature(string(reconcile.PhaseCompose), methods[string(reconcile.PhaseCompose)])))
		}
	}
	errs = append(errs, checkSignatures(reflect.TypeFor[O](), map[string]reflect.Type{
		string(reconcile.PhaseHealth): phaseSignature[reconcile.Observation](),
	})...)
	return errors.Join(append(errs, misplaced(of, reflect.TypeFor[O](), methods)...)...)
}

// misplaced returns errors for phases that are methods of the wrong type, where the pipeline does not call them.
func misplaced(reconciler, observation reflect.Type, ofReconciler map[string]reflect.Type) (errs []error) {
	ofObservation := map[string]reflect.Type{string(reconcile.PhaseHealth): phaseSignature[reconcile.Observation]()}
	find := func(what string, on, belongs reflect.Type, methods map[string]reflect.Type) {
		for _, phase := range slices.Sorted(maps.Keys(methods)) {
			if want := methods[phase]; want != nil && hasSignature(on, phase, want) && !hasSignature(belongs, phase, want) {
				errs = append(errs, fmt.Errorf("%s is a method of the %s %s, where nothing calls it: make it a method of %s",
					phase, what, nameOfType(on), nameOfType(belongs)))
			}
		}
	}
	find("reconciler", reconciler, observation, ofObservation)
	find("observation", observation, reconciler, ofReconciler)
	return errs
}

// checkAdapter returns errors in the methods of a [reconcile.ConditionAdapter]: a type has both methods or none.
func checkAdapter[T reconcile.Owner](reconciler reflect.Type) []error {
	expected := map[string]reflect.Type{}
	for method := range reflect.TypeFor[reconcile.ConditionAdapter[T]]().Methods() {
		expected[method.Name] = method.Type
	}
	errs := checkSignatures(reconciler, expected)
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
		nameOfType(reconciler), printSignature(missing, expected[missing]))}
}

// withoutStatus returns errors for decorators of an owner without a field Status.
func withoutStatus[T reconcile.Owner](reconciler reflect.Type) (errs []error) {
	for _, method := range []string{string(reconcile.PhaseDecorate), decorateDeletion} {
		if _, found := reconciler.MethodByName(method); found {
			errs = append(errs, fmt.Errorf("%s has the method %s, but %s has no field Status to decorate",
				nameOfType(reconciler), method, nameOfType(reflect.TypeFor[T]())))
		}
	}
	return errs
}
