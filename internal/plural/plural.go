package plural

import "strings"

// Of returns the plural of the kind in lower case, as controller-gen derives it of a kind that ends regularly. The guess of apimachinery makes
// gatewaies of Gateway and meshs of Mesh. The plural of a definition, or of a REST mapper, is better where there is one.
func Of(kind string) string {
	singular := strings.ToLower(kind)
	if strings.HasSuffix(singular, "endpoints") { // a kind that is a plural, as apimachinery has it
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
