package naming

import "path"

// MatchingLabels returns the labels whose key matches one of the patterns, to copy labels of an owner to its children. Patterns are those
// of [path.Match] over the entire key: "team" is that key, "org.example/*" every key of that domain; a "*" does not match a slash. A
// malformed pattern matches nothing. The result is a new map, nil if nothing matches.
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
