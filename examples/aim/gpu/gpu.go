// Package gpu normalises the names of GPUs: those of vendors, of node labels, and of the product.
package gpu

import (
	"regexp"
	"slices"
	"strings"
)

// deviceIDs lists the PCI device ids of each AMD GPU model.
var deviceIDs = map[string][]string{
	"MI100": {"738c", "738e"}, "MI250X": {"7408", "740c"}, "MI210": {"740f", "7410"}, "MI300A": {"74a0"},
	"MI300X": {"74a1", "74a9", "74b5", "74bd"}, "MI308X": {"74a2", "74a8", "74b6"}, "MI325X": {"74a5", "74b9"},
	"MI350X": {"75a0", "75b0"}, "MI355X": {"75a3", "75b3"}, "V710": {"7460", "7461"}, "V620": {"73a1", "73ae"},
	"W7900": {"7448", "744a"}, "W7800": {"7449", "745e"}, "W6900X": {"73a2"}, "W6800": {"73a3"}, "W6800X": {"73ab"},
	"RX9070": {"7550"}, "RX7900": {"744c"}, "RX6900": {"73af"}, "RX6800": {"73bf"},
}

// gpuToken matches the name of a GPU model.
var gpuToken = regexp.MustCompile(`^(MI|ME|RX|RTX|GTX|A|H|L|T|V|K|P|QUADRO|TESLA|GRID)?[A-Z]*[0-9]+[A-Z0-9]*$`)

// Normalize returns the model in a name of a GPU from a node, a profile or a user: MI300X for "AMD Instinct MI300X (rev 2)".
func Normalize(name string) string {
	if _, known := deviceIDs[name]; known {
		return name
	}
	name = strings.ReplaceAll(strings.ToUpper(strings.TrimSpace(name)), "_", "-")
	first := ""
	for token := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune("-/: ", r) }) {
		if token == "AMD" || token == "INSTINCT" {
			continue
		}
		token = strings.TrimPrefix(token, "INSTINCT")
		if gpuToken.MatchString(token) {
			return token
		}
		if first == "" {
			first = token
		}
	}
	return first
}

// modelOfDevice returns the model of a device id, or AMD-<id> if it is unknown.
func modelOfDevice(id string) string {
	id = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(id)), "0x")
	for model, ids := range deviceIDs {
		if slices.Contains(ids, id) {
			return model
		}
	}
	return "AMD-" + strings.ToUpper(id)
}

// OfNode lists the GPU models of a node from the labels of the node labeller: by device, else by family, sorted.
func OfNode(labels map[string]string) []string {
	for _, key := range []string{"gpu.device-id", "gpu.family"} {
		name := modelOfDevice
		if key == "gpu.family" {
			name = func(family string) string { return family }
		}
		for _, domain := range []string{"amd.com/", "beta.amd.com/"} {
			if value := labels[domain+key]; value != "" {
				return []string{name(value)}
			}
		}
		var counted []string
		for label, count := range labels {
			if id, found := strings.CutPrefix(strings.TrimPrefix(label, "beta."), "amd.com/"+key+"."); found && count != "" && count != "0" {
				counted = append(counted, name(id))
			}
		}
		if len(counted) > 0 {
			slices.Sort(counted)
			return slices.Compact(counted)
		}
	}
	return nil
}
