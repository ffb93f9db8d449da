package apply

import "strings"

// DefaultDomain is the default of [Options.Domain].
const DefaultDomain = "reconcilekit.dev"

// PartOfLabel is on every child that its owner alone owns. Its value is the ID
// of the owner's set (KEP-3659, ApplySet):
// https://github.com/kubernetes/enhancements/tree/master/keps/sig-cli/3659-kubectl-apply-prune
const PartOfLabel = applySetDomain + "/part-of"

const applySetDomain = "applyset.kubernetes.io"

// GroupAnnotation is on the children of a group, an owner that is no object of
// the cluster; its value is the group's kind, namespace and name, joined by
// slashes. It leads from a child to its group, which no owner reference does.
const GroupAnnotation = DefaultDomain + "/group"

// IsEngineKey reports whether the label or annotation with the key belongs to
// the engine: those of KEP-3659 (applyset.kubernetes.io), of [DefaultDomain],
// of the claims of shards (shard.reconcilekit.dev), and those that an engine
// with the domain ([Options.Domain], empty for the default) writes. The phases
// of a reconciler see their owner without them.
//
// In a domain other than the default only the engine's own names count, as an
// operator may have other annotations in its domain.
func IsEngineKey(domain, key string) bool {
	prefix, name, qualified := strings.Cut(key, "/")
	if !qualified {
		return false
	}
	switch prefix {
	case applySetDomain, DefaultDomain, "shard." + DefaultDomain:
		return true
	case domain:
		switch name {
		case "contributions", "allow-prune", "orphan", "generation":
			return true
		}
		return false
	}
	// A second controller of a kind writes below the hash of its field manager.
	hash, parent, below := strings.Cut(prefix, ".")
	return below && (parent == DefaultDomain || parent == domain) && len(hash) == 10 && strings.Trim(hash, "0123456789abcdef") == ""
}
