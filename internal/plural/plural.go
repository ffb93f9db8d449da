package plural

import "strings"

// Of returns the plural of the kind in lower case, as controller-gen derives it for a regular plural. The guess of apimachinery is
// gatewaies for Gateway and meshs for Mesh. Prefer the plural of a definition, or of a REST mapper, if there is one.
func Of(kind string) string {
	singular := strings.ToLower(kind)
	if strings.HasSuffix(singular, "endpoints") { // a kind that is a plural, as in apimachinery
		return singular
	}
	for _, sibilant := range []string{"s", "x", "z", "ch", "sh"} {
		if strings.HasSuffix(singular, sibilant) {
			return singular + "es"
		}
	}
	stem, cut := strings.CutSuffix(singular, "y")
	if cut && stem != "" && !strings.ContainsRune("aeiou", rune(stem[len(stem)-1])) {
		return stem + "ies"
	}
	return singular + "s"
}
