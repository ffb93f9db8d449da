package instance

import (
	"maps"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/layers"
)

// global is the section whose keys precede all sections of the file.
const global = "global"

// ini renders the sections as grafana.ini, sorted by name.
func ini(sections map[string]map[string]string) string {
	var text strings.Builder
	for _, name := range slices.SortedFunc(maps.Keys(sections), func(a, b string) int {
		if (a == global) != (b == global) {
			return map[bool]int{true: -1, false: 1}[a == global]
		}
		return strings.Compare(a, b)
	}) {
		if name != global {
			text.WriteString("[" + name + "]\n")
		}
		for _, key := range slices.Sorted(maps.Keys(sections[name])) {
			text.WriteString(key + " = " + sections[name][key] + "\n")
		}
		text.WriteString("\n")
	}
	return text.String()
}

// withPaths adds the paths of the image to the sections. Those of the user win.
func withPaths(sections map[string]map[string]string) map[string]map[string]string {
	sections = layers.Maps(sections)
	if sections == nil {
		sections = map[string]map[string]string{}
	}
	sections["paths"] = layers.Maps(sections["paths"], map[string]string{
		"data": "/var/lib/grafana", "logs": "/var/log/grafana", "plugins": "/var/lib/grafana/plugins", "provisioning": "/etc/grafana/provisioning/",
	})
	return sections
}
