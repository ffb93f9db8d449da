package naming

const (
	// maxRevised reserves a dash and the hash of a revision or a template, a number of up to 10 digits.
	maxRevised          = MaxLabel - 11
	maxRevisedSubdomain = maxSubdomain - 11
)

// LimitOf returns the maximum length, in bytes, of a working name of the kind, and 0 for a kind without a limit of its own: most allow
// the 253 characters of a DNS subdomain. The group of the core kinds is empty.
//
// The limit is that of the API server or of the objects that Kubernetes controllers create. The API server accepts a StatefulSet with a
// longer name, for example, but rejects its Pods.
func LimitOf(group, kind string) int {
	switch group + "/" + kind {
	case "batch/CronJob", // the name of a Job has a dash and the minute of its schedule in addition
		"apps/StatefulSet": // the label controller-revision-hash of its Pods is {name}-{hash}; the host name {name}-{ordinal} is no longer
		return maxRevised
	case "/Service", "/Namespace", // a DNS label
		"batch/Job": // the label batch.kubernetes.io/job-name of its Pods
		return MaxLabel
	case "apps/Deployment", // its ReplicaSets are {name}-{hash}
		"apps/DaemonSet": // its ControllerRevisions are {name}-{hash}
		return maxRevisedSubdomain
	}
	return 0
}

// kindRule is the additional rule for names of a kind.
type kindRule struct {
	limit  int
	letter bool
}

func (r kindRule) applyTo(o *options) {
	if r.limit > 0 && (o.KindLimit == 0 || r.limit < o.KindLimit) {
		o.KindLimit = r.limit
	}
	o.LetterFirst = o.LetterFirst || r.letter
}

// ForKind limits the name to [LimitOf] the kind; for a Service it implies [StartWithLetter]. Pass it once for each kind that uses the
// name; the shortest limit applies. The group of the core kinds is empty.
func ForKind(group, kind string) Option {
	return kindRule{limit: LimitOf(group, kind), letter: group == "" && kind == "Service"}
}
