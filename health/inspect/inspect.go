package inspect

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// ready, progressing and their like are what inspectors say.
func ready(reason, message string) health.Component {
	return health.Component{State: health.Ready, Reason: reason, Message: message}
}

func progressing(reason, message string) health.Component {
	return health.Component{State: health.Progressing, Reason: reason, Message: message}
}

// broken is a component with one categorised error; the state follows from it.
func broken(category health.Category, reason, message string) health.Component {
	return health.Component{Errors: []error{health.NewError(category, reason, message, nil)}}
}

// missing is a child that is not there (yet).
func missing(reason, what string) health.Component {
	return broken(health.MissingDownstreamDependency, reason, what+" not found")
}

// reasonNotObserved stands for an object whose controller has not looked at its latest spec.
const reasonNotObserved = "GenerationNotObserved"

// unobserved is an object whose controller has not looked at the latest spec, so that its status is about an older one.
func unobserved(kind string) health.Component {
	return progressing(reasonNotObserved, kind+" controller has not observed the latest generation")
}

// terminating is an object that is being deleted.
func terminating(kind string) health.Component {
	return progressing("Terminating", kind+" is being deleted")
}

// prelude answers for what all workloads have in common: a deletion under way, a spec that was not looked at.
func prelude(kind string, meta *metav1.ObjectMeta, observed int64) (health.Component, bool) {
	switch {
	case meta.DeletionTimestamp != nil:
		return terminating(kind), true
	case observed < meta.Generation:
		return unobserved(kind), true
	}
	return health.Component{}, false
}

// replicas words a count: "1 of 3 replicas are available".
func replicas(have, want int32, what string) string {
	return fmt.Sprintf("%d of %d replicas are %s", have, want, what)
}

// count reads an optional number of replicas, 1 where it is unset as the API server defaults it.
func count(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}
