package inspect

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// ready returns a component in the state Ready.
func ready(reason, message string) health.Component {
	return health.Component{State: health.Ready, Reason: reason, Message: message}
}

func progressing(reason, message string) health.Component {
	return health.Component{State: health.Progressing, Reason: reason, Message: message}
}

// broken returns a component with one categorised error, which determines the state.
func broken(category health.Category, reason, message string) health.Component {
	return health.Component{Errors: []error{health.NewError(category, reason, message, nil)}}
}

// missing returns the component of a child that does not exist (yet).
func missing(reason, what string) health.Component {
	return broken(health.MissingDownstreamDependency, reason, what+" not found")
}

// reasonNotObserved is the reason for an object whose controller has not observed its latest spec.
const reasonNotObserved = "GenerationNotObserved"

// unobserved returns the component of an object whose controller has not observed the latest spec, so that its status is outdated.
func unobserved(kind string) health.Component {
	return progressing(reasonNotObserved, kind+" controller has not observed the latest generation")
}

// terminating returns the component of an object that is being deleted.
func terminating(kind string) health.Component {
	return progressing("Terminating", kind+" is being deleted")
}

// prelude handles the common cases of all workloads: a deletion in progress, a spec that was not observed.
func prelude(kind string, meta *metav1.ObjectMeta, observed int64) (health.Component, bool) {
	switch {
	case meta.DeletionTimestamp != nil:
		return terminating(kind), true
	case observed < meta.Generation:
		return unobserved(kind), true
	}
	return health.Component{}, false
}

// replicas formats a count: "1 of 3 replicas are available".
func replicas(have, want int32, what string) string {
	return fmt.Sprintf("%d of %d replicas are %s", have, want, what)
}

// count returns an optional number of replicas, 1 if unset as the API server defaults it.
func count(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}
