package naming

import "path"

// MatchingLabels returns the labels whose key matches one of the patterns, for children that carry labels of their owner. Patterns are those
// of [path.Match] over the whole key: "team" is that key, "org.example/*" every key of that domain, and a "*" does not cross the
// slash. A pattern that is malformed matches nothing. The result is new, and nil when nothing matches.
func MatchingLabels(labels map[string]string, patterns ...string) map[string]string {
	var matching map[string]string
	for key, value := range labels {
		for _, pattern := range patterns {
			if matched, err := path.Match(pattern, key); err != nil || !matched {
				continue
			}
			if matching == nil {
				matching = make(map[string]string, len(labels))
			}
			matching[key] = value
			break
		}
	}
	return matching
}
