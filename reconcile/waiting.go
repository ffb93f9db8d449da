package reconcile

import (
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/words"
)

// waiting is a part without a name for what the plan holds back: as long as there is any, the owner is not Ready, whatever its
// components report. With nothing held back it is a part that does not apply.
func waiting(result *apply.Result) health.Component {
	var held []string
	for i := range result.Objects {
		o := &result.Objects[i]
		if o.WaitsUntil != "" && len(held) < maxLogged {
			held = append(held, fmt.Sprintf("%s %s waits until %s", o.GVK.Kind, strings.TrimPrefix(o.Key.String(), "/"), o.WaitsUntil))
		}
	}
	if len(held) == 0 {
		return health.Component{}
	}
	return health.Component{
		State: health.Progressing, Reason: words.ReasonWaiting, Message: conditions.Bound(strings.Join(held, "; ")), Immediate: true,
	}
}
