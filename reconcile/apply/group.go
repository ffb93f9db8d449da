package apply

import "strings"

// DefaultDomain is the default of [Options.Domain].
const DefaultDomain = "reconcilekit.dev"

// PartOfLabel is the label of every child that belongs to one owner. Its value is the ID of the owner's set (KEP-3659, ApplySet):
// https://github.com/kubernetes/enhancements/tree/master/keps/sig-cli/3659-kubectl-apply-prune
const PartOfLabel = applySetDomain + "/part-of"

const applySetDomain = "applyset.kubernetes.io"

// GroupAnnotation is the annotation of the children of a group. A group is an owner that is not an object in the cluster, so that no owner
// reference can name it. The value is the group's kind, namespace and name, joined by slashes.
const GroupAnnotation = DefaultDomain + "/group"

// IsEngineKey reports whether the engine uses a label or annotation with the key. These are the keys of KEP-3659 (applyset.kubernetes.io),
// of [DefaultDomain], and those of an engine with the domain ([Options.Domain], empty for the
// default). The phases of a reconciler receive the owner without them.
//
// In a domain other than the default, only the engine's own names count, because the operator may use the domain for other annotations.
func IsEngineKey(domain, key string) bool {
	prefix, name, qualified := strings.Cut(key, "/")
	if !qualified {
		return false
	}
	switch prefix {
	case applySetDomain, DefaultDomain:
		return true
	case domain:
		switch name {
		case "contributions", "allow-prune", "adopt-restored", "orphan", "generation":
			return true
		}
		return false
	}
	// A second controller of a kind writes below the hash of its field manager.
	hash, parent, below := strings.Cut(prefix, ".")
	return below && (parent == DefaultDomain || parent == domain) && len(hash) == 10 && strings.Trim(hash, "0123456789abcdef") == ""
}
