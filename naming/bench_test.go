package naming_test

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/naming"
)

func BenchmarkDNSLabel(b *testing.B) {
	for name, s := range map[string]string{"Changed": "Team/Llama-3.1_8B-Instruct", "Unchanged": "llama-3-1-8b-instruct"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				naming.DNSLabel(s)
			}
		})
	}
}

func BenchmarkLabelValue(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		naming.LabelValue("Team/Llama-3.1_8B-Instruct")
	}
}

func BenchmarkDerive(b *testing.B) {
	b.Run("AsItIs", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			derive(b, []string{"my-service"})
		}
	})
	b.Run("Hashed", func(b *testing.B) {
		namespace := "production"
		b.ReportAllocs()
		for b.Loop() {
			derive(b, []string{"my-service"}, naming.Reserve("-worker-"+namespace), naming.HashInputs(namespace))
		}
	})
	b.Run("Cut", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			derive(b, []string{"a-service-with-a-name-that-is-rather-long", "and-a-profile-with-another-long-name"})
		}
	})
	b.Run("JSONInput", func(b *testing.B) {
		input := map[string]any{"metric": "latency", "count": 4}
		b.ReportAllocs()
		for b.Loop() {
			derive(b, []string{"my-service"}, naming.HashInputs(input))
		}
	})
}

// BenchmarkImageName measures deriving an object name from an image reference.
func BenchmarkImageName(b *testing.B) {
	for name, ref := range map[string]string{
		"Tag":    "ghcr.io/example/llama-3-8b:v1.2.0",
		"Digest": "ghcr.io/example/llama-3-8b@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				img, err := naming.ParseImage(ref)
				if err != nil {
					b.Fatal(err)
				}
				_, name, version := img.Parts()
				derive(b, []string{name, version}, naming.HashInputs(ref))
			}
		})
	}
}

func derive(b *testing.B, parts []string, opts ...naming.Option) {
	if _, err := naming.Derive(parts, opts...); err != nil {
		b.Fatal(err)
	}
}
