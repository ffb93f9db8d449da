package naming_test

import (
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/naming"
)

// The name of an owner's child contains a hash of the namespace, which distinguishes owners with the same name.
func ExampleDerive() {
	name, err := naming.Derive([]string{"web", "cache"}, naming.HashInputs("team-a"))
	if err != nil {
		fmt.Println(err)
		return
	}
	other, _ := naming.Derive([]string{"web", "cache"}, naming.HashInputs("team-b"))
	fmt.Println(name)
	fmt.Println(other)
	// Output:
	// web-cache-02027acc9c11
	// web-cache-aa9295bef049
}

// A valid part is unchanged; different parts with the same text when joined get different names.
func ExampleDerive_twins() {
	for _, parts := range [][]string{{"a-b-c"}, {"a-b", "c"}, {"a", "b-c"}, {"a.b-c"}} {
		name, _ := naming.Derive(parts)
		fmt.Printf("%q %s\n", parts, name)
	}
	// Output:
	// ["a-b-c"] a-b-c
	// ["a-b" "c"] a-b-c-8d3ccf0ea71c
	// ["a" "b-c"] a-b-c-b6e67ca743bd
	// ["a.b-c"] a-b-c-cd549643176f
}

// A platform that derives the host "{name}-worker-{namespace}" from a name leaves it the rest of 63 characters.
func ExampleReserve() {
	service := "a-service-whose-name-is-longer-than-it-should-be"
	suffix := "-worker-" + "production-europe"
	name, _ := naming.Derive([]string{service}, naming.Reserve(suffix))
	fmt.Println(name)
	fmt.Println(len(name + suffix))
	// Output:
	// a-service-whose-name-is-l-c528eaab0464
	// 63
}

// The longest part is shortened first.
func ExampleMaxLength() {
	name, _ := naming.Derive([]string{"a-rather-long-service-name", "cache"}, naming.MaxLength(30))
	fmt.Println(name)
	// Output:
	// a-rather-lo-cache-4bcc4bc0bac6
}

// Names of some kinds, such as Service, must start with a letter (RFC 1035).
func ExampleDerive_letterFirst() {
	name, _ := naming.Derive([]string{"1st"}, naming.StartWithLetter)
	fmt.Println(name)
	// Output:
	// x1st-111b612419f2
}

// A label value that selects objects must be unique to an owner.
func ExampleForm() {
	long := strings.Repeat("long-", 20)
	for _, owner := range []string{"web", "Web", long + "one", long + "two"} {
		value, _ := naming.Derive([]string{owner}, naming.LabelValueForm)
		fmt.Println(value)
	}
	// Output:
	// web
	// web-851f8464a24b
	// long-long-long-long-long-long-long-long-long-long-5d1970a9f94c
	// long-long-long-long-long-long-long-long-long-long-6b18adb781fb
}

// Options that no name can satisfy are an error that names the accepted values.
func ExampleReserve_tooLong() {
	_, err := naming.Derive([]string{"web"}, naming.Reserve("-"+strings.Repeat("n", 60)))
	fmt.Println(err)
	// Output:
	// reserveLength must be between 0 and 49, for a name of 63 with a hash of 12, got 61
}

func ExampleDNSLabel() {
	fmt.Println(naming.DNSLabel("Team/Model-3.1_8B"))
	// Output:
	// team-model-3-1-8b
}

func ExampleDNSSubdomain() {
	fmt.Println(naming.DNSSubdomain("API..Example_1.com."))
	// Output:
	// api.example-1.com
}

func ExampleLabelValue() {
	fmt.Println(naming.LabelValue("v1.0 (build 7)"))
	// Output:
	// v1.0_build_7
}

func ExampleHash() {
	one, _ := naming.Hash(map[string]string{"a": "1", "b": "2"}, 3)
	two, _ := naming.Hash(map[string]any{"b": "2", "a": "1"}, 3)
	fmt.Println(one == two, one[:16])
	// Output:
	// true 75573882153edda3
}

// A program that needs one object per image can use this package alone.
func ExampleParseImage() {
	const ref = "registry.example.com:8443/team/Model_Name:V2.0"
	img, err := naming.ParseImage(ref)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(img.Registry, img.Repository, img.Name, img.Tag)
	_, name, version := img.Parts()
	object, _ := naming.Derive([]string{name, version}, naming.HashInputs(ref))
	fmt.Println(object)
	// Output:
	// registry.example.com:8443 team/Model_Name Model_Name V2.0
	// model-name-v2-0-19b15a64f7e6
}

func ExampleImage_Validate() {
	img, _ := naming.ParseImage("ghcr.io/Team/app:v1")
	_, name, version := img.Parts()
	fmt.Println(name, version)
	fmt.Println(img.Validate())
	// Output:
	// app v1
	// image reference "ghcr.io/Team/app:v1", want [registry/]repository[:tag][@digest] in lower case: invalid reference format: repository name (Team/app) must be lowercase
}
