package shape

import "math/rand/v2"

// fieldNames returns names for random fields. The APIs of Kubernetes have a meaning or a default for most of them; a custom resource does
// not, so code that depends on the name of a field is wrong.
func fieldNames() []string {
	return []string{
		"protocol", "kind", "apiVersion", "value", "limits", "requests", "group", "weight", "path", "type", "defaultMode",
		"status", "scope", "port", "ports", "name", "namespace", "divisor", "hard", "max", "min", "default", "env", "rules",
		"matches", "headers", "tolerance", "used", "capacity", "apiGroup", "roleRef", "subjects", "backendRefs", "parentRefs",
		"spec", "template", "containers", "sizeLimit", "statusCode", "volumeMode", "volumeClaimTemplates", "fieldRef",
		"replicas", "enabled", "a", "b", "items", "data", "stringData", "metadata", "labels", "averageValue",
		"expirationSeconds", "podFixed", "overhead", "tolerationSeconds", "clusterIP", "finalizers",
	}
}

// mapKeys returns keys of random maps.
func mapKeys() []string {
	return []string{"a", "b", "c", "app.properties", "example.com/class", "cpu", "memory", "protocol", "value", "kind", "x-y_z"}
}

// texts returns random strings. Many are equal when parsed as numbers, quantities, durations or booleans, but all are different strings.
func texts() []string {
	return []string{
		"", "a", "b", "c", "1", "1.0", "01", "010", "+5", "5", "0", "0.0", "-1", "500m", "0.5", "1k", "1000", "1Gi", "1024Mi",
		"2", "2.00", "1e3", "true", "false", "null", "TCP", "UDP", "v1", "Gateway", "Service", "PathPrefix", "/", "Filesystem",
		"*", "True", "Pending", "rbac.authorization.k8s.io", "gateway.networking.k8s.io", "é", "a b", "{}", "[]", "60s", "1m", "1m0s",
	}
}

// respellings returns groups of strings that are equal when parsed.
func respellings() [][]string {
	return [][]string{
		{"1", "1.0", "01", "+1", "1000m", "1e0"},
		{"500m", "0.5", "0.50", ".5"},
		{"1k", "1000", "1e3"},
		{"1Gi", "1024Mi", "1073741824"},
		{"2", "2.00"},
		{"5", "+5", "05"},
		{"0", "0.0", "", "-0"},
		{"60s", "1m", "1m0s"},
		{"true", "True", "TRUE"},
		{"TCP", "tcp", ""},
	}
}

// quantities returns valid quantities, in several spellings.
func quantities() []string {
	return []string{"1", "1.0", "1000m", "500m", "0.5", "1k", "1000", "1Gi", "1024Mi", "2", "2.00", "0", "250m", "0.25", "64Mi", "67108864"}
}

func integers() []int64 {
	return []int64{0, 1, 2, 3, 5, -1, 80, 81, 443, 420, 3600, 302, 8080, 1<<31 - 1}
}

// largeIntegers returns integers that floating-point numbers cannot distinguish.
func largeIntegers() []int64 {
	return []int64{1 << 53, 1<<53 + 1, 1<<53 + 2, -(1 << 53), 1<<62 + 1, 1 << 62}
}

func numbers() []any {
	return []any{int64(0), int64(1), 0.5, 1.5, 0.1, 0.30000000000000004, 0.3, int64(2), -1.25, 1e21, 1e-7, 100.0}
}

// integer returns an integer that the format allows.
func integer(r *rand.Rand, format string) int64 {
	if format != "int32" && chance(r, 6) {
		return pick(r, largeIntegers())
	}
	return pick(r, integers())
}

// text returns a string of a format.
func text(r *rand.Rand, format string) string {
	switch format {
	case QuantityFormat:
		return pick(r, quantities())
	case TimeFormat:
		return pick(r, []string{"2024-01-02T03:04:05Z", "2024-01-02T03:04:06Z", "2030-12-31T23:59:59Z"})
	case BytesFormat:
		return pick(r, []string{"", "YQ==", "Yg==", "AAE=", "MS4w", "MQ=="})
	}
	return pick(r, texts())
}

// respell returns the string in another spelling, or another string.
func respell(r *rand.Rand, s string) string {
	if group := spellings(s); group != nil {
		return pick(r, group)
	}
	return pick(r, texts())
}
